// SPDX-License-Identifier: Apache-2.0
// Host cost of launching a small kernel in steady state: eval() and run() against clSetKernelArg +
// clEnqueueNDRangeKernel by hand. While a batch is launched the device is held back by a user
// event, for ours and for the twin; what the host does for a launch is then the same each time.
// Otherwise it depends, by a factor of two, on whether a thread of the device is awake (lines
// `..._running`). Letting the device go, and waiting for it, is not measured.
#include <memory>

#include "hpl/hpl.h"
#include "pairs.h"
#include "raw_opencl.h"

using namespace hpl;

namespace {

constexpr std::size_t kSize = 1024;
constexpr std::size_t kGroup = 256;
// No more than the queue of a device takes: the host must not have to wait for it.
constexpr int kBatch = 200;
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

// Keeps the queues of both sides from running anything until it is let go.
class Hold {
 public:
  explicit Hold(perf::Raw& raw)
      : raw_(raw), device_(defaultDevice()), honoured_(device_.state().honoursUserEvents()) {}

  void begin() {
    if (!honoured_) return;
    cl_int code = CL_SUCCESS;
    event_ = clCreateUserEvent(raw_.context(), &code);
    perf::must(code, "clCreateUserEvent");
    for (cl_command_queue queue : {raw_.queue(), device_.state().computeQueue()()})
      perf::must(clEnqueueBarrierWithWaitList(queue, 1, &event_, nullptr),
                 "clEnqueueBarrierWithWaitList");
  }
  // Lets the device go, and waits for it.
  void end() {
    if (event_ != nullptr) {
      perf::must(clSetUserEventStatus(event_, CL_COMPLETE), "clSetUserEventStatus");
      clReleaseEvent(event_);
      event_ = nullptr;
    }
    device_.sync();
    raw_.finish();
  }

 private:
  perf::Raw& raw_;
  Device device_;
  bool honoured_;
  cl_event event_ = nullptr;
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

  Hold hold(twins.raw);
  const auto begin = [&] { hold.begin(); };
  const auto end = [&] { hold.end(); };
  const auto rawSaxpy = [&] { twins.runSaxpy(); };
  const auto rawTen = [&] { twins.runTen(); };

  perf::registerPair("launch/eval_saxpy_1024", kBatch, evalSaxpy, rawSaxpy, end, kPairs, begin);
  perf::registerPair("launch/run_saxpy_1024", kBatch, runSaxpy, rawSaxpy, end, kPairs, begin);
  perf::registerPair("launch/eval_10_arrays", kBatch, evalTen, rawTen, end, kPairs, begin);
  perf::registerPair("launch/eval_saxpy_1024_running", kBatch, evalSaxpy, rawSaxpy, end, kPairs);
  perf::registerPair("launch/run_saxpy_1024_running", kBatch, runSaxpy, rawSaxpy, end, kPairs);
  perf::registerPair("launch/eval_10_arrays_running", kBatch, evalTen, rawTen, end, kPairs);

  // The same again after thousands of arrays and launches: nothing may depend on history.
  std::vector<Array<float, 1>> history;
  const auto beginLater = [&] {
    while (history.size() < 5000) {
      history.push_back(ones());
      eval(saxpy).local(kGroup)(history.back(), v[1], 0.5f);
    }
    hold.begin();
  };
  perf::registerPair("launch/eval_saxpy_1024_after_5000_arrays", kBatch, evalSaxpy, rawSaxpy, end,
                     kPairs, beginLater);
  return perf::runAll(argc, argv);
}
