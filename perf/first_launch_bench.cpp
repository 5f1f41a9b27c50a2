// SPDX-License-Identifier: Apache-2.0
// The first launch of a kernel: capture and emission alone, and the whole launch with a warm disk
// cache against clCreateProgramWithBinary by hand, of a binary that is in memory already and of one
// that is read from a file first, as ours is.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hpl/codegen/emit.h"
#include "hpl/hpl.h"
#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/runtime/programs.h"
#include "pairs.h"
#include "raw_opencl.h"

using namespace hpl;

namespace {

constexpr std::size_t kSize = 1024;

void jacobi(Array<float, 2> out, const Array<float, 2>& in) {
  if_(idx > 0 && idx < szx - 1 && idy > 0 && idy < szy - 1) {
    out[idy][idx] =
        0.25f * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]);
  }
}

void saxpy(Array<float, 1> y, const Array<float, 1>& x, Float a) { y[idx] = a * x[idx] + y[idx]; }

const char* const kSaxpy = R"(
__kernel void saxpy(__global float* y, __global const float* x, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
})";

std::vector<unsigned char> binaryOf(perf::Raw& raw, const char* source) {
  cl_int code = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(raw.context(), 1, &source, nullptr, &code);
  perf::must(code, "clCreateProgramWithSource");
  perf::must(clBuildProgram(program, 0, nullptr, perf::kBuildOptions, nullptr, nullptr),
             "clBuildProgram");
  // PoCL puts a work-group function for each local size that was launched into the binary.
  cl_kernel kernel = clCreateKernel(program, "saxpy", &code);
  cl_mem y = raw.buffer(kSize * sizeof(float));
  raw.set(kernel, 0, y);
  raw.set(kernel, 1, y);
  raw.set(kernel, 2, 0.5f);
  raw.launch(kernel, {kSize}, {256});
  raw.finish();
  std::size_t size = 0;
  perf::must(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
             "size");
  std::vector<unsigned char> binary(size);
  unsigned char* data = binary.data();
  perf::must(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr), "binary");
  return binary;
}

struct Built {
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;

  void release() {
    if (kernel != nullptr) clReleaseKernel(kernel);
    if (program != nullptr) clReleaseProgram(program);
    *this = {};
  }
};

Built launchFromBinary(perf::Raw& raw, const std::vector<unsigned char>& binary, cl_mem y,
                       cl_mem x) {
  cl_int code = CL_SUCCESS;
  const std::size_t size = binary.size();
  const unsigned char* data = binary.data();
  cl_device_id device = raw.device();
  cl_program program =
      clCreateProgramWithBinary(raw.context(), 1, &device, &size, &data, nullptr, &code);
  perf::must(code, "clCreateProgramWithBinary");
  perf::must(clBuildProgram(program, 0, nullptr, perf::kBuildOptions, nullptr, nullptr),
             "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "saxpy", &code);
  raw.set(kernel, 0, y);
  raw.set(kernel, 1, x);
  raw.set(kernel, 2, 0.5f);
  raw.launch(kernel, {kSize}, {256});
  raw.finish();
  return {program, kernel};
}

/// A file that exists as long as this.
class BinaryFile {
 public:
  explicit BinaryFile(const std::vector<unsigned char>& binary)
      : path_(std::filesystem::temp_directory_path() /
              ("hpl_first_launch_" + std::to_string(getpid()) + ".bin")) {
    std::ofstream file(path_, std::ios::binary);
    file.write(reinterpret_cast<const char*>(binary.data()),
               static_cast<std::streamsize>(binary.size()));
  }
  BinaryFile(const BinaryFile&) = delete;
  BinaryFile& operator=(const BinaryFile&) = delete;
  ~BinaryFile() { std::filesystem::remove(path_); }

  std::vector<unsigned char> read() const {
    std::ifstream file(path_, std::ios::binary);
    std::vector<unsigned char> binary(std::filesystem::file_size(path_));
    file.read(reinterpret_cast<char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
    return binary;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

int main(int argc, char** argv) {
  // The library's own files, also where the driver keeps programs itself.
  setenv("HPL_CACHE", "on", 0);
  perf::Raw raw;
  Array<float, 1> y(kSize);
  Array<float, 1> x(kSize);
  y = 1.0f;
  x = 1.0f;
  const Device device = defaultDevice();
  eval(saxpy).local(256)(y, x, 0.5f);
  device.sync();

  const auto captureAndEmit = [&] {
    const launch::EntryHandle handle = launch::entryOf<decltype(&jacobi)>(&jacobi);
    launch::forget(*handle.entry);
    const auto version = handle.entry->version(device.state(), {});
    benchmark::DoNotOptimize(codegen::emit(*version->kernel));
  };
  benchmark::RegisterBenchmark("first_launch/capture_and_emission", [&](benchmark::State& state) {
    std::vector<double> seconds;
    for (auto _ : state) seconds.push_back(perf::secondsOf(captureAndEmit, {}));
    // The CSV reporter wants the same counters from every benchmark; here there is no twin.
    state.counters["ours_us"] = perf::median(seconds) * 1e6;
    state.counters["twin_us"] = 0;
    state.counters["ratio"] = 0;
  })->Unit(benchmark::kMicrosecond);

  const std::vector<unsigned char> binary = binaryOf(raw, kSaxpy);
  cl_mem by = raw.buffer(kSize * sizeof(float));
  cl_mem bx = raw.buffer(kSize * sizeof(float));
  const BinaryFile file(binary);
  const auto ours = [&] {
    eval(saxpy).local(256)(y, x, 0.5f);
    device.sync();
  };
  // A first launch has nothing to release; what the one before has made goes outside of the clock.
  Built built;
  const auto forgetAll = [&] {
    built.release();
    launch::forget(*launch::entryOf<decltype(&saxpy)>(&saxpy).entry);
    runtime::clearProgramCache();
  };
  constexpr int kPairs = 201;
  perf::registerPair(
      "first_launch/warm_disk_cache", 1, ours,
      [&] { built = launchFromBinary(raw, binary, by, bx); }, {}, kPairs, forgetAll);
  perf::registerPair(
      "first_launch/warm_disk_cache_read_file", 1, ours,
      [&] { built = launchFromBinary(raw, file.read(), by, bx); }, {}, kPairs, forgetAll);
  return perf::runAll(argc, argv);
}
