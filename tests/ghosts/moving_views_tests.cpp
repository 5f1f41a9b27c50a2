// SPDX-License-Identifier: Apache-2.0
// Disjoint explicit views whose borders and devices move from round to round: every update counts,
// at any time, as if one device had done all.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "support.h"
#include "tests/runtime/subprocess.h"
#include "tests/seeds.h"

namespace moving_views_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kCells = 360;

struct Share {
  std::size_t device;
  int first, last;
};
using Round = std::vector<Share>;

// An array, and what a sequential program makes of it.
struct Both {
  Both() : expected(kCells, 0) { a = 0; }

  void add(const Share& share) {
    eval(increment).device(devices[share.device % devices.size()])(
        a(Range(share.first, share.last)));
    for (int i = share.first; i <= share.last; ++i) ++expected[static_cast<std::size_t>(i)];
  }
  void add(const Round& round) {
    for (const Share& share : round) add(share);
  }
  void check() { CHECK(valuesOf(a) == expected); }

  Numbers a{kCells};
  std::vector<int> expected;
  std::vector<Device> devices = testDevices();
};

// Events that may happen to the whole array between two rounds.
constexpr int kBetweens = 7;
void between(int which, Both& both) {
  std::vector<int>& expected = both.expected;
  const auto incremented = [&] {
    for (int& value : expected) ++value;
  };
  if (which == 1) {
    for (int i = 0; i < kCells; ++i) both.a(i) = i;
    std::iota(expected.begin(), expected.end(), 0);
  } else if (which == 2) {
    both.a = 0;
    std::fill(expected.begin(), expected.end(), 0);
  } else if (which == 3) {
    eval(increment).device(both.devices[0])(both.a);
    incremented();
  } else if (which == 4) {
    eval(increment)(PART1(both.a, 2));
    both.a.syncGhosts();
    incremented();
  } else if (which == 5) {
    Numbers other(kCells);
    expected = someValues(kCells, 3);
    other.copyFrom(expected.data());
    both.a = other;
  } else if (which == 6) {
    eval(increment).devices(deviceCount())(both.a);
    incremented();
  }
}

const Round kFirst = {{2, 0, 149}, {1, 150, 269}, {0, 270, 359}};
const Round kSecond = {{0, 0, 119}, {1, 120, 239}, {2, 240, 359}};

}  // namespace

TEST_CASE("disjoint views that move to other devices and borders count every update") {
  for (int which = 0; which < kBetweens; ++which) {
    Round second = kSecond;
    do {
      CAPTURE(which);
      Both both;
      both.add(kFirst);
      between(which, both);
      both.add(second);
      both.check();
      both.add(second);
      both.add(kFirst);
      both.check();
    } while (
        std::next_permutation(second.begin(), second.end(),
                              [](const Share& x, const Share& y) { return x.first < y.first; }));
  }
}

TEST_CASE("disjoint views that move count every update in the middle of a round, too") {
  Both both;
  for (int i = 0; i < 3; ++i) {
    for (const Round& round : {kFirst, kSecond, kSecond}) {
      for (const Share& share : round) {
        both.add(share);
        both.check();
      }
    }
  }
}

TEST_CASE("a device that takes no view any more leaves its cells to the others") {
  Both both;
  both.add(kFirst);
  for (int i = 0; i < 3; ++i) both.add({{1, 130, 359}, {0, 0, 129}});
  both.check();
}

TEST_CASE("after a write of the whole array overlapping views are forgotten") {
  if (deviceCount() < 2) return;
  for (int which = 1; which < kBetweens; ++which) {
    for (const bool backwards : {false, true}) {
      CAPTURE(which);
      CAPTURE(backwards);
      Both both;
      for (int i = 0; i < 2; ++i) both.add({{0, 0, 199}, {1, 160, 359}});
      between(which, both);
      if (which == 1) continue;  // element by element is no write of the whole
      both.expected = valuesOf(both.a);
      Round disjoint = {{0, 0, 169}, {1, 170, 359}};
      if (backwards) std::reverse(disjoint.begin(), disjoint.end());
      for (const Share& share : disjoint) {
        both.add(share);
        both.check();
      }
    }
  }
}

TEST_CASE("random disjoint views with moving borders equal a sequential program") {
  for (const unsigned seed : Seeds(1, 40)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Both both;
    Round round;
    for (int step = 0; step < 12; ++step) {
      if (round.empty() || below(3) > 0) {
        std::vector<int> borders{0, kCells};
        for (int i = below(5); i > 0; --i) borders.push_back(10 * (1 + below(35)));
        std::sort(borders.begin(), borders.end());
        borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
        round.clear();
        for (std::size_t i = 0; i + 1 < borders.size(); ++i)
          round.push_back(
              {static_cast<std::size_t>(below(deviceCount())), borders[i], borders[i + 1] - 1});
      }
      std::shuffle(round.begin(), round.end(), random);
      for (const Share& share : round) {
        both.add(share);
        if (below(8) == 0) both.check();
      }
      if (below(4) == 0) between(below(kBetweens), both);
    }
    both.check();
  }
}

TEST_CASE("several overlapping views on each device stay parts while their owners take turns") {
  if (deviceCount() < 2) return;
  const std::vector<Range> views = {Range(0, 92), Range(88, 182), Range(178, 272), Range(268, 359)};
  for (const bool grouped : {false, true}) {
    CAPTURE(grouped);
    Numbers now(kCells), next(kCells);
    std::vector<int> x = someValues(kCells, 4), y = someValues(kCells, 5);
    now.copyFrom(x.data());
    next.copyFrom(y.data());
    const auto devices = testDevices();
    for (int step = 0; step < 10; ++step) {
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t v = grouped ? (i % 2) * 2 + i / 2 : i;
        eval(threePoint).device(devices[v % 2])(next(views[v]), now(views[v]));
      }
      if (step % 2 == 1) next.syncGhosts();
      y = threePointStep(x, y);
      std::swap(x, y);
      swap(now, next);
    }
    CHECK(valuesOf(now) == x);
  }
}

TEST_CASE("cells that become a device's own keep its value beside a reader of the whole array") {
  const std::vector<Device> devices = testDevices();
  if (devices.size() < 2) return;
  const Device& first = devices[0];
  const Device& second = devices[1];
  const auto add = [](Numbers out, Int value) { out[idx] += value; };
  const auto sumInto = [](Numbers out, const Numbers& in) { out[idx] += in[idx] - in[idx]; };
  Numbers a(300), ofAll(300), ofPart(150);
  a = 0;
  // The second launch makes them neighbours: 10, then 11 from cell 130 on, is what both begin with.
  const auto round = [&] {
    eval(add).device(first)(a(Range(0, 149)), 10);
    eval(add).device(second)(a(Range(130, 279)), 1);
  };
  round();
  round();
  eval(add).device(first)(a(Range(0, 149)), 10);
  // The first device gets the array's values beside its own, then works with its own.
  eval(copyNumbers).device(first)(ofAll, a);
  eval(copyNumbers).device(first)(ofPart, a(Range(0, 149)));
  CHECK(valuesOf(ofPart)[145] == 31);
  // The second one gives the common cells up, while the first one reads the whole array.
  Numbers scratch(150), other(300);
  scratch = 0;
  other = 0;
  eval(sumInto).devices({first, second})(std::vector<Numbers>{scratch, a(Range(150, 299))},
                                         std::vector<Numbers>{a, other});
  std::vector<int> expected(20, 30);
  std::fill(expected.begin() + 10, expected.end(), 31);
  CHECK(valuesOf(a(Range(130, 149))) == expected);
}

TEST_CASE("child: views with common cells and then other ones" * doctest::skip()) {
  const auto devices = testDevices();
  Numbers a(kCells);
  a = 0;
  a.label("level");
  const auto round = [&](const Range& lower, const Range& upper) {
    eval(increment).device(devices[0])(a(lower));
    eval(increment).device(devices[1])(a(upper));
    a.syncGhosts();
  };
  for (int i = 0; i < 3; ++i) round(Range(0, 199), Range(160, 359));
  for (int i = 0; i < 3; ++i) round(Range(0, 219), Range(180, 359));
  for (int i = 0; i < 3; ++i) round(Range(0, 99), Range(100, 359));  // nothing in common
  for (int i = 0; i < 3; ++i) round(Range(0, 149), Range(150, 359));
}

TEST_CASE("HPL_CHECK=ghosts says which views are parts no more, once, where views had ghosts") {
  if (deviceCount() < 2) return;
  const char* child = "child: views with common cells and then other ones";
  const auto told = subprocess::run(child, "HPL_CHECK=ghosts HPL_LOG=warn");
  CAPTURE(told.output);
  CHECK(told.exitCode == 0);
  CHECK(subprocess::occurrences(told.output, "is no part of device") == 4);
  CHECK(told.output.find("view [0:200) of array \"level\" is no part of device") !=
        std::string::npos);
  CHECK(told.output.find("the device writes [0:220) instead") != std::string::npos);
  const auto silent = subprocess::run(child, "HPL_CHECK=none HPL_LOG=warn");
  CHECK(silent.output.find("is no part of device") == std::string::npos);
}

}  // namespace moving_views_tests
