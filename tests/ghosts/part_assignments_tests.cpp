// SPDX-License-Identifier: Apache-2.0
// Fills and assignments through views that were made from parts (paper, Fig. 4).
#include <doctest/doctest.h>

#include <algorithm>

#include "support.h"

namespace part_assignments_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kCells = 120;

void number(Numbers a, Int value) { a[idx] = value; }

// Views of an even split with r ghosts, one per device.
std::vector<Range> partsOf(int cells, int r) {
  std::vector<Range> parts;
  const int n = deviceCount();
  for (int d = 0; d < n; ++d)
    parts.emplace_back(std::max(0, cells * d / n - r),
                       std::min(cells, cells * (d + 1) / n + r) - 1);
  return parts;
}

int lengthOf(const Range& range) { return static_cast<int>(range.last - range.first) + 1; }

// Shows what a part reads two cells further on, so that its core tells about its ghosts.
void lookAhead(Numbers out, Numbers in) {
  if_(idx + 2 < szx) {
    out[idx] = in[idx + 2];
  }
}

void lookAside(Grid out, Grid in) {
  if_(idx + 1 < szx) {
    out[idy][idx] = in[idy][idx + 1];
  }
}

// An array whose parts 0 and 1 hold 10 and 11, ghosts included.
struct Parts {
  explicit Parts(bool annotated_)
      : annotated(annotated_), views(partsOf(kCells, 2)), first(kCells / deviceCount()) {
    a = 0;
    const auto devices = testDevices();
    std::vector<int> values;
    for (int d = 0; d < deviceCount(); ++d) values.push_back(10 + d);
    // Explicit views are parts when all have been written once.
    for (int round = 0; round < 2; ++round) {
      if (annotated) {
        eval(number)(PART1(a, 2), values);
      } else {
        for (std::size_t d = 0; d < devices.size(); ++d)
          eval(number).device(devices[d])(a(views[d]), values[d]);
      }
    }
  }

  // Device 0's ghosts: its copies of the first two cells of part 1.
  std::vector<int> ghosts() {
    Numbers seen(kCells);
    seen = -1;
    if (annotated) {
      eval(lookAhead)(PART1(seen, 2), PART1(a, 2));
    } else {
      eval(lookAhead).device(testDevices()[0])(seen(views[0]), a(views[0]));
    }
    return {seen(first - 2), seen(first - 1)};
  }

  bool annotated;
  Numbers a{kCells};
  std::vector<Range> views;
  int first;  ///< the first cell that part 1 owns
};

}  // namespace

TEST_CASE("a fill of ghosts through the part's view stays on the part's device") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {false, true}) {
    CAPTURE(annotated);
    Parts p(annotated);
    CHECK(p.ghosts() == std::vector<int>{10, 10});
    p.a(p.views[0])(Range(lengthOf(p.views[0]) - 1)) = 77;  // cell first + 1
    CHECK(p.ghosts() == std::vector<int>{10, 77});
    CHECK(p.a(p.first + 1) == 11);
    p.a.syncGhosts();
    CHECK(p.ghosts() == std::vector<int>{11, 11});
  }
}

TEST_CASE("a fill of a part's core is the array's value, which neighbours get by an exchange") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {false, true}) {
    CAPTURE(annotated);
    Parts p(annotated);
    p.a.syncGhosts();
    p.a(p.views[1])(Range(2, 3)) = 55;  // cells first and first + 1
    CHECK(p.ghosts() == std::vector<int>{11, 11});
    const Traffic traffic;
    p.a.syncGhosts();
    CHECK(traffic.betweenDevices() == 2 * sizeof(int));
    CHECK(p.ghosts() == std::vector<int>{55, 55});
    CHECK(p.a(p.first) == 55);
    CHECK(p.a(p.first + 1) == 55);
  }
}

TEST_CASE("a fill through a view of the array reaches every copy") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {false, true}) {
    CAPTURE(annotated);
    Parts p(annotated);
    p.a(Range(p.first, p.first + 1)) = 33;
    CHECK(p.ghosts() == std::vector<int>{33, 33});
    CHECK(p.a(p.first) == 33);
  }
}

TEST_CASE("strided ghosts are filled on their device alone") {
  if (deviceCount() < 2) return;
  const int rows = 5, columns = 48;
  Grid g(rows, columns), seen(rows, columns);
  g = 1;
  seen = 0;
  eval([](Grid out) { out[idy][idx] = 2; })(PART2(g, 1));
  const std::vector<Range> parts = partsOf(columns, 1);
  const int first = static_cast<int>(parts[0].last);  // the first column that part 1 owns
  g(Range(0, rows - 1), parts[0])(Range(1, 3), Range(lengthOf(parts[0]) - 1)) = 9;
  eval(lookAside)(PART2(seen, 1), PART2(g, 1));
  for (int row = 0; row < rows; ++row) {
    CAPTURE(row);
    CHECK(seen(row, first - 1) == (row >= 1 && row <= 3 ? 9 : 2));
    CHECK(seen(row, first) == 2);
  }
  CHECK(valuesOf(g) == std::vector<int>(rows * columns, 2));
}

TEST_CASE("ghosts that a fill or an assignment overwrites do not take the array's value along") {
  if (deviceCount() < 2) return;
  for (const bool fill : {true, false}) {
    CAPTURE(fill);
    Parts p(true);
    // Device 0 is the only one to have what is behind its own part.
    eval(number).device(testDevices()[0])(p.a, 4);
    Numbers source(1);
    source = 5;
    Numbers& ghost = p.a(p.views[0])(Range(lengthOf(p.views[0]) - 1));
    if (fill) {
      ghost = 5;
    } else {
      ghost = source;
    }
    CHECK(valuesOf(p.a) == std::vector<int>(kCells, 4));
  }
}

TEST_CASE("an assignment between ghosts of one part stays on the part's device") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {false, true}) {
    CAPTURE(annotated);
    Parts p(annotated);
    Numbers& part = p.a(p.views[0]);
    const int size = lengthOf(p.views[0]);
    part(Range(size - 1)) = 77;
    const std::vector<int> before = valuesOf(p.a);
    part(Range(size - 2)) = part(Range(size - 1));  // both are device 0's copies of part 1's cells
    CHECK(p.ghosts() == std::vector<int>{77, 77});
    CHECK(valuesOf(p.a) == before);
    p.a.syncGhosts();
    CHECK(p.ghosts() == std::vector<int>{11, 11});
  }
}

TEST_CASE("an assignment within a part reads all before it writes, across the border of the core") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {false, true}) {
    CAPTURE(annotated);
    Parts p(annotated);
    Numbers& part = p.a(p.views[0]);
    const int size = lengthOf(p.views[0]);
    for (int i = 0; i < 4; ++i) part(Range(size - 4 + i)) = 30 + i;
    part(Range(size - 4, size - 2)) = part(Range(size - 3, size - 1));
    CHECK(p.a(p.first - 2) == 31);
    CHECK(p.a(p.first - 1) == 32);
    CHECK(p.ghosts() == std::vector<int>{33, 33});
    CHECK(p.a(p.first) == 11);
    part(Range(size - 3, size - 1)) = part(Range(size - 4, size - 2));
    CHECK(p.a(p.first - 1) == 31);
    CHECK(p.ghosts() == std::vector<int>{32, 33});
  }
}

TEST_CASE(
    "an assignment from a part takes what the part has, and present values where it has none") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {false, true}) {
    CAPTURE(annotated);
    Parts p(annotated);
    const int size = lengthOf(p.views[0]);
    p.a(Range(p.first)) = 33;  // device 0 forgets its first ghost, and keeps its second
    Numbers ghosts(2);
    ghosts = p.a(p.views[0])(Range(size - 2, size - 1));
    CHECK(valuesOf(ghosts) == std::vector<int>{33, 10});
  }
}

}  // namespace part_assignments_tests
