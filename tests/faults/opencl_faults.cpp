// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/opencl_faults.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>
#include <csignal>
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
#define HPL_FAULTS_ENUMERATOR(name, arity) k_##name,
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
  if (failureCode.load() > 0) std::raise(failureCode.load());
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

/// The result of a function that fails: the code, or no object and the code in the last argument.
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

// The parameters of a stand-in, and their names, by number.
#define HPL_FAULTS_PARAMETERS_1(name) Signature<decltype(name)>::Parameter<0> p0
#define HPL_FAULTS_PARAMETERS_2(name) \
  HPL_FAULTS_PARAMETERS_1(name), Signature<decltype(name)>::Parameter<1> p1
#define HPL_FAULTS_PARAMETERS_3(name) \
  HPL_FAULTS_PARAMETERS_2(name), Signature<decltype(name)>::Parameter<2> p2
#define HPL_FAULTS_PARAMETERS_4(name) \
  HPL_FAULTS_PARAMETERS_3(name), Signature<decltype(name)>::Parameter<3> p3
#define HPL_FAULTS_PARAMETERS_5(name) \
  HPL_FAULTS_PARAMETERS_4(name), Signature<decltype(name)>::Parameter<4> p4
#define HPL_FAULTS_PARAMETERS_6(name) \
  HPL_FAULTS_PARAMETERS_5(name), Signature<decltype(name)>::Parameter<5> p5
#define HPL_FAULTS_PARAMETERS_7(name) \
  HPL_FAULTS_PARAMETERS_6(name), Signature<decltype(name)>::Parameter<6> p6
#define HPL_FAULTS_PARAMETERS_8(name) \
  HPL_FAULTS_PARAMETERS_7(name), Signature<decltype(name)>::Parameter<7> p7
#define HPL_FAULTS_PARAMETERS_9(name) \
  HPL_FAULTS_PARAMETERS_8(name), Signature<decltype(name)>::Parameter<8> p8
#define HPL_FAULTS_PARAMETERS_10(name) \
  HPL_FAULTS_PARAMETERS_9(name), Signature<decltype(name)>::Parameter<9> p9
#define HPL_FAULTS_PARAMETERS_11(name) \
  HPL_FAULTS_PARAMETERS_10(name), Signature<decltype(name)>::Parameter<10> p10
#define HPL_FAULTS_PARAMETERS_12(name) \
  HPL_FAULTS_PARAMETERS_11(name), Signature<decltype(name)>::Parameter<11> p11
#define HPL_FAULTS_PARAMETERS_13(name) \
  HPL_FAULTS_PARAMETERS_12(name), Signature<decltype(name)>::Parameter<12> p12
#define HPL_FAULTS_PARAMETERS_14(name) \
  HPL_FAULTS_PARAMETERS_13(name), Signature<decltype(name)>::Parameter<13> p13
#define HPL_FAULTS_NAMES_1 p0
#define HPL_FAULTS_NAMES_2 HPL_FAULTS_NAMES_1, p1
#define HPL_FAULTS_NAMES_3 HPL_FAULTS_NAMES_2, p2
#define HPL_FAULTS_NAMES_4 HPL_FAULTS_NAMES_3, p3
#define HPL_FAULTS_NAMES_5 HPL_FAULTS_NAMES_4, p4
#define HPL_FAULTS_NAMES_6 HPL_FAULTS_NAMES_5, p5
#define HPL_FAULTS_NAMES_7 HPL_FAULTS_NAMES_6, p6
#define HPL_FAULTS_NAMES_8 HPL_FAULTS_NAMES_7, p7
#define HPL_FAULTS_NAMES_9 HPL_FAULTS_NAMES_8, p8
#define HPL_FAULTS_NAMES_10 HPL_FAULTS_NAMES_9, p9
#define HPL_FAULTS_NAMES_11 HPL_FAULTS_NAMES_10, p10
#define HPL_FAULTS_NAMES_12 HPL_FAULTS_NAMES_11, p11
#define HPL_FAULTS_NAMES_13 HPL_FAULTS_NAMES_12, p12
#define HPL_FAULTS_NAMES_14 HPL_FAULTS_NAMES_13, p13
#define HPL_FAULTS_STAND_IN(name, arity)                                           \
  Signature<decltype(name)>::Result name(HPL_FAULTS_PARAMETERS_##arity(name)) {    \
    if (isToFail(k_##name))                                                        \
      return failure<Signature<decltype(name)>::Result>(HPL_FAULTS_NAMES_##arity); \
    static const auto behind = reinterpret_cast<decltype(&name)>(loaded(#name));   \
    return behind(HPL_FAULTS_NAMES_##arity);                                       \
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

/// The faults that the environment asks for.
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
