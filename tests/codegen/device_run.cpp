// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/device_run.h"

#ifndef CL_HPP_TARGET_OPENCL_VERSION
#define CL_HPP_TARGET_OPENCL_VERSION 120
#endif
#ifndef CL_HPP_MINIMUM_OPENCL_VERSION
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#endif
#include <CL/opencl.hpp>
#include <memory>
#include <stdexcept>

namespace hpl::codegen::test {
namespace {

struct Device {
  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
};

// PoCL where there is one (it has double precision and runs everywhere), else the first device.
std::unique_ptr<Device> openDevice() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  cl::Device chosen;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    if (platform.getDevices(CL_DEVICE_TYPE_ALL, &devices) != CL_SUCCESS || devices.empty())
      continue;
    const std::string name = platform.getInfo<CL_PLATFORM_NAME>();
    const bool isPocl = name.rfind("Portable Computing Language", 0) == 0;
    if (chosen() == nullptr || isPocl) chosen = devices[0];
    if (isPocl) break;
  }
  if (chosen() == nullptr) return nullptr;
  auto opened = std::make_unique<Device>();
  opened->device = chosen;
  opened->context = cl::Context(chosen);
  opened->queue = cl::CommandQueue(opened->context, chosen);
  return opened;
}

// Closed again at exit, before PoCL's own destructors.
Device* device() {
  static const std::unique_ptr<Device> opened = openDevice();
  return opened.get();
}

void require(cl_int code, const char* what) {
  if (code != CL_SUCCESS) {
    throw std::runtime_error(std::string(what) + " failed with " + std::to_string(code));
  }
}

std::string build(const EmittedKernel& kernel, cl::Program& program) {
  program = cl::Program(device()->context, kernel.source);
  if (program.build(device()->device, kernel.buildOptions.c_str()) == CL_SUCCESS) return {};
  return program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device()->device) + "\n" + kernel.source;
}

std::vector<std::int64_t> stridesOf(const Argument& argument) {
  if (!argument.strides.empty()) return argument.strides;
  std::vector<std::int64_t> strides(argument.extents.size(), 1);
  for (std::size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * argument.extents[d];
  return strides;
}

}  // namespace

bool hasDevice() { return device() != nullptr; }
std::string deviceName() { return device()->device.getInfo<CL_DEVICE_NAME>(); }
bool deviceHasDouble() {
  return device()->device.getInfo<CL_DEVICE_EXTENSIONS>().find("cl_khr_fp64") != std::string::npos;
}

bool dividesCorrectlyRounded() {
  return (device()->device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() &
          CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

std::string buildLog(const EmittedKernel& kernel) {
  cl::Program program;
  return build(kernel, program);
}

EmittedKernel run(const ir::Kernel& kernel, const EmitOptions& options,
                  std::vector<Argument> arguments, const Range& range,
                  std::array<std::int32_t, ErrorBuffer::kWords>* errors) {
  const EmittedKernel emitted = emit(kernel, options);
  cl::Program program;
  if (const std::string log = build(emitted, program); !log.empty()) throw std::runtime_error(log);
  cl_int code = CL_SUCCESS;
  cl::Kernel handle(program, emitted.name.c_str(), &code);
  require(code, "clCreateKernel");

  std::array<std::int32_t, ErrorBuffer::kWords> words{};
  cl::Buffer errorBuffer(device()->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof words,
                         words.data());
  std::vector<cl_uint> noProbes(ProbeBuffer::kWords);
  cl::Buffer probeBuffer(device()->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                         noProbes.size() * sizeof(cl_uint), noProbes.data());
  std::vector<cl::Buffer> buffers(arguments.size());
  cl_uint position = 0;
  for (const Slot& slot : emitted.slots) {
    const auto at = static_cast<std::size_t>(slot.param);
    const auto dimension = static_cast<std::size_t>(slot.dimension);
    switch (slot.kind) {
      case Slot::Kind::Buffer:
        buffers[at] = cl::Buffer(device()->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                 arguments[at].bytes, arguments[at].data);
        code = handle.setArg(position, buffers[at]);
        break;
      case Slot::Kind::Local:
        code = handle.setArg(position, arguments[at].bytes, nullptr);
        break;
      case Slot::Kind::Scalar:
        code = handle.setArg(position, arguments[at].bytes, arguments[at].data);
        break;
      case Slot::Kind::Offset:
        code = handle.setArg(position, static_cast<cl_ulong>(arguments[at].offset));
        break;
      case Slot::Kind::Stride:
        code = handle.setArg(position, static_cast<cl_ulong>(stridesOf(arguments[at])[dimension]));
        break;
      case Slot::Kind::Extent:
        code = handle.setArg(position, static_cast<cl_ulong>(arguments[at].extents[dimension]));
        break;
      case Slot::Kind::SliceFirst:
      case Slot::Kind::Origin:
        code = handle.setArg(position, cl_ulong{0});  // the slice is the whole domain
        break;
      case Slot::Kind::SliceCount:
      case Slot::Kind::GuardSize:
        code = handle.setArg(position, static_cast<cl_ulong>(range.global[dimension]));
        break;
      case Slot::Kind::ProbeBuffer:
        code = handle.setArg(position, probeBuffer);
        break;
      case Slot::Kind::ErrorBuffer:
        code = handle.setArg(position, errorBuffer);
        break;
    }
    require(code, "clSetKernelArg");
    ++position;
  }

  std::vector<std::size_t> global = range.global;
  for (std::size_t d = 0; d < static_cast<std::size_t>(options.guardDims); ++d) {
    global[d] = (global[d] + range.local[d] - 1) / range.local[d] * range.local[d];
  }
  cl::CommandQueue& queue = device()->queue;
  require(clEnqueueNDRangeKernel(queue(), handle(), static_cast<cl_uint>(global.size()), nullptr,
                                 global.data(), range.local.empty() ? nullptr : range.local.data(),
                                 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (buffers[i]() == nullptr) continue;
    require(queue.enqueueReadBuffer(buffers[i], CL_TRUE, 0, arguments[i].bytes, arguments[i].data),
            "clEnqueueReadBuffer");
  }
  if (errors != nullptr) {
    require(queue.enqueueReadBuffer(errorBuffer, CL_TRUE, 0, sizeof words, errors->data()),
            "clEnqueueReadBuffer");
  }
  return emitted;
}

}  // namespace hpl::codegen::test
