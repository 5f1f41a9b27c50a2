// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/cl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hpl/error.h"
#include "hpl/runtime/device_state.h"

namespace hpl::runtime {
namespace {

struct ErrorText {
  cl_int code;
  std::string_view name;
  std::string_view advice;
};

#define HPL_ERROR(name, advice) \
  ErrorText { name, #name, advice }
constexpr std::array errorTexts{
    HPL_ERROR(CL_DEVICE_NOT_FOUND, ""),
    HPL_ERROR(CL_DEVICE_NOT_AVAILABLE, "another process may hold the device exclusively"),
    HPL_ERROR(CL_COMPILER_NOT_AVAILABLE, "the driver cannot compile OpenCL C; use another device"),
    HPL_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE,
              "the device's memory is full: use smaller arrays or several devices"),
    HPL_ERROR(CL_OUT_OF_RESOURCES,
              "the device ran out of registers, local memory or global memory, or a kernel "
              "accessed memory out of bounds; try a smaller local size, or HPL_CHECK=bounds"),
    HPL_ERROR(CL_OUT_OF_HOST_MEMORY, "the host's memory is full"),
    HPL_ERROR(CL_PROFILING_INFO_NOT_AVAILABLE, ""),
    HPL_ERROR(CL_MEM_COPY_OVERLAP, "source and destination of a copy overlap"),
    HPL_ERROR(CL_IMAGE_FORMAT_MISMATCH, ""),
    HPL_ERROR(CL_IMAGE_FORMAT_NOT_SUPPORTED, ""),
    HPL_ERROR(CL_BUILD_PROGRAM_FAILURE, ""),
    HPL_ERROR(CL_MAP_FAILURE, ""),
    HPL_ERROR(CL_MISALIGNED_SUB_BUFFER_OFFSET, ""),
    HPL_ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
              "a command that this one depends on failed before"),
    HPL_ERROR(CL_COMPILE_PROGRAM_FAILURE, ""),
    HPL_ERROR(CL_LINKER_NOT_AVAILABLE, ""),
    HPL_ERROR(CL_LINK_PROGRAM_FAILURE, ""),
    HPL_ERROR(CL_DEVICE_PARTITION_FAILED,
              "the device cannot be split like this; *k in HPL_DEVICES opens it k times instead"),
    HPL_ERROR(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, ""),
    HPL_ERROR(CL_INVALID_VALUE, ""),
    HPL_ERROR(CL_INVALID_DEVICE_TYPE, ""),
    HPL_ERROR(CL_INVALID_PLATFORM, ""),
    HPL_ERROR(CL_INVALID_DEVICE, ""),
    HPL_ERROR(CL_INVALID_CONTEXT, "the objects belong to different devices"),
    HPL_ERROR(CL_INVALID_QUEUE_PROPERTIES, ""),
    HPL_ERROR(CL_INVALID_COMMAND_QUEUE, ""),
    HPL_ERROR(CL_INVALID_HOST_PTR, ""),
    HPL_ERROR(CL_INVALID_MEM_OBJECT, ""),
    HPL_ERROR(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, ""),
    HPL_ERROR(CL_INVALID_IMAGE_SIZE, ""),
    HPL_ERROR(CL_INVALID_SAMPLER, ""),
    HPL_ERROR(CL_INVALID_BINARY, ""),
    HPL_ERROR(CL_INVALID_BUILD_OPTIONS, "the driver does not know a build option"),
    HPL_ERROR(CL_INVALID_PROGRAM, ""),
    HPL_ERROR(CL_INVALID_PROGRAM_EXECUTABLE, ""),
    HPL_ERROR(CL_INVALID_KERNEL_NAME, "the program has no kernel of this name"),
    HPL_ERROR(CL_INVALID_KERNEL_DEFINITION, ""),
    HPL_ERROR(CL_INVALID_KERNEL, ""),
    HPL_ERROR(CL_INVALID_ARG_INDEX, "the kernel has fewer parameters than it is given arguments"),
    HPL_ERROR(CL_INVALID_ARG_VALUE, ""),
    HPL_ERROR(
        CL_INVALID_ARG_SIZE,
        "an argument's type differs from the kernel's parameter, or its size from the device's"),
    HPL_ERROR(CL_INVALID_KERNEL_ARGS, "an argument of the kernel was not set"),
    HPL_ERROR(CL_INVALID_WORK_DIMENSION, "the domain needs 1 to 3 dimensions"),
    HPL_ERROR(
        CL_INVALID_WORK_GROUP_SIZE,
        "the local size is more than the device or this kernel allows, or does not divide the "
        "global size"),
    HPL_ERROR(CL_INVALID_WORK_ITEM_SIZE,
              "the local size is more than the device allows in one dimension"),
    HPL_ERROR(CL_INVALID_GLOBAL_OFFSET, ""),
    HPL_ERROR(CL_INVALID_EVENT_WAIT_LIST, ""),
    HPL_ERROR(CL_INVALID_EVENT, ""),
    HPL_ERROR(CL_INVALID_OPERATION, ""),
    HPL_ERROR(CL_INVALID_GL_OBJECT, ""),
    HPL_ERROR(CL_INVALID_BUFFER_SIZE,
              "the buffer is empty or larger than the device can allocate in one piece"),
    HPL_ERROR(CL_INVALID_MIP_LEVEL, ""),
    HPL_ERROR(CL_INVALID_GLOBAL_WORK_SIZE, "the domain is empty or too large for the device"),
    HPL_ERROR(CL_INVALID_PROPERTY, ""),
    HPL_ERROR(CL_INVALID_IMAGE_DESCRIPTOR, ""),
    HPL_ERROR(CL_INVALID_COMPILER_OPTIONS, "the driver does not know a build option"),
    HPL_ERROR(CL_INVALID_LINKER_OPTIONS, ""),
    HPL_ERROR(CL_INVALID_DEVICE_PARTITION_COUNT,
              "the device has fewer compute units than that; *k in HPL_DEVICES opens it k times "
              "instead"),
};
#undef HPL_ERROR

const ErrorText* find(cl_int code) {
  const auto* it = std::ranges::find(errorTexts, code, &ErrorText::code);
  return it == errorTexts.end() ? nullptr : &*it;
}

}  // namespace

std::string errorName(cl_int code) {
  if (const ErrorText* text = find(code)) return std::string(text->name);
  if (code == -1001) return "CL_PLATFORM_NOT_FOUND_KHR";
  return "an unknown error";
}

std::string_view errorAdvice(cl_int code) {
  const ErrorText* text = find(code);
  return text ? text->advice : std::string_view();
}

void throwDeviceError(cl_int code, std::string_view call, const DeviceState* device,
                      Concern concern) {
  std::string message = fmt::format("{} failed with {} ({})", call, errorName(code), code);
  if (device) {
    message += fmt::format(" on device {} ({})", device->name(), device->properties().platform);
  }
  if (!concern.kind.empty()) {
    message += concern.name.empty() ? fmt::format(" for an unnamed {}", concern.kind)
                                    : fmt::format(" for {} \"{}\"", concern.kind, concern.name);
  }
  if (const std::string_view advice = errorAdvice(code); !advice.empty()) {
    message += fmt::format(": {}", advice);
  }
  throw DeviceError(message, code);
}

}  // namespace hpl::runtime
