// SPDX-License-Identifier: Apache-2.0
// Which ghosts are believed when parts are updated in place, by hand and one after the other.
#include <doctest/doctest.h>

#include <algorithm>

#include "support.h"

namespace checker_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kCells = 120;

// Two kernels per step, as solvers of conservation laws have them: what flows in, read from the
// neighbours; then an update in place.
void inflow(Numbers change, Numbers level) {
  if_(idx > 0 && idx + 1 < szx) {
    change[idx] = level[idx - 1] - 3 * level[idx] + 2 * level[idx + 1];
  }
  else_ { change[idx] = 0; }
}

void advance(Numbers level, Numbers change) {
  if_(idx > 0 && idx + 1 < szx) {
    level[idx] = level[idx] / 2 + change[idx] % 1000;
  }
}

std::vector<int> stepOf(std::vector<int> level) {
  const std::vector<int> old = level;
  for (std::size_t i = 1; i + 1 < level.size(); ++i)
    level[i] = old[i] / 2 + (old[i - 1] - 3 * old[i] + 2 * old[i + 1]) % 1000;
  return level;
}

std::vector<int> smallValues(unsigned seed) {
  std::vector<int> values = someValues(kCells, seed);
  for (int& value : values) value = (value % 1000 + 1000) % 1000;
  return values;
}

// One range per device: an even split grown by r cells.
std::vector<Range> partsOf(int r) {
  std::vector<Range> parts;
  const int n = deviceCount();
  for (int d = 0; d < n; ++d)
    parts.emplace_back(std::max(0, kCells * d / n - r),
                       std::min(kCells, kCells * (d + 1) / n + r) - 1);
  return parts;
}

// The exchange of Fig. 4 of the paper, for ghosts of r cells.
void exchangeByHand(Numbers& a, const std::vector<Range>& parts, int r) {
  for (std::size_t d = 1; d < parts.size(); ++d) {
    const int size = static_cast<int>(parts[d - 1].last - parts[d - 1].first) + 1;
    Numbers &lower = a(parts[d - 1]), &upper = a(parts[d]);
    lower(Range(size - r, size - 1)) = upper(Range(r, 2 * r - 1));
    upper(Range(0, r - 1)) = lower(Range(size - 2 * r, size - r - 1));
  }
}

enum class Style { Subarrays, Annotations };
enum class Exchange { ByHand, Sync };

struct Solver {
  Solver(Style s, int ghosts) : style(s), r(ghosts), parts(partsOf(ghosts)) {
    expected = smallValues(5);
    level.copyFrom(expected.data());
    change = 0;
    if (style == Style::Annotations) return;
    // Makes the views parts, with right values in their ghosts.
    for (std::size_t d = 0; d < parts.size(); ++d)
      eval(copyNumbers).device(devices[d])(level(parts[d]), change(parts[d]));
    level.syncGhosts();
    level.copyFrom(expected.data());
  }

  void step() {
    if (style == Style::Annotations) {
      eval(inflow)(PART1(change, r), PART1(level, r));
      eval(advance)(PART1(level, r), PART1(change, r));
    } else {
      for (std::size_t d = 0; d < parts.size(); ++d)
        eval(inflow).device(devices[d])(change(parts[d]), level(parts[d]));
      for (std::size_t d = 0; d < parts.size(); ++d)
        eval(advance).device(devices[d])(level(parts[d]), change(parts[d]));
    }
    expected = stepOf(expected);
  }

  void exchange(Exchange how) {
    if (how == Exchange::Sync) {
      level.syncGhosts();
    } else {
      exchangeByHand(level, parts, r);
    }
  }

  Style style;
  int r;
  std::vector<Range> parts;
  std::vector<Device> devices = testDevices();
  Numbers level{kCells}, change{kCells};
  std::vector<int> expected;
};

}  // namespace

TEST_CASE("HPL_CHECK=ghosts accepts updates in place whose ghosts are exchanged in time") {
  const WithSettings checking([](runtime::Settings& s) { s.checkGhosts = true; });
  for (const Style style : {Style::Subarrays, Style::Annotations}) {
    for (const Exchange how : {Exchange::ByHand, Exchange::Sync}) {
      for (const int r : {1, 2, 3}) {
        CAPTURE(static_cast<int>(style));
        CAPTURE(static_cast<int>(how));
        CAPTURE(r);
        Solver solver(style, r);
        for (int i = 0; i < 4 * r; ++i) {
          CAPTURE(i);
          solver.step();
          if ((i + 1) % r == 0) solver.exchange(how);
        }
        CHECK(valuesOf(solver.level) == solver.expected);
      }
    }
  }
}

TEST_CASE("HPL_CHECK=ghosts reports updates in place one step too late for their ghosts") {
  if (deviceCount() < 2) return;
  const WithSettings checking([](runtime::Settings& s) { s.checkGhosts = true; });
  for (const Style style : {Style::Subarrays, Style::Annotations}) {
    for (const Exchange how : {Exchange::ByHand, Exchange::Sync}) {
      for (const int r : {1, 2}) {
        CAPTURE(static_cast<int>(style));
        CAPTURE(static_cast<int>(how));
        CAPTURE(r);
        Solver solver(style, r);
        solver.level.label("level");
        for (int i = 0; i < 2 * r; ++i) {
          solver.step();
          if ((i + 1) % r == 0) solver.exchange(how);
        }
        for (int i = 0; i < r; ++i) solver.step();
        const std::string message = messageOf<StaleGhostError>([&] { solver.step(); });
        CHECK(message.find("kernel 'inflow' would compute core cells of part 0") !=
              std::string::npos);
        CHECK(message.find("array \"level\"") != std::string::npos);
      }
    }
  }
}

TEST_CASE("HPL_CHECK=ghosts reports the exchange that is missing after the first round of views") {
  if (deviceCount() < 2) return;
  const WithSettings checking([](runtime::Settings& s) { s.checkGhosts = true; });
  const auto devices = testDevices();
  const std::vector<Range> parts = partsOf(1);
  Numbers a(kCells), b(kCells);
  std::vector<int> x = smallValues(6), y = smallValues(7);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  for (std::size_t d = 0; d < parts.size(); ++d)
    eval(threePoint).device(devices[d])(b(parts[d]), a(parts[d]));
  y = threePointStep(x, y);
  const auto back = [&] {
    for (std::size_t d = 0; d < parts.size(); ++d)
      eval(threePoint).device(devices[d])(a(parts[d]), b(parts[d]));
  };
  // The rims of the parts were left as they were, and then their owners wrote them.
  CHECK_THROWS_AS(back(), StaleGhostError);
  b.syncGhosts();
  back();
  CHECK(valuesOf(a) == threePointStep(y, x));
}

TEST_CASE("an assignment to cells of a part makes the copies of its neighbours stale") {
  if (deviceCount() < 2) return;
  const WithSettings checking([](runtime::Settings& s) { s.checkGhosts = true; });
  const std::vector<Range> parts = partsOf(3);
  const int first = kCells / deviceCount();  // the first cell that part 1 owns
  for (const SyncMode sync : {MANUAL_SYNC, AUTO_SYNC}) {
    CAPTURE(static_cast<int>(sync));
    Numbers a(kCells), b(kCells), nines(kCells);
    std::vector<int> x = smallValues(8), y = smallValues(9);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    nines = 999;
    eval(threePoint)(PART1(b, 3, sync), PART1(a, 3, sync));
    b(parts[1])(Range(3)) = nines(Range(first));
    y = threePointStep(x, y);
    y[static_cast<std::size_t>(first)] = 999;
    const auto next = [&] { eval(threePoint)(PART1(a, 3, sync), PART1(b, 3, sync)); };
    if (sync == MANUAL_SYNC) {
      CHECK_THROWS_AS(next(), StaleGhostError);
      b.syncGhosts();
    }
    next();
    CHECK(valuesOf(a) == threePointStep(y, x));
  }
}

}  // namespace checker_tests
