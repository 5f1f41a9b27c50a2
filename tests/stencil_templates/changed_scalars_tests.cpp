// SPDX-License-Identifier: Apache-2.0
// Scalars that a point function changes are each cell's own, in each step.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/runtime/subprocess.h"

namespace changed_scalars_tests {

using namespace hpl;

namespace {

constexpr int kRows = 60, kColumns = 90, kSteps = 12, kMask = 1023;

std::vector<int> step(const std::vector<int>& now, int c, int k) {
  const auto at = [&](int y, int x) {
    return now[static_cast<std::size_t>(std::clamp(y, 0, kRows - 1) * kColumns +
                                        std::clamp(x, 0, kColumns - 1))];
  };
  std::vector<int> next;
  for (int y = 0; y < kRows; ++y)
    for (int x = 0; x < kColumns; ++x) {
      int own = c * 2 + at(y, x);
      if (at(y, x) % 3 == 0) own -= 7;
      next.push_back((at(y - 1, x) * 3 + at(y + 1, x) - at(y, x - 1) + at(y, x + 1) + own + k + 1) &
                     kMask);
    }
  return next;
}

void check(bool onSeveral, bool iterates) {
  Array<int, 2> a(kRows, kColumns), b(kRows, kColumns);
  std::vector<int> now(a.size());
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = static_cast<int>(i * 7919 % 1009);
  a.copyFrom(now.data());
  Stencil change([](Neighbourhood<int, 2> p, Int c, Int k) {
    c = c * 2 + p(0, 0);
    k++;
    if_(p(0, 0) % 3 == 0) {
      c -= 7;
    }
    return (p(-1, 0) * 3 + p(1, 0) - p(0, -1) + p(0, 1) + c + k) & kMask;
  });
  change.boundary(Nearest());
  if (onSeveral) change.devices();
  if (iterates) {
    change.iterate(kSteps)(a, b, 3, 4);
  } else {
    for (int t = 0; t < kSteps; ++t) {
      change(a, b, 3, 4);
      swap(a, b);
    }
  }
  for (int t = 0; t < kSteps; ++t) now = step(now, 3, 4);
  CHECK(std::equal(now.begin(), now.end(), a.data(HPL_RD)));
}

}  // namespace

TEST_CASE("scalars that a point function changes are each cell's own") {
  for (const bool onSeveral : {false, true})
    for (const bool iterates : {false, true}) {
      CAPTURE(onSeveral);
      CAPTURE(iterates);
      check(onSeveral, iterates);
    }
}

TEST_CASE("scalars that a point function changes are each cell's own by each strategy") {
  for (const std::string strategy : {"direct", "rows", "columns", "tile", "persistent"}) {
    CAPTURE(strategy);
    const auto run = subprocess::run("scalars that a point function changes are each cell's own",
                                     "HPL_LOG=warn HPL_STRATEGY=" + strategy);
    CAPTURE(run.output);
    CHECK(run.exitCode == 0);
    CHECK(run.output.find("does not compile") == std::string::npos);
  }
}

}  // namespace changed_scalars_tests
