// SPDX-License-Identifier: Apache-2.0
// Many steps of cheap functions: the game of life with 64 cells a word, and waves of three fields.
#include <cstdint>
#include <memory>
#include <vector>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

namespace perf::peers {
namespace {

constexpr int kWords = 128, kRows = 8192;
constexpr int kGenerations = 64;
using Word = std::uint64_t;
using Words = Array<unsigned long, 2>;

/// Sums of three neighbours as two bits each, then all three rows, bit by bit.
Ulong life(Neighbourhood<unsigned long, 2> in) {
  const auto left = [&](int y) { return Ulong(in(y, 0) << 1ul | in(y, -1) >> 63ul); };
  const auto right = [&](int y) { return Ulong(in(y, 0) >> 1ul | in(y, 1) << 63ul); };
  Ulong aboveL = left(-1), aboveR = right(-1), above = in(-1, 0);
  Ulong belowL = left(1), belowR = right(1), below = in(1, 0);
  Ulong sideL = left(0), sideR = right(0);
  Ulong above1 = aboveL ^ above ^ aboveR, above2 = (aboveL & above) | (aboveR & (aboveL ^ above));
  Ulong below1 = belowL ^ below ^ belowR, below2 = (belowL & below) | (belowR & (belowL ^ below));
  Ulong side1 = sideL ^ sideR, side2 = sideL & sideR;
  Ulong ones = above1 ^ below1 ^ side1;
  Ulong carry = (above1 & below1) | (side1 & (above1 ^ below1));
  // Two or three neighbours: exactly one of the four that count two.
  Ulong any = above2 ^ below2 ^ side2 ^ carry;
  Ulong many = (above2 & below2) | (side2 & carry) | ((above2 | below2) & (side2 | carry));
  return any & ~many & (ones | in(0, 0));
}

struct Life {
  Words a{kRows, kWords}, b{kRows, kWords};
  std::vector<Word> host = std::vector<Word>(std::size_t{kRows} * kWords), other = host;
  std::vector<Word> first = host;
  Life() {
    Word state = 7;
    for (Word& word : first) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      word = state ^ state >> 29;
    }
  }
  static double sumOf(const unsigned long* words) {
    double total = 0;
    for (std::size_t i = 0; i < std::size_t{kRows} * kWords; ++i)
      total += __builtin_popcountl(words[i]) * static_cast<double>(1 + i % 7);
    return total;
  }
};

Row lifeRow() {
  auto ours = std::make_shared<Life>();
  auto twin = std::make_shared<Life>();
  auto stencil = std::make_shared<Stencil>(life);
  stencil->boundary(Fixed(0));
  const auto run = [ours, stencil] {
    ours->a.copyFrom(ours->first.data());
    stencil->iterate(kGenerations)(ours->a, ours->b);
    defaultDevice().sync();
  };
  Life* cells = twin.get();
  return {"life 8192^2, 64 cells a word",
          1.1,
          {{"HPL", run, [ours] { return Life::sumOf(ours->a.data(HPL_RD)); }},
           {"g++ OpenMP tiled",
            [cells] {
              cells->host = cells->first;
              twins::lifeInWords(cells->host.data(), cells->other.data(), kRows, kWords,
                                 kGenerations);
            },
            [twin] { return Life::sumOf(twin->host.data()); }}}};
}

constexpr int kSide = 4096;
constexpr int kSteps = 32;
using Cells = Array<float, 2>;
using Field = Neighbourhood<float, 2>;

struct Wave {
  Cells ex{kSide, kSide}, ey{kSide, kSide}, hz{kSide, kSide}, glass{kSide, kSide};
  Wave() {
    std::vector<float> cells(ex.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = static_cast<float>(i * 7919 % 1000) * 1e-3f;
    hz.copyFrom(cells.data());
    ex = 0.0f;
    ey = 0.0f;
    glass = 0.5f;
  }
  double energy() {
    double total = 0;
    const float* cells = hz.data(HPL_RD);
    for (std::size_t i = 0; i < hz.size(); ++i)
      total += static_cast<double>(cells[i]) * static_cast<double>(cells[i]);
    return total;
  }
};

Row fdtd() {
  auto ours = std::make_shared<Wave>();
  auto twin = std::make_shared<Wave>();
  auto program = std::make_shared<StencilProgram>();
  const int last = kSide - 1;
  program
      ->apply([](Field ex, Field hz, Field glass) {
        return ex(0, 0) + glass(0, 0) * (hz(0, 0) - hz(-1, 0));
      })
      .over(Range(1, last), Range(0, last))(ours->ex, ours->hz, ours->glass, ours->ex);
  program
      ->apply([](Field ey, Field hz, Field glass) {
        return ey(0, 0) - glass(0, 0) * (hz(0, 0) - hz(0, -1));
      })
      .over(Range(0, last), Range(1, last))(ours->ey, ours->hz, ours->glass, ours->ey);
  program
      ->apply([](Field hz, Field ex, Field ey) {
        return hz(0, 0) + 0.5f * (ex(1, 0) - ex(0, 0) - (ey(0, 1) - ey(0, 0)));
      })
      .over(Range(0, last - 1), Range(0, last - 1))(ours->hz, ours->ex, ours->ey, ours->hz);
  const auto run = [ours, program] {
    program->run(kSteps);
    defaultDevice().sync();
  };
  float* ex = twin->ex.data(HPL_RDWR);
  float* ey = twin->ey.data(HPL_RDWR);
  float* hz = twin->hz.data(HPL_RDWR);
  const float* glass = twin->glass.data(HPL_RD);
  return {"FDTD 4096^2",
          0.8,
          {{"HPL", run, [ours] { return ours->energy(); }},
           {"g++ OpenMP in YASK's manner",
            [=] { twins::electromagneticWave(ex, ey, hz, glass, kSide, kSteps); },
            [twin] { return twin->energy(); }}}};
}

}  // namespace

std::vector<NamedRow> tiledRows() { return {{"life_words", lifeRow}, {"fdtd", fdtd}}; }

}  // namespace perf::peers
