// SPDX-License-Identifier: Apache-2.0
// Kernels whose work-items read their own elements only, 1024 x 1024: laid out in rows against the
// kernel as it is written, whose work-items the device's compiler turns into vectors or does not.
#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "pairs.h"

using namespace hpl;

namespace {

constexpr int kSide = 1024;
constexpr int kLaunches = 8;

/// Launches of a kernel in a strategy. `kWay` sets the kernels of the two apart, each of which has
/// one plan.
template <int kWay, class T, class Body>
std::function<void()> launches(Body body, runtime::Strategy strategy) {
  static Array<T, 2> in(kSide, kSide), out(kSide, kSide);
  in = T(3);
  out = T(0);
  const runtime::Settings before = runtime::settings();
  runtime::Settings wanted = before;
  wanted.strategy = strategy;
  wanted.tune = runtime::TuneMode::Off;
  runtime::overrideSettings(wanted);
  FRunner runner =
      eval([body](Array<T, 2> to, const Array<T, 2>& from) { body(to, from); })(out, in);
  runtime::overrideSettings(before);
  return [runner]() mutable {
    for (int i = 0; i < kLaunches; ++i) runner.run();
    runner.wait();
  };
}

template <class T, class Body>
void compare(const std::string& name, Body body) {
  perf::registerPair("pointwise/" + name, kLaunches, launches<0, T>(body, runtime::Strategy::Rows),
                     launches<1, T>(body, runtime::Strategy::Direct));
}

template <int kDegree, class T>
void polynomial(Array<T, 2>& out, const Array<T, 2>& in) {
  Array<T, 0> x = in[idy][idx];
  Array<T, 0> sum = T(1);
  for (int i = 0; i < kDegree; ++i) sum = sum * x + T(i);
  out[idy][idx] = sum;
}

}  // namespace

int main(int argc, char** argv) {
  using Bytes = Array<unsigned char, 2>;
  using Floats = Array<float, 2>;
  using Vectors = Array<float4, 2>;
  compare<float>("copy", [](Floats& out, const Floats& in) { out[idy][idx] = in[idy][idx]; });
  compare<float>("scale",
                 [](Floats& out, const Floats& in) { out[idy][idx] = 2.0f * in[idy][idx] + 1.0f; });
  compare<float>("polynomial_8", [](Floats& out, const Floats& in) { polynomial<8>(out, in); });
  compare<float>("polynomial_20", [](Floats& out, const Floats& in) { polynomial<20>(out, in); });
  compare<int>("polynomial_8_int",
               [](Array<int, 2>& out, const Array<int, 2>& in) { polynomial<8>(out, in); });
  compare<float>("exp", [](Floats& out, const Floats& in) { out[idy][idx] = exp(in[idy][idx]); });
  compare<float>("log", [](Floats& out, const Floats& in) { out[idy][idx] = log(in[idy][idx]); });
  compare<float>("sin", [](Floats& out, const Floats& in) { out[idy][idx] = sin(in[idy][idx]); });
  compare<float4>("exp_float4",
                  [](Vectors& out, const Vectors& in) { out[idy][idx] = exp(in[idy][idx]); });
  compare<float>("branches", [](Floats& out, const Floats& in) {
    if_(in[idy][idx] > 2.0f) {
      out[idy][idx] = 3.0f * in[idy][idx];
    }
    else_ { out[idy][idx] = in[idy][idx] - 1.0f; }
  });
  compare<unsigned char>("bytes_copy",
                         [](Bytes& out, const Bytes& in) { out[idy][idx] = in[idy][idx]; });
  compare<unsigned char>("bytes_threshold", [](Bytes& out, const Bytes& in) {
    out[idy][idx] = where(in[idy][idx] > 100, 255, 0);
  });
  compare<unsigned char>("bytes_polynomial_8",
                         [](Bytes& out, const Bytes& in) { polynomial<8>(out, in); });
  return perf::runAll(argc, argv);
}
