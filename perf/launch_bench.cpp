// SPDX-License-Identifier: Apache-2.0
// Host cost of launching a small kernel in steady state: eval() and run() against clSetKernelArg +
// clEnqueueNDRangeKernel by hand. Waiting for the device after each batch is not measured.
#include <memory>

#include "hpl/hpl.h"
#include "pairs.h"
#include "raw_opencl.h"

using namespace hpl;

namespace {

constexpr std::size_t kSize = 1024;
constexpr std::size_t kGroup = 256;
constexpr int kBatch = 1000;
// A pair takes a few milliseconds, in which a worker of the device may or may not have been put on
// the host's core.
constexpr int kPairs = 201;

void saxpy(Array<float, 1> y, const Array<float, 1>& x, Float a) { y[idx] = a * x[idx] + y[idx]; }

void tenArrays(Array<float, 1> y, const Array<float, 1>& a, const Array<float, 1>& b,
               const Array<float, 1>& c, const Array<float, 1>& d, const Array<float, 1>& e,
               const Array<float, 1>& f, const Array<float, 1>& g, const Array<float, 1>& h,
               const Array<float, 1>& i) {
  y[idx] = a[idx] + b[idx] + c[idx] + d[idx] + e[idx] + f[idx] + g[idx] + h[idx] + i[idx];
}

const char* const kSaxpy = R"(
__kernel void saxpy(__global float* y, __global const float* x, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
})";

const char* const kTen = R"(
__kernel void ten(__global float* y, __global const float* a, __global const float* b,
                  __global const float* c, __global const float* d, __global const float* e,
                  __global const float* f, __global const float* g, __global const float* h,
                  __global const float* j) {
  size_t i = get_global_id(0);
  y[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i] + j[i];
})";

struct Twins {
  perf::Raw raw;
  cl_kernel saxpy = raw.kernel(kSaxpy, "saxpy");
  cl_kernel ten = raw.kernel(kTen, "ten");
  std::vector<cl_mem> buffers;

  Twins() {
    const std::vector<float> ones(kSize, 1.0f);
    for (int i = 0; i < 10; ++i) buffers.push_back(raw.buffer(kSize * sizeof(float), ones.data()));
  }
  void runSaxpy() {
    for (int i = 0; i < kBatch; ++i) {
      raw.set(saxpy, 0, buffers[0]);
      raw.set(saxpy, 1, buffers[1]);
      raw.set(saxpy, 2, 0.5f);
      raw.launch(saxpy, {kSize}, {kGroup});
    }
  }
  void runTen() {
    for (int i = 0; i < kBatch; ++i) {
      for (cl_uint k = 0; k < 10; ++k) raw.set(ten, k, buffers[k]);
      raw.launch(ten, {kSize}, {kGroup});
    }
  }
};

Array<float, 1> ones() {
  Array<float, 1> array(kSize);
  array = 1.0f;
  return array;
}

}  // namespace

int main(int argc, char** argv) {
  Twins twins;
  std::vector<Array<float, 1>> arrays;
  for (int i = 0; i < 10; ++i) arrays.push_back(ones());
  auto& v = arrays;
  const Device device = defaultDevice();

  const auto evalSaxpy = [&] {
    for (int i = 0; i < kBatch; ++i) eval(saxpy).local(kGroup)(v[0], v[1], 0.5f);
  };
  const auto evalTen = [&] {
    for (int i = 0; i < kBatch; ++i)
      eval(tenArrays).local(kGroup)(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]);
  };
  FRunner runner = eval(saxpy).local(kGroup)(v[0], v[1], 0.5f);
  const auto runSaxpy = [&] {
    for (int i = 0; i < kBatch; ++i) runner.run();
  };

  const auto settle = [&] {
    device.sync();
    twins.raw.finish();
  };

  perf::registerPair(
      "launch/eval_saxpy_1024", kBatch, evalSaxpy, [&] { twins.runSaxpy(); }, settle, kPairs);
  perf::registerPair(
      "launch/run_saxpy_1024", kBatch, runSaxpy, [&] { twins.runSaxpy(); }, settle, kPairs);
  perf::registerPair(
      "launch/eval_10_arrays", kBatch, evalTen, [&] { twins.runTen(); }, settle, kPairs);

  // The same again after thousands of arrays and launches: nothing may depend on history.
  std::vector<Array<float, 1>> history;
  perf::registerPair(
      "launch/eval_saxpy_1024_after_5000_arrays", kBatch,
      [&] {
        if (history.empty())
          for (int i = 0; i < 5000; ++i) {
            history.push_back(ones());
            eval(saxpy).local(kGroup)(history.back(), v[1], 0.5f);
          }
        evalSaxpy();
      },
      [&] { twins.runSaxpy(); }, settle, kPairs);
  return perf::runAll(argc, argv);
}
