// SPDX-License-Identifier: Apache-2.0
#include "tests/launch/failing_builds.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <dlfcn.h>

#include <mutex>
#include <vector>

namespace {

std::mutex mutex;
bool isArmed = false;
std::string forbidden;
int builtCount = 0;
int rejectedCount = 0;

std::string sourceOf(cl_program program) {
  std::size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size) != CL_SUCCESS) return {};
  std::vector<char> text(size + 1, '\0');
  clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text.data(), nullptr);
  return text.data();
}

bool isRejected(cl_program program) {
  const std::lock_guard lock(mutex);
  if (!isArmed) return false;
  ++builtCount;
  if (sourceOf(program).find(forbidden) == std::string::npos) return false;
  ++rejectedCount;
  return true;
}

}  // namespace

// The program's own function of this name comes before the library's.
extern "C" cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, void (*notify)(cl_program, void*),
                                 void* data) {
  static const auto behind =
      reinterpret_cast<decltype(&clBuildProgram)>(dlsym(RTLD_NEXT, "clBuildProgram"));
  if (isRejected(program)) return CL_BUILD_PROGRAM_FAILURE;
  return behind(program, count, devices, options, notify, data);
}

namespace hpl::test {

FailingBuilds::FailingBuilds(std::string text) {
  const std::lock_guard lock(mutex);
  isArmed = true;
  forbidden = std::move(text);
  builtCount = rejectedCount = 0;
}

FailingBuilds::~FailingBuilds() {
  const std::lock_guard lock(mutex);
  isArmed = false;
}

int FailingBuilds::builds() {
  const std::lock_guard lock(mutex);
  return builtCount;
}
int FailingBuilds::rejected() {
  const std::lock_guard lock(mutex);
  return rejectedCount;
}

}  // namespace hpl::test
