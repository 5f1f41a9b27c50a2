// SPDX-License-Identifier: Apache-2.0
// Skeletons compute the same cells on any number of ranks and devices.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "program_on_ranks.h"
#include "tests/stencil_templates/skeleton_support.h"

namespace skeleton_tests {

using namespace hpl;
using namespace ranks_tests;
using namespace skeleton_tests;

namespace {

using Skeleton = StencilSkeleton<float, 2>;

std::string said(const std::string& what, bool isRight) {
  return what + (isRight ? " right; " : " WRONG; ");
}

bool equals(Array<float, 2>& array, const std::vector<float>& expected) {
  std::vector<float> cells(array.size());
  array.copyTo(cells.data());
  return cells == expected;
}

void nativeMean(InOut<Array<float, 2>>, In<Array<float, 2>>) {}
const char* const kMean = TOSTRING(kernel void mean(global float* out, global const float* in) {
  const size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
  if (x > 0 && x + 1 < w && y > 0 && y + 1 < get_global_size(1)) {
    const size_t i = y * w + x;
    out[i] = (in[i - w] + in[i - 1] + in[i + 1] + in[i + w]) / 4;
  }
});

/// On up to four ranks, with up to four devices in all. One process of its own is what
/// tests/stencil_templates has.
void expectRight(const std::function<std::string()>& program) {
  for (const auto& [ranks, each] : {std::pair(2, 2), std::pair(3, 1), std::pair(4, 1)}) {
    INFO(ranks << " ranks with " << each << " devices");
    const std::string text = saidOn(ranks, each, program);
    CHECK(text.find("WRONG") == std::string::npos);
    CHECK(text.find("right") != std::string::npos);
    CAPTURE(text);
  }
}

std::string paperStencils() {
  const Sizes3 sizes{1, 29, 24};
  const int devices = getDeviceNumber();
  std::string text;
  const auto check = [&](const std::string& what, Skeleton skeleton,
                         const StencilPattern& pattern) {
    skeleton.init(startsIn<2>(sizes));
    text += said(what, equals(skeleton.run({29, 24}, 4).cells(),
                              afterSteps(startCells(sizes), sizes, weightedOf(pattern), 4)));
  };
  check("2d5 in bands", Skeleton(upwind5()), upwind5());
  check("generic 2d9nc", Skeleton(star9()).generic(), star9());
  const std::vector<std::int64_t> grid =
      devices == 4 ? std::vector<std::int64_t>{2, 2} : std::vector<std::int64_t>{1, devices};
  check("2d9 in blocks", Skeleton(box9()).blocks(grid), box9());
  nativeHandle(nativeMean, "mean", kMean);
  check("native 2d4", Skeleton(star4()).kernel(nativeMean), star4());
  return text;
}

std::string stencilAndProgram() {
  const Sizes3 sizes{1, 21, 16};
  const auto start = startsIn<2>(sizes);
  Stencil fall([](Neighbourhood<float, 2> p) { return p(-1, 0); });
  fall.boundary(Fixed(2.0f));
  Skeleton stencil(fall);
  stencil.init(start);
  std::vector<float> moved = startCells(sizes);
  moved.insert(moved.begin(), 2 * 16, 2.0f);
  moved.resize(21 * 16);
  std::string text = said("stencil", equals(stencil.run({21, 16}, 2).cells(), moved));
  Skeleton program(2, [](StencilProgram& steps, Skeleton::Fields& f) {
    steps.apply([](Neighbourhood<float, 2> a, Neighbourhood<float, 2> b) {
      return b(0, 0) + a(0, 0);
    })(f[0], f[1], f[1]);
  });
  program.init(start);
  SkeletonResult<float, 2> sums = program.run({21, 16}, 2);
  std::vector<float> twice = startCells(sizes);
  text += said("field 0", equals(sums.fields[0], twice));
  for (float& cell : twice) cell += cell;
  return text + said("field 1", equals(sums.fields[1], twice));
}

/// Each cell is set by one rank, and shown to the one that owns it.
std::string cellsOnce() {
  bool isOneEverywhere = true;
  Skeleton skeleton(star4());
  skeleton.init([](const LocalPart<float, 2>& part) {
    forEachCell(part, [](float& cell, const Sizes3&) { cell += 1; });
  });
  skeleton.output([&](const LocalPart<const float, 2>& part) {
    forEachCell(part, [&](float cell, const Sizes3&) { isOneEverywhere &= cell == 1; });
  });
  const std::vector<float> ones(221, 1.0f);
  SkeletonResult<float, 2> untouched = skeleton.run({17, 13}, 0);
  SkeletonResult<float, 2> result = skeleton.run({17, 13}, 3);
  return said("each rank's cells", isOneEverywhere) +
         said("start", equals(untouched.cells(), ones)) + said("end", equals(result.cells(), ones));
}

}  // namespace

TEST_CASE("skeletons one after another equal loops on any ranks") {
  expectRight([] { return paperStencils() + stencilAndProgram() + cellsOnce(); });
}

}  // namespace skeleton_tests
