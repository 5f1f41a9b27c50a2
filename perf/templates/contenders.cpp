// SPDX-License-Identifier: Apache-2.0
#include "templates/contenders.h"

#include <memory>

#include "perf/evaluation/gauss/kernels.h"
#include "stencil_templates/kernel/stencil_kernel.h"
#include "stencils/gauss_source.h"
#include "templates/gauss.h"
#include "templates/life.h"

namespace perf::templates {
namespace {

using stencils::Contender;
using stencils::Problem;

constexpr int kPoints = 4;
constexpr StencilForm kTile = StencilForm::Tile, kDirect = StencilForm::Direct;

/// Groups of 16 x 16 for a kernel that is written by hand.
Domain groups(const Problem& p, int points) {
  const auto whole = [](int cells, int block) {
    return static_cast<std::size_t>((cells + block - 1) / block * kGroup);
  };
  return {whole(p.width, kGroup * points), whole(p.height, kGroup)};
}

/// Iterations in turns. `launch(next, now)` does one.
template <class T, class Launch>
Contender pingPong(const char* name, const Problem& p, Array<T, 2> now, Array<T, 2> next,
                   const Launch& launch) {
  const auto s = std::make_shared<std::pair<Array<T, 2>, Array<T, 2>>>(now, next);
  Contender contender;
  contender.name = name;
  contender.reset = [s, values = p.values] {
    for (Array<T, 2>* array : {&s->first, &s->second}) {
      T* to = array->data(HPL_WR);
      for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
    }
  };
  contender.run = [s, launch](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      launch(s->second, s->first);
      swap(s->first, s->second);
    }
    defaultDevice().sync();
  };
  contender.result = [s] {
    const T* from = s->first.data(HPL_RD);
    return std::vector<float>(from, from + s->first.size());
  };
  return contender;
}

template <class T>
Array<T, 2> gridOf(const Problem& p) {
  return Array<T, 2>(static_cast<std::size_t>(p.height), static_cast<std::size_t>(p.width));
}

template <class T, class Kernel, class... Extra>
Contender byHand(const char* name, const Problem& p, Kernel kernel, int points, Extra... extra) {
  const auto launch = [=, domain = groups(p, points)](Array<T, 2>& next, Array<T, 2>& now) {
    eval(kernel).global(domain).local(kGroup, kGroup)(next, now, extra..., p.height, p.width);
  };
  return pingPong<T>(name, p, gridOf<T>(p), gridOf<T>(p), launch);
}

/// A template with `Reach` elements on each side.
template <class T, int Reach, StencilForm Form, class Kernel, class... Extra>
Contender byTemplate(const char* name, const Problem& p, Kernel kernel, int points,
                     Extra... extra) {
  const Array<T, 2> now = gridOf<T>(p), next = gridOf<T>(p);
  const auto s = std::make_shared<PreparedStencil<T, 2>>(
      PrepareStencilKernel2D<Reach, Reach, Reach, Reach, Form>(
          now, 1, std::vector<Device>{defaultDevice()}, Domain(kGroup, kGroup), points));
  const auto launch = [=](Array<T, 2>& out, Array<T, 2>& in) {
    eval(kernel)
        .devices(s->devices)
        .global(s->global)
        .local(s->local)(in, out, s->temp, s->helper, extra...);
  };
  return pingPong<T>(name, p, now, next, launch);
}

std::vector<Contender> life(const Problem& p) {
  return {byHand<int>(kOneRow, p, lifeFilledByOneRow, 1),
          byTemplate<int, 1, kTile>("1 point", p, lifeTemplate<kTile>, 1),
          byTemplate<int, 1, kTile>("4 points", p, lifeTemplate<kTile>, kPoints),
          byHand<int>(kByHand, p, lifeByHand<kPoints>, kPoints),
          byTemplate<int, 1, kDirect>("direct form", p, lifeTemplate<kDirect>, 1),
          pingPong<int>("plain kernel", p, gridOf<int>(p), gridOf<int>(p),
                        [](auto& next, auto& now) { eval(lifePlain)(next, now); })};
}

template <MemoryFlag Memory>
Array<float, 1, Memory> maskArray() {
  const auto weights = samples::gauss::gaussianWeights(stencils::kSigma);
  Array<float, 1, Memory> mask(weights.size());
  mask.copyFrom(weights.data());
  return mask;
}

std::vector<Contender> gauss(const Problem& p) {
  const Array<float, 1> global = maskArray<Global>();
  const Array<float, 1, Constant> constant = maskArray<Constant>();
  return {
      byHand<float>(kOneRow, p, gaussFilledByOneRow, 1, global),
      byTemplate<float, kRadius, kTile>("1 point", p, gaussTemplate<kTile, Global>, 1, global),
      byTemplate<float, kRadius, kTile>("4 points", p, gaussTemplate<kTile, Global>, kPoints,
                                        global),
      byTemplate<float, kRadius, kTile>("4 points, constant mask", p,
                                        gaussTemplate<kTile, Constant>, kPoints, constant),
      byHand<float>(kByHand, p, gaussByHand<Constant, kPoints>, kPoints, constant),
      byTemplate<float, kRadius, kDirect>("direct form", p, gaussTemplate<kDirect, Global>, 1,
                                          global),
      byTemplate<float, kRadius, kDirect>("direct form, constant mask", p,
                                          gaussTemplate<kDirect, Constant>, 1, constant),
      pingPong<float>(
          "plain kernel", p, gridOf<float>(p), gridOf<float>(p),
          [kernel = evaluation::gauss::Smooth{samples::gauss::gaussianWeights(stencils::kSigma)}](
              auto& next, auto& now) { eval(kernel)(next, now); })};
}

}  // namespace

std::vector<Contender> contenders(const Problem& problem) {
  return problem.workload == "life" ? life(problem) : gauss(problem);
}

}  // namespace perf::templates
