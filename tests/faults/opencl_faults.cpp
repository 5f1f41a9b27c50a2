// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/opencl_faults.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>
#include <boost/preprocessor/cat.hpp>
#include <boost/preprocessor/repetition/enum.hpp>
#include <boost/preprocessor/repetition/enum_params.hpp>
#include <boost/preprocessor/tuple/enum.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>

// Name and number of parameters of every function that the library calls.
#define HPL_FAULTS_FUNCTIONS(X)          \
  X(clBuildProgram, 6)                   \
  X(clCreateBuffer, 5)                   \
  X(clCreateCommandQueue, 4)             \
  X(clCreateContext, 6)                  \
  X(clCreateKernel, 3)                   \
  X(clCreateProgramWithBinary, 7)        \
  X(clCreateProgramWithSource, 5)        \
  X(clCreateSubDevices, 5)               \
  X(clCreateUserEvent, 2)                \
  X(clEnqueueBarrierWithWaitList, 4)     \
  X(clEnqueueCopyBuffer, 9)              \
  X(clEnqueueCopyBufferRect, 13)         \
  X(clEnqueueFillBuffer, 9)              \
  X(clEnqueueMapBuffer, 10)              \
  X(clEnqueueMarkerWithWaitList, 4)      \
  X(clEnqueueNDRangeKernel, 9)           \
  X(clEnqueueNativeKernel, 10)           \
  X(clEnqueueReadBuffer, 9)              \
  X(clEnqueueReadBufferRect, 14)         \
  X(clEnqueueUnmapMemObject, 6)          \
  X(clEnqueueWriteBuffer, 9)             \
  X(clEnqueueWriteBufferRect, 14)        \
  X(clFinish, 1)                         \
  X(clFlush, 1)                          \
  X(clGetDeviceIDs, 5)                   \
  X(clGetDeviceInfo, 5)                  \
  X(clGetEventInfo, 5)                   \
  X(clGetEventProfilingInfo, 5)          \
  X(clGetKernelWorkGroupInfo, 6)         \
  X(clGetPlatformIDs, 3)                 \
  X(clGetPlatformInfo, 5)                \
  X(clGetProgramBuildInfo, 6)            \
  X(clGetProgramInfo, 5)                 \
  X(clReleaseCommandQueue, 1)            \
  X(clReleaseContext, 1)                 \
  X(clReleaseDevice, 1)                  \
  X(clReleaseEvent, 1)                   \
  X(clReleaseKernel, 1)                  \
  X(clReleaseMemObject, 1)               \
  X(clReleaseProgram, 1)                 \
  X(clRetainContext, 1)                  \
  X(clRetainDevice, 1)                   \
  X(clRetainEvent, 1)                    \
  X(clRetainMemObject, 1)                \
  X(clRetainProgram, 1)                  \
  X(clSetEventCallback, 4)               \
  X(clSetKernelArg, 4)                   \
  X(clSetMemObjectDestructorCallback, 3) \
  X(clSetUserEventStatus, 2)             \
  X(clWaitForEvents, 2)

namespace {

enum Function : int {
#define HPL_FAULTS_ENUMERATOR(name, arity) BOOST_PP_CAT(k_, name),
  HPL_FAULTS_FUNCTIONS(HPL_FAULTS_ENUMERATOR) kFunctions
#undef HPL_FAULTS_ENUMERATOR
};

constexpr const char* kNames[] = {
#define HPL_FAULTS_NAME(name, arity) #name,
    HPL_FAULTS_FUNCTIONS(HPL_FAULTS_NAME)
#undef HPL_FAULTS_NAME
};

// Constant initialisation: drivers call OpenCL while libraries are loaded.
constinit std::atomic<long> calls[kFunctions] = {};
constinit std::atomic<int> failing{-1};
constinit std::atomic<long> firstUse{0};
constinit std::atomic<long> timesLeft{0};
constinit std::atomic<long> failed{0};
constinit std::atomic<int> failureCode{0};

int numberOf(const char* name) {
  for (int i = 0; i < kFunctions; ++i)
    if (std::strcmp(kNames[i], name) == 0) return i;
  return -1;
}

/// Counts a call; whether it is to fail.
bool isToFail(Function function) {
  const long use = calls[function].fetch_add(1) + 1;
  if (failing.load() != function || use < firstUse.load()) return false;
  if (timesLeft.fetch_sub(1) <= 0) return false;
  failed.fetch_add(1);
  return true;
}

/// The parameters and the result of a function.
template <class F>
struct Signature;
template <class R, class... P>
struct Signature<R(P...)> {
  using Result = R;
  template <std::size_t I>
  using Parameter = std::tuple_element_t<I, std::tuple<P...>>;
};

/// What the function returns when it fails: the code, or no object and the code in the last
/// argument.
template <class Result, class... Arguments>
Result failure(Arguments... arguments) {
  const cl_int code = failureCode.load();
  if constexpr (std::is_same_v<Result, cl_int>) {
    return code;
  } else {
    cl_int* out = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
    if (out != nullptr) *out = code;
    return nullptr;
  }
}

/// The loader's function of this name. A program that only calls the stand-ins is not linked to the
/// loader.
void* loaded(const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  static void* const loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL);
  void* own = loader != nullptr ? dlsym(loader, name) : nullptr;
  if (own != nullptr) return own;
  std::fprintf(stderr, "there is no %s in the OpenCL loader\n", name);
  std::abort();
}

}  // namespace

#define HPL_FAULTS_PARAMETER(z, i, name) Signature<decltype(name)>::Parameter<i> BOOST_PP_CAT(p, i)
#define HPL_FAULTS_STAND_IN(name, arity)                                                     \
  Signature<decltype(name)>::Result name(BOOST_PP_ENUM(arity, HPL_FAULTS_PARAMETER, name)) { \
    if (isToFail(BOOST_PP_CAT(k_, name)))                                                    \
      return failure<Signature<decltype(name)>::Result>(BOOST_PP_ENUM_PARAMS(arity, p));     \
    static const auto behind = reinterpret_cast<decltype(&name)>(loaded(#name));             \
    return behind(BOOST_PP_ENUM_PARAMS(arity, p));                                           \
  }

extern "C" {
HPL_FAULTS_FUNCTIONS(HPL_FAULTS_STAND_IN)

bool hpl_faults_arm(const char* function, long use, int code, long times) {
  const int number = numberOf(function);
  if (number < 0) return false;
  hpl_faults_reset();
  firstUse = use;
  failureCode = code;
  timesLeft = times;
  failing = number;
  return true;
}

long hpl_faults_disarm() {
  failing = -1;
  return failed.load();
}

void hpl_faults_reset() {
  failing = -1;
  failed = 0;
  for (std::atomic<long>& count : calls) count = 0;
}

long hpl_faults_calls(const char* function) {
  const int number = numberOf(function);
  return number < 0 ? -1 : calls[number].load();
}

const char* hpl_faults_name(int number) {
  return number >= 0 && number < kFunctions ? kNames[number] : nullptr;
}
}

namespace {

/// What the environment asks for.
struct FromEnvironment {
  FromEnvironment() {
    const char* wish = std::getenv("HPL_FAULT");
    if (wish == nullptr) return;
    char function[64] = "";
    long use = 1;
    int code = CL_OUT_OF_RESOURCES;
    long times = 1;
    if (std::sscanf(wish, "%63[A-Za-z]:%ld:%d:%ld", function, &use, &code, &times) < 3 ||
        !hpl_faults_arm(function, use, code, times))
      std::fprintf(stderr, "HPL_FAULT=%s: expected function:use:code[:times]\n", wish);
  }
  ~FromEnvironment() {
    if (std::getenv("HPL_FAULT_COUNTS") == nullptr) return;
    for (int i = 0; i < kFunctions; ++i)
      if (calls[i].load() > 0) std::fprintf(stderr, "%s %ld\n", kNames[i], calls[i].load());
  }
};
const FromEnvironment fromEnvironment;

}  // namespace
