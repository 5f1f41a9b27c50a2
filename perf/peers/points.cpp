// SPDX-License-Identifier: Apache-2.0
// Stencils with a source at a point.
#include <memory>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"

using namespace hpl;

namespace perf::peers {
namespace {

constexpr int kSide = 4096;
constexpr int kSource = 1717;

/// The expressions of the kernels, in place or into another array, with the source or without it.
Expr<float> laplacian(const Array<float, 2>& now) {
  return 0.25f * (now[idy - 1][idx] + now[idy + 1][idx] + now[idy][idx - 1] + now[idy][idx + 1] -
                  4.0f * now[idy][idx]);
}

void waveWithSource(Array<float, 2> next, const Array<float, 2>& now, Int sx, Int sy) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Float value = 2.0f * now[idy][idx] - next[idy][idx] + laplacian(now);
    if_(idx == sx && idy == sy) {
      value += 1.0f;
    }
    next[idy][idx] = value;
  }
}

void waveWithoutSource(Array<float, 2> next, const Array<float, 2>& now) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    next[idy][idx] = 2.0f * now[idy][idx] - next[idy][idx] + laplacian(now);
  }
}

void heatWithSource(Array<float, 2> next, const Array<float, 2>& now, Int sx, Int sy) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Float value = now[idy][idx] + laplacian(now);
    if_(idx == sx && idy == sy) {
      value += 1.0f;
    }
    next[idy][idx] = value;
  }
}

void heatWithoutSource(Array<float, 2> next, const Array<float, 2>& now) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    next[idy][idx] = now[idy][idx] + laplacian(now);
  }
}

struct Fields {
  Array<float, 2> next{kSide, kSide}, now{kSide, kSide};
  Fields() {
    next = 0.0f;
    now = 0.5f;
  }
  double sum() {
    double total = 0;
    const float* cells = next.data(HPL_RD);
    for (std::size_t i = 0; i < next.size(); ++i) total += static_cast<double>(cells[i]);
    return total;
  }
};

constexpr int kSteps = 4;

template <class Kernel, class... Source>
Contender library(const std::string& name, Kernel kernel, Source... source) {
  auto fields = std::make_shared<Fields>();
  FRunner runner = eval(kernel)(fields->next, fields->now, source...);
  const auto run = [runner, fields]() mutable {
    for (int i = 0; i < kSteps; ++i) runner.run();
    runner.wait();
  };
  return {name, run, [fields] { return fields->sum(); }};
}

Contender byHand(void (*step)(float*, const float*, int, int, int)) {
  auto fields = std::make_shared<Fields>();
  float* next = fields->next.data(HPL_RDWR);
  const float* now = fields->now.data(HPL_RD);
  step(next, now, kSide, kSource, kSource);
  const auto run = [=] {
    for (int i = 0; i < kSteps; ++i) step(next, now, kSide, kSource, kSource);
  };
  return {"g++ OpenMP", run, [fields] { return fields->sum(); }};
}

/// The kernel without the source is what the goal is about; its result is another one.
Row row(const std::string& name, Contender ours, Contender without, Contender twin) {
  without.checksum = nullptr;
  return {name, 1.1, {std::move(ours), std::move(without), std::move(twin)}};
}

Row wave() {
  return row("point source, wave in place 4096^2", library("HPL", waveWithSource, kSource, kSource),
             library("HPL without the source", waveWithoutSource), byHand(twins::waveStep));
}

Row heat() {
  return row("point source, heat 4096^2", library("HPL", heatWithSource, kSource, kSource),
             library("HPL without the source", heatWithoutSource), byHand(twins::heatStep));
}

}  // namespace

std::vector<NamedRow> pointRows() { return {{"source_wave", wave}, {"source_heat", heat}}; }

}  // namespace perf::peers
