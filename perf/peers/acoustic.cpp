// SPDX-License-Identifier: Apache-2.0
// Acoustic waves of high order in three dimensions: each cell reads 25 or 49 cells of the state
// before.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

namespace perf::peers {
namespace {

constexpr int kSteps = 4;
using Weights = std::array<float, 9>;
using Cells = Array<float, 3>;
using Field = Neighbourhood<float, 3>;

/// Weights of the second derivative, from the cell itself outwards.
constexpr Weights weightsOf(int reach) {
  if (reach == 4) return {-2.8472222f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};
  return {-3.0548446f,   1.7777778f,    -0.31111111f,  0.07542088f,   -0.017676768f,
          0.0034809635f, -0.000518001f, 5.0742907e-5f, -2.4281274e-6f};
}

/// Two states, and how fast waves are; `before` has the state that is replaced next.
struct Waves {
  explicit Waves(int n) : side(n), before(n, n, n), now(n, n, n), speed(n, n, n) {
    std::vector<float> cells(before.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = static_cast<float>(i * 7919 % 1000) * 1e-3f;
    before = 0.0f;
    now.copyFrom(cells.data());
    speed = 0.05f;
  }
  double energy() {
    double total = 0;
    const float* cells = now.data(HPL_RD);
    for (std::size_t i = 0; i < now.size(); ++i)
      total += static_cast<double>(cells[i]) * static_cast<double>(cells[i]);
    return total;
  }

  int side;
  Cells before, now, speed;
};

template <int Reach>
Float wave(Field before, Field now, Field speed) {
  constexpr Weights kWeights = weightsOf(Reach);
  Float sum = 3 * kWeights[0] * now(0, 0, 0);
  for (int r = 1; r <= Reach; ++r)
    sum += kWeights[static_cast<std::size_t>(r)] * (now(-r, 0, 0) + now(r, 0, 0) + now(0, -r, 0) +
                                                    now(0, r, 0) + now(0, 0, -r) + now(0, 0, r));
  return 2 * now(0, 0, 0) - before(0, 0, 0) + speed(0, 0, 0) * sum;
}

/// In place: each step replaces the older one of two states.
template <int Reach>
Contender library(int side) {
  auto waves = std::make_shared<Waves>(side);
  const Stencil step(wave<Reach>);
  StencilProgram program;
  program.apply(step)(waves->before, waves->now, waves->speed, waves->before);
  program.apply(step)(waves->now, waves->before, waves->speed, waves->now);
  const auto run = [waves, program]() mutable {
    program.run(kSteps / 2);
    defaultDevice().sync();
  };
  return {"HPL", run, [waves] { return waves->energy(); }};
}

template <int Reach>
Contender byHand(int side) {
  auto waves = std::make_shared<Waves>(side);
  float* states[] = {waves->before.data(HPL_RDWR), waves->now.data(HPL_RDWR)};
  const float* speed = waves->speed.data(HPL_RD);
  const auto run = [=, before = states[0], now = states[1]]() mutable {
    for (int i = 0; i < kSteps; ++i) {
      twins::acousticStep(before, now, speed, side, Reach, weightsOf(Reach).data());
      std::swap(before, now);
    }
  };
  return {"g++ OpenMP", run, [waves] { return waves->energy(); }};
}

template <int Reach>
MakeRow row(int side) {
  return [side]() -> Row {
    return {fmt::format("acoustic wave, order {}, {}^3", 2 * Reach, side),
            0.9,
            {library<Reach>(side), byHand<Reach>(side)}};
  };
}

}  // namespace

std::vector<NamedRow> acousticRows() {
  return {{"acoustic_16_256", row<8>(256)},
          {"acoustic_16_272", row<8>(272)},
          {"acoustic_16_512", row<8>(512)},
          {"acoustic_8_256", row<4>(256)},
          {"acoustic_8_272", row<4>(272)}};
}

}  // namespace perf::peers
