// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "tests/ir/index_kernel.h"
#include "tests/ir/touch_evaluator.h"

namespace access_oracle_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

bool contains(const Interval& range, std::int64_t number) {
  return range.lo <= number && number <= range.hi;
}

bool holds(const IndexForm& form, std::int64_t index, const std::vector<std::int64_t>& ids,
           const std::vector<std::int64_t>& sizes) {
  if (form.isFlat()) {
    std::int64_t lo = 0, hi = 0;
    for (int k = form.flat.terms - 1; k >= 0; --k) {
      const auto term = static_cast<std::size_t>(k);
      const auto axis = static_cast<std::size_t>(form.flat.axes[term]);
      const bool isSlowest = k + 1 == form.flat.terms;
      lo = (isSlowest ? 0 : lo * sizes[axis]) + ids[axis] + form.flat.offsets[term].lo;
      hi = (isSlowest ? 0 : hi * sizes[axis]) + ids[axis] + form.flat.offsets[term].hi;
    }
    return lo <= index && index <= hi;
  }
  if (form.isWrapped()) {
    const auto axis = static_cast<std::size_t>(form.axis);
    const std::int64_t size = sizes[axis];
    if (size < -form.range.lo || size < form.range.hi) return true;
    return contains(form.range, index - ids[axis]) ||
           (contains(form.first, index) && ids[axis] >= size - form.firstBy) ||
           (contains(form.last, index - size) && ids[axis] < form.lastBy);
  }
  if (form.isBounded()) {
    const std::int64_t id = ids[static_cast<std::size_t>(form.axis)];
    const auto at = [&](std::int64_t offset) {
      return static_cast<std::int64_t>(std::floor(static_cast<double>(form.times * id + offset) /
                                                  static_cast<double>(form.over)));
    };
    return at(form.range.lo) <= index && index <= at(form.range.hi);
  }
  if (form.isUnknown()) return true;
  const std::int64_t offset =
      form.isAffine() ? index - ids[static_cast<std::size_t>(form.axis)] : index;
  return contains(form.range, offset);
}

/// Observations over all work-items of one kernel.
struct Report {
  bool legal = true;
  int known = 0;
  int bounded = 0;
  int wrapped = 0;
  int flat = 0;
  int covering = 0;
  int freshReads = 0;
  std::string failure;
};

void compare(const ArrayAccess& access, const std::vector<Touch>& touches,
             const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& sizes,
             Report& report) {
  bool readOld = false;
  bool covered = false;
  for (const Touch& touch : touches) {
    if (touch.array != access.array) continue;
    const std::vector<IndexForm>& forms = touch.write ? access.writes : access.reads;
    if (!(touch.write ? access.written : access.read)) {
      report.failure = "access not noticed";
      return;
    }
    for (std::size_t d = 0; d < touch.index.size(); ++d) {
      if (!holds(forms[d], touch.index[d], ids, sizes)) report.failure = "index outside its form";
      report.known += forms[d].isUnknown() ? 0 : 1;
      report.bounded += forms[d].isBounded() ? 1 : 0;
      report.wrapped += forms[d].isWrapped() ? 1 : 0;
      report.flat += forms[d].isFlat() ? 1 : 0;
    }
    readOld = readOld || (!touch.write && !touch.own);
    bool mine = access.coversThreads && touch.write;
    for (std::size_t d = 0; mine && d < touch.index.size(); ++d) {
      mine = touch.index[d] == ids[static_cast<std::size_t>(access.coverAxes[d])];
    }
    covered = covered || mine;
  }
  if (access.coversThreads && !covered) report.failure = "covering write missing";
  if (readOld && !access.readsOldContents) report.failure = "old contents read";
  report.covering += access.coversThreads ? 1 : 0;
  report.freshReads += access.read && !access.readsOldContents ? 1 : 0;
}

/// `axesOfN`: along these the domain's size is `n`.
Report examine(const IndexKernel& random, const AccessSummary& summary, unsigned axesOfN,
               unsigned seed) {
  Report report;
  std::mt19937 values(seed);
  for (int item = 0; item < 8 && report.failure.empty(); ++item) {
    TouchEvaluator evaluator;
    for (const A& array : {random.matrix, random.vector, random.other}) {
      auto& storage = evaluator.arrays[array.v];
      storage.extents.assign(static_cast<std::size_t>(array.v->rank),
                             array.v->rank == 1 ? kLength : kExtent);
      std::int64_t size = 1;
      for (const std::int64_t extent : storage.extents) size *= extent;
      for (std::int64_t i = 0; i < size; ++i) {
        storage.cells.push_back(static_cast<std::int64_t>(values() % 16));
      }
    }
    evaluator.scalars[random.n.v] = static_cast<std::int64_t>(values() % 12);
    std::vector<std::int64_t> ids, sizes;
    const std::int64_t first = item % 4 == 0 ? 0 : kFirstId;
    for (int d = 0; d < 3; ++d) {
      ids.push_back(first + static_cast<std::int64_t>(values() % 4));
      sizes.push_back(ids.back() + 1 + static_cast<std::int64_t>(values() % 3));
    }
    if (axesOfN != 0) {
      const std::int64_t n = *std::max_element(sizes.begin(), sizes.end());
      for (std::size_t d = 0; d < 3; ++d)
        if ((axesOfN >> d & 1U) != 0) sizes[d] = n;
      evaluator.scalars[random.n.v] = n;
    }
    try {
      evaluator.run(*random.kernel.entry, ids, sizes);
    } catch (const TouchEvaluator::Illegal&) {
      report.legal = false;
      continue;
    }
    for (const ArrayAccess& access : summary.arrays) {
      compare(access, evaluator.touches, ids, sizes, report);
    }
  }
  return report;
}

}  // namespace

TEST_CASE("random kernels touch only what the analysis says") {
  const char* first = std::getenv("HPL_TEST_SEED");
  const char* wanted = std::getenv("HPL_TEST_KERNELS");
  const auto seed0 = static_cast<unsigned>(first == nullptr ? 1 : std::atoi(first));
  const auto count = static_cast<unsigned>(wanted == nullptr ? 1500 : std::atoi(wanted));
  int legal = 0, known = 0, bounded = 0, wrapped = 0, flat = 0, covering = 0, freshReads = 0;
  for (unsigned seed = seed0; seed < seed0 + count; ++seed) {
    const IndexKernel random(seed);
    INFO("seed " << seed << " (HPL_TEST_SEED=" << seed << " HPL_TEST_KERNELS=1)");
    REQUIRE_NOTHROW(verify(random.kernel));
    const unsigned axesOfN = seed % 2 == 0 ? 0 : seed / 2 % 8;
    const AccessSummary summary = analyze(random.kernel, random.sizesInN(axesOfN));
    const Report report = examine(random, summary, axesOfN, seed);
    if (!report.failure.empty()) {
      FAIL(report.failure << "\n" << toString(summary) << "\n" << print(random.kernel));
    }
    legal += report.legal ? 1 : 0;
    known += report.known > 0 ? 1 : 0;
    bounded += report.bounded > 0 ? 1 : 0;
    wrapped += report.wrapped > 0 ? 1 : 0;
    flat += report.flat > 0 ? 1 : 0;
    covering += report.covering;
    freshReads += report.freshReads;
  }
  MESSAGE("seeds " << seed0 << ".." << seed0 + count - 1 << ": " << legal << " legal, " << known
                   << " with known indices, " << bounded << " with bounded ones, " << wrapped
                   << " with edges, " << flat << " with grids in vectors, " << covering
                   << " covered arrays, " << freshReads << " arrays read only after writing");
  // The comparison must not be vacuous.
  if (count >= 1000) {
    CHECK(legal > static_cast<int>(count / 20));
    CHECK(known > static_cast<int>(count / 4));
    CHECK(bounded > static_cast<int>(count / 10));
    CHECK(wrapped > static_cast<int>(count / 10));
    CHECK(flat > static_cast<int>(count / 40));
    CHECK(covering > static_cast<int>(count / 50));
    CHECK(freshReads > 0);
  }
}

}  // namespace access_oracle_tests
