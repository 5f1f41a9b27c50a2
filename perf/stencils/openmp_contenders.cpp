// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "samples/gauss/weights.h"
#include "stencils/gauss_source.h"
#include "stencils/openmp_kernels.h"
#include "stencils/workload.h"

namespace perf::stencils {
namespace {

/// Elements on a line of the cache.
template <class T>
struct Lined {
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  explicit Lined(std::size_t count)
      : memory(static_cast<T*>(std::aligned_alloc(128, (count * sizeof(T) + 127) / 128 * 128))) {}
  T* get() const { return memory.get(); }
  std::unique_ptr<T, Free> memory;
};

/// The buffers of a contender whose iterations read one and write another one, by turns.
template <class T>
struct Pair {
  explicit Pair(const Problem& problem) : a(problem.first), b(problem.second) {}
  std::shared_ptr<std::byte> a, b;
  bool swapped = false;
  T* now() const { return reinterpret_cast<T*>((swapped ? b : a).get()); }
  T* next() const { return reinterpret_cast<T*>((swapped ? a : b).get()); }
};

template <class T, class Step>
Contender pingPong(const Problem& problem, Step step) {
  auto pair = std::make_shared<Pair<T>>(problem);
  Contender contender;
  contender.name = kOpenMp;
  contender.reset = [pair, values = problem.values] {
    pair->swapped = false;
    std::copy(values.begin(), values.end(), pair->now());
    std::copy(values.begin(), values.end(), pair->next());
  };
  contender.run = [pair, step](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      step(pair->next(), pair->now());
      pair->swapped = !pair->swapped;
    }
  };
  contender.result = [pair, points = problem.points()] {
    return std::vector<float>(pair->now(), pair->now() + points);
  };
  return contender;
}

Contender canny(const Problem& problem) {
  struct State {
    explicit State(std::size_t n)
        : picture(n), smoothed(n), strength(n), direction(n), ridges(n), labels(n) {}
    Lined<unsigned char> picture;
    Lined<short> smoothed;
    Lined<int> strength;
    Lined<unsigned char> direction;
    Lined<int> ridges;
    Lined<unsigned char> labels;
  };
  auto s = std::make_shared<State>(problem.points());
  const int w = problem.width, h = problem.height;
  Contender contender;
  contender.name = kOpenMp;
  contender.reset = [s, values = problem.values] {
    std::copy(values.begin(), values.end(), s->picture.get());
  };
  contender.run = [s, w, h](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      openmp::smooth(s->smoothed.get(), s->picture.get(), w, h);
      openmp::gradient(s->strength.get(), s->direction.get(), s->smoothed.get(), w, h);
      openmp::thin(s->ridges.get(), s->strength.get(), s->direction.get(), w, h);
      openmp::classify(s->labels.get(), s->ridges.get(), w, h, 16 * 20 * 16 * 20,
                       16 * 60 * 16 * 60);
    }
  };
  contender.result = [s, points = problem.points()] {
    return std::vector<float>(s->labels.get(), s->labels.get() + points);
  };
  return contender;
}

Contender shwa(const Problem& problem) {
  struct State {
    explicit State(std::size_t n) : water(4 * n), change(4 * n), ground(n) {}
    Lined<float> water, change, ground;
  };
  auto s = std::make_shared<State>(problem.points());
  const int w = problem.width, h = problem.height;
  std::copy(problem.ground.begin(), problem.ground.end(), s->ground.get());
  Contender contender;
  contender.name = kOpenMp;
  contender.reset = [s, values = problem.values] {
    std::copy(values.begin(), values.end(), s->water.get());
  };
  contender.run = [s, w, h](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      const float fastest = openmp::flows(s->change.get(), s->water.get(), s->ground.get(), w, h);
      openmp::update(s->water.get(), s->change.get(), 0.2f / std::max(fastest, 1e-6f), w, h);
    }
  };
  contender.result = [s, points = problem.points()] {
    return std::vector<float>(s->water.get(), s->water.get() + 4 * points);
  };
  return contender;
}

}  // namespace

std::vector<Contender> openMpContenders(const Problem& problem) {
  const std::string& name = problem.workload;
  const int w = problem.width, h = problem.height, d = problem.depth;
  const auto planar = [&](void (*step)(float*, const float*, int, int)) {
    return pingPong<float>(problem, [=](float* out, const float* in) { step(out, in, w, h); });
  };
  const auto solid = [&](void (*step)(float*, const float*, int, int, int)) {
    return pingPong<float>(problem, [=](float* out, const float* in) { step(out, in, w, h, d); });
  };
  if (name == "life")
    return {pingPong<int>(problem, [=](int* out, const int* in) { openmp::life(out, in, w, h); })};
  if (name == "gauss") {
    const auto mask = samples::gauss::gaussianWeights(kSigma);
    return {pingPong<float>(
        problem, [=](float* out, const float* in) { openmp::gauss(out, in, mask.data(), w, h); })};
  }
  if (name == "jacobi5") return {planar(&openmp::jacobi5)};
  if (name == "jacobi9") return {planar(&openmp::jacobi9)};
  if (name == "jacobi3d7") return {solid(&openmp::jacobi7)};
  if (name == "jacobi3d27") return {solid(&openmp::jacobi27)};
  if (name == "canny") return {canny(problem)};
  return {shwa(problem)};
}

}  // namespace perf::stencils
