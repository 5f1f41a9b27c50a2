// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "hpl/hpl.h"
#include "perf/evaluation/canny/kernels.h"
#include "perf/evaluation/gauss/kernels.h"
#include "perf/evaluation/jacobi3d/kernels.h"
#include "perf/evaluation/shwa/kernels.h"
#include "samples/canny/points.h"
#include "samples/gauss/mean.h"
#include "stencil_templates/stencil_templates.h"
#include "stencils/gauss_source.h"
#include "stencils/workload.h"

namespace perf::stencils {
namespace {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

const char* const kPlain = "plain kernel";
const char* const kStencil = "stencil";
const char* const kChain = "chain of stencils";

/// Everything beyond the edges is dead, as in samples/life, but with cells of type int.
void life(Array<int, 2> next, const Array<int, 2>& now) {
  Int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dy == 0 && dx == 0) continue;
      Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
      if_(y >= 0 && y < cast<int>(szy) && x >= 0 && x < cast<int>(szx)) {
        neighbours += now[y][x];
      }
    }
  }
  next[idy][idx] = neighbours == 3 || (now[idy][idx] != 0 && neighbours == 2);
}

void jacobi5(Array<float, 2> out, const Array<float, 2>& in) {
  if_(idx > 0 && idx < szx - 1 && idy > 0 && idy < szy - 1) {
    out[idy][idx] =
        0.25f * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]);
  }
}

void jacobi9(Array<float, 2> out, const Array<float, 2>& in) {
  if_(idx > 0 && idx < szx - 1 && idy > 0 && idy < szy - 1) {
    out[idy][idx] =
        0.1f * (in[idy - 1][idx - 1] + in[idy - 1][idx + 1] + in[idy + 1][idx - 1] +
                in[idy + 1][idx + 1]) +
        0.15f * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]);
  }
}

template <class T, int N>
void fill(Array<T, N>& array, const std::vector<float>& values) {
  T* to = array.data(HPL_WR);
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
}

template <class T, int N>
std::vector<float> contents(Array<T, N>& array) {
  const T* from = array.data(HPL_RD);
  return {from, from + array.size()};
}

template <class T, int N>
Array<T, N> gridOf(const Problem& p, std::byte* memory) {
  const auto w = static_cast<std::size_t>(p.width), h = static_cast<std::size_t>(p.height);
  T* cells = reinterpret_cast<T*>(memory);
  if constexpr (N == 3) {
    return Array<T, 3>(static_cast<std::size_t>(p.depth), h, w, cells);
  } else {
    return Array<T, 2>(h, w, cells);
  }
}
template <class T>
Array<T, 2> planeOf(const Problem& p) {
  return Array<T, 2>(static_cast<std::size_t>(p.height), static_cast<std::size_t>(p.width));
}

/// The arrays of a contender whose iterations read one and write another one, by turns.
template <class T, int N>
struct Pair {
  explicit Pair(const Problem& p)
      : first(p.first),
        second(p.second),
        now(gridOf<T, N>(p, first.get())),
        next(gridOf<T, N>(p, second.get())) {}
  std::shared_ptr<std::byte> first, second;
  Array<T, N> now, next;
};

/// Iterations that read one array and write another one, by turns.
template <class T, int N, class Kernel>
Contender pingPong(const Problem& problem, Kernel kernel) {
  auto s = std::make_shared<Pair<T, N>>(problem);
  Contender contender;
  contender.name = kPlain;
  contender.reset = [s, values = problem.values] {
    fill(s->now, values);
    fill(s->next, values);
  };
  contender.run = [s, kernel](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      eval(kernel)(s->next, s->now);
      swap(s->now, s->next);
    }
    defaultDevice().sync();
  };
  contender.result = [s] { return contents(s->now); };
  return contender;
}

/// The same by a launch-level stencil, which iterates by itself.
template <class T, int N>
Contender stencil(const Problem& problem, const Stencil& stencil) {
  auto s = std::make_shared<Pair<T, N>>(problem);
  Contender contender;
  contender.name = kStencil;
  contender.reset = [s, values = problem.values] {
    fill(s->now, values);
    fill(s->next, values);
  };
  contender.run = [s, stencil](int iterations) {
    stencil.iterate(iterations)(s->now, s->next);
    defaultDevice().sync();
  };
  contender.result = [s] { return contents(s->now); };
  return contender;
}

Contender lifeStencil(const Problem& problem) {
  Stencil generation([](Neighbourhood<int, 2> cell) {
    Int neighbours = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (dy != 0 || dx != 0) neighbours += cell(dy, dx);
      }
    }
    return cast<int>(neighbours == 3 || (cell() != 0 && neighbours == 2));
  });
  generation.boundary(Fixed(0));
  return stencil<int, 2>(problem, generation);
}

Contender jacobi5Stencil(const Problem& problem) {
  return stencil<float, 2>(problem, Stencil([](Neighbourhood<float, 2> p) {
                             return 0.25f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
                           }));
}

Contender jacobi9Stencil(const Problem& problem) {
  return stencil<float, 2>(problem, Stencil([](Neighbourhood<float, 2> p) {
                             return 0.1f * (p(-1, -1) + p(-1, 1) + p(1, -1) + p(1, 1)) +
                                    0.15f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
                           }));
}

Contender jacobi7Stencil(const Problem& problem) {
  return stencil<float, 3>(
      problem, Stencil([](Neighbourhood<float, 3> p) {
        return (p(-1, 0, 0) + p(1, 0, 0) + p(0, -1, 0) + p(0, 1, 0) + p(0, 0, -1) + p(0, 0, 1)) *
               (1.0f / 6.0f);
      }));
}

Contender canny(const Problem& problem) {
  namespace c = evaluation::canny;
  struct State {
    explicit State(const Problem& p)
        : picture(planeOf<unsigned char>(p)),
          direction(planeOf<unsigned char>(p)),
          labels(planeOf<unsigned char>(p)),
          smoothed(planeOf<short>(p)),
          strength(planeOf<int>(p)),
          ridges(planeOf<int>(p)) {}
    c::Bytes picture, direction, labels;
    c::Shorts smoothed;
    c::Ints strength, ridges;
  };
  auto s = std::make_shared<State>(problem);
  Contender contender;
  contender.name = kPlain;
  contender.reset = [s, values = problem.values] { fill(s->picture, values); };
  contender.run = [s](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      eval(c::smooth)(s->smoothed, s->picture);
      eval(c::gradient)(s->strength, s->direction, s->smoothed);
      eval(c::thin)(s->ridges, s->strength, s->direction);
      eval(c::classify)(s->labels, s->ridges, 16 * 20 * 16 * 20, 16 * 60 * 16 * 60);
    }
    defaultDevice().sync();
  };
  contender.result = [s] { return contents(s->labels); };
  return contender;
}

/// The same as a chain of stencils with temporaries in between, which the library fuses.
Contender cannyChain(const Problem& problem) {
  namespace c = evaluation::canny;
  struct State {
    explicit State(const Problem& p)
        : picture(planeOf<unsigned char>(p)), labels(planeOf<unsigned char>(p)) {
      Temporary<short, 2> smooth;
      Temporary<int, 2> strength, ridges;
      Temporary<unsigned char, 2> direction;
      chain.apply(c::smoothed)(picture, smooth);
      chain.apply(c::scaled).elsewhere()(picture, smooth);
      chain.apply(c::slope)(smooth, strength, direction);
      chain.apply(c::flat).elsewhere()(smooth, strength, direction);
      chain.apply(c::ridge)(strength, direction, ridges);
      chain.apply(c::none).elsewhere()(strength, ridges);
      chain.apply(c::labelled)(ridges, labels, 16 * 20 * 16 * 20, 16 * 60 * 16 * 60);
    }
    c::Bytes picture, labels;
    StencilProgram chain;
  };
  auto s = std::make_shared<State>(problem);
  Contender contender;
  contender.name = kChain;
  contender.reset = [s, values = problem.values] { fill(s->picture, values); };
  contender.run = [s](int iterations) {
    s->chain.run(iterations);
    defaultDevice().sync();
  };
  contender.result = [s] { return contents(s->labels); };
  return contender;
}

Contender shwa(const Problem& problem) {
  namespace w = evaluation::shwa;
  static constexpr int kLanes = 16;  // as the sample has on CPUs
  struct State {
    explicit State(const Problem& p)
        : water(planeOf<float4>(p)),
          change(planeOf<float4>(p)),
          ground(planeOf<float>(p)),
          speed(planeOf<float>(p)),
          fastest(static_cast<std::size_t>(p.height), std::size_t{kLanes}),
          clock(std::size_t{w::kClockSize}) {}
    w::Water water, change;
    w::Heights ground, speed;
    Array<float, 2> fastest;
    Array<float, 1> clock;
  };
  auto s = std::make_shared<State>(problem);
  fill(s->ground, problem.ground);
  Contender contender;
  contender.name = kPlain;
  contender.reset = [s, values = problem.values] {
    auto* to = s->water.data(HPL_WR);
    for (std::size_t i = 0; i < values.size() / 4; ++i)
      to[i] = {values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]};
    s->clock = 0.0f;
  };
  contender.run = [s, columns = problem.width, rows = problem.height](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      eval(w::flows)(s->change, s->speed, s->water, s->ground);
      eval(w::fastestOfRows)(s->fastest, s->speed, columns);
      eval(w::advanceClock).global(1).local(1)(s->clock, s->fastest, rows, kLanes, 0.2f);
      eval(w::update)(s->water, s->change, s->clock, 1.0f);
    }
    defaultDevice().sync();
  };
  contender.result = [s] {
    const auto* from = s->water.data(HPL_RD);
    std::vector<float> numbers;
    numbers.reserve(4 * s->water.size());
    for (std::size_t i = 0; i < s->water.size(); ++i)
      numbers.insert(numbers.end(), {from[i].x, from[i].y, from[i].z, from[i].w});
    return numbers;
  };
  return contender;
}

}  // namespace

std::vector<Contender> libraryContenders(const Problem& problem) {
  const std::string& name = problem.workload;
  if (name == "life") return {pingPong<int, 2>(problem, &life), lifeStencil(problem)};
  if (name == "gauss") {
    const auto weights = samples::gauss::gaussianWeights(kSigma);
    return {pingPong<float, 2>(problem, evaluation::gauss::Smooth{weights}),
            stencil<float, 2>(problem, Stencil(samples::gauss::Mean{weights}))};
  }
  if (name == "jacobi5") return {pingPong<float, 2>(problem, &jacobi5), jacobi5Stencil(problem)};
  if (name == "jacobi9") return {pingPong<float, 2>(problem, &jacobi9), jacobi9Stencil(problem)};
  if (name == "jacobi3d7")
    return {pingPong<float, 3>(problem, &evaluation::jacobi3d::jacobi7), jacobi7Stencil(problem)};
  if (name == "jacobi3d27") return {pingPong<float, 3>(problem, &evaluation::jacobi3d::jacobi27)};
  if (name == "canny") return {canny(problem), cannyChain(problem)};
  return {shwa(problem)};
}

}  // namespace perf::stencils
