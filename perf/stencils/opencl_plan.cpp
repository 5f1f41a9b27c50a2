// SPDX-License-Identifier: Apache-2.0
#include "stencils/opencl_plan.h"

namespace perf::stencils {

Program ClDevice::program(const std::string& source) {
  cl_int code = CL_SUCCESS;
  const char* text = source.c_str();
  Program program(clCreateProgramWithSource(raw_.context(), 1, &text, nullptr, &code),
                  &clReleaseProgram);
  must(code, "clCreateProgramWithSource");
  code = clBuildProgram(program.get(), 0, nullptr, kBuildOptions, nullptr, nullptr);
  if (code != CL_SUCCESS) {
    std::size_t length = 0;
    clGetProgramBuildInfo(program.get(), raw_.device(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &length);
    std::string log(length, '\0');
    clGetProgramBuildInfo(program.get(), raw_.device(), CL_PROGRAM_BUILD_LOG, length, log.data(),
                          nullptr);
    must(code, log.c_str());
  }
  return program;
}

Buffer ClDevice::buffer(std::size_t bytes) {
  return Buffer(raw_.buffer(bytes), &clReleaseMemObject);
}

Buffer ClDevice::over(const std::shared_ptr<std::byte>& memory, std::size_t bytes) {
  return Buffer(raw_.over(memory.get(), bytes),
                [memory](cl_mem buffer) { clReleaseMemObject(buffer); });
}

void ClDevice::launch(const Kernel& kernel, const std::vector<std::size_t>& global,
                      const std::vector<std::size_t>& local) {
  must(clEnqueueNDRangeKernel(raw_.queue(), kernel.get(), static_cast<cl_uint>(global.size()),
                              nullptr, global.data(), local.data(), 0, nullptr, nullptr),
       "clEnqueueNDRangeKernel");
}

Contender launchPhases(std::string name, const Device& device, std::vector<Phase> phases,
                       std::function<void()> reset,
                       std::function<std::vector<float>(const Buffer&)> read) {
  struct State {
    std::vector<Phase> phases;
    std::size_t next = 0;
    Buffer result;
  };
  auto state = std::make_shared<State>(State{std::move(phases), 0, nullptr});
  Contender contender;
  contender.name = std::move(name);
  contender.reset = [state, reset = std::move(reset)] {
    state->next = 0;
    reset();
  };
  contender.run = [state, device](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      const Phase& phase = state->phases[state->next++ % state->phases.size()];
      for (const Launch& launch : phase.launches)
        device->launch(launch.kernel, launch.global, launch.local);
      state->result = phase.result;
    }
    device->finish();
  };
  if (read) contender.result = [state, read = std::move(read)] { return read(state->result); };
  return contender;
}

}  // namespace perf::stencils
