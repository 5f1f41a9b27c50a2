// SPDX-License-Identifier: Apache-2.0
// Explicit views that change: who owns what while a program goes from one cut to another.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "support.h"

namespace recut_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kCells = 100;

void number(Numbers a, Int value) { a[idx] = value; }

using Cut = std::vector<Range>;

// The owner of a cell: overlaps are halved, and the lower part has the middle cell of an odd
// number.
std::size_t ownerOf(const Cut& cut, int cell) {
  for (std::size_t d = 0; d + 1 < cut.size(); ++d) {
    const int lo = static_cast<int>(cut[d + 1].first), hi = static_cast<int>(cut[d].last) + 1;
    if (cell < (hi > lo ? lo + (hi - lo + 1) / 2 : lo)) return d;
  }
  return cut.size() - 1;
}

class Program {
 public:
  Program() { a_ = 0; }

  // Every device writes a number of its own into all of its view.
  void round(const Cut& cut, bool backwards) {
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < cut.size(); ++d) order.push_back(d);
    if (backwards) std::reverse(order.begin(), order.end());
    round_ += 100;
    for (const std::size_t d : order)
      eval(number).device(devices_[d])(a_(cut[d]), round_ + static_cast<int>(d));
  }

  void expect(const Cut& cut) {
    std::vector<int> wanted;
    for (int i = 0; i < kCells; ++i) wanted.push_back(round_ + static_cast<int>(ownerOf(cut, i)));
    CHECK(valuesOf(a_) == wanted);
  }

  Numbers& array() { return a_; }
  const Device& device(std::size_t d) const { return devices_[d]; }

 private:
  std::vector<Device> devices_ = testDevices();
  Numbers a_{kCells};
  int round_ = 0;
};

const Cut kHalves = {Range(0, 49), Range(45, 99)};
const Cut kLowHalves = {Range(0, 34), Range(30, 99)};
const Cut kWideHalves = {Range(0, 59), Range(41, 99)};
const Cut kDisjointHalves = {Range(0, 41), Range(42, 99)};
const Cut kThirds = {Range(0, 34), Range(30, 69), Range(65, 99)};
const Cut kMoreForTheSecond = {Range(0, 34), Range(30, 79), Range(75, 99)};
const Cut kLessForTheSecond = {Range(0, 34), Range(30, 59), Range(55, 99)};
const Cut kOnlyOneBorderMoved = {Range(0, 34), Range(30, 76), Range(65, 99)};

}  // namespace

TEST_CASE("after the views have changed, their owners' values are the array's") {
  for (const auto& cuts : {std::vector<Cut>{kHalves, kLowHalves, kWideHalves, kDisjointHalves},
                           {kThirds, kMoreForTheSecond, kLessForTheSecond, kOnlyOneBorderMoved}}) {
    if (static_cast<int>(cuts[0].size()) > deviceCount()) continue;
    for (std::size_t from = 0; from < cuts.size(); ++from) {
      for (std::size_t to = 0; to < cuts.size(); ++to) {
        for (const bool backwards : {false, true}) {
          if (from == to) continue;
          CAPTURE(cuts.size());
          CAPTURE(from);
          CAPTURE(to);
          CAPTURE(backwards);
          Program program;
          program.round(cuts[from], backwards);
          program.round(cuts[from], backwards);
          program.expect(cuts[from]);
          program.round(cuts[to], backwards);
          // Where one view gets smaller and none larger, the next round shows it.
          const bool onlyShrinks = &cuts[from] == &cuts.back() && to == 0 && cuts[to].size() == 3;
          if (!onlyShrinks) program.expect(cuts[to]);
          program.round(cuts[to], backwards);
          program.expect(cuts[to]);
        }
      }
    }
  }
}

TEST_CASE("a device that joins between two others takes what they give up") {
  if (deviceCount() < 3) return;
  for (const bool joinsFirst : {false, true}) {
    CAPTURE(joinsFirst);
    Program program;
    program.round(kHalves, false);
    program.round(kHalves, false);
    Numbers& a = program.array();
    const auto join = [&] { eval(number).device(program.device(2))(a(Range(35, 59)), 7); };
    if (joinsFirst) join();
    eval(number).device(program.device(0))(a(Range(0, 39)), 5);
    eval(number).device(program.device(1))(a(Range(55, 99)), 6);
    if (!joinsFirst) join();
    std::vector<int> wanted(kCells, 7);
    std::fill(wanted.begin(), wanted.begin() + 38, 5);
    std::fill(wanted.begin() + 58, wanted.end(), 6);
    CHECK(valuesOf(a) == wanted);
  }
}

TEST_CASE("a kernel on a piece of a part leaves the parts what they are") {
  if (deviceCount() < 2) return;
  const Range pieces[] = {Range(0, 0), Range(0, 47), Range(45, 49), Range(0, 44), Range(47, 47)};
  for (const Range& piece : pieces) {
    CAPTURE(piece.first);
    CAPTURE(piece.last);
    Program program;
    program.round(kHalves, false);
    program.round(kHalves, false);
    Numbers& a = program.array();
    eval(number).device(program.device(0))(a(kHalves[0]), 1);
    eval(number).device(program.device(0))(a(piece), 2);
    // Would overwrite cells of the first part if that were not one any more.
    eval(number).device(program.device(1))(a(kHalves[1]), 3);
    std::vector<int> wanted(kCells, 1);
    for (int i = static_cast<int>(piece.first); i <= static_cast<int>(piece.last); ++i)
      wanted[static_cast<std::size_t>(i)] = 2;
    std::fill(wanted.begin() + 48, wanted.end(), 3);
    CHECK(valuesOf(a) == wanted);
  }
}

TEST_CASE("a view that was made from a part is a piece of it in the first round, too") {
  if (deviceCount() < 2) return;
  Program program;
  program.round(kHalves, false);
  Numbers& a = program.array();
  eval(number).device(program.device(0))(a(kHalves[0])(Range(46, 46)), 2);
  eval(number).device(program.device(1))(a(kHalves[1]), 3);
  std::vector<int> wanted(kCells, 100);
  wanted[46] = 2;
  std::fill(wanted.begin() + 48, wanted.end(), 3);
  CHECK(valuesOf(a) == wanted);
}

TEST_CASE("a part of a new cut reads the array's values, not what its device kept for another") {
  if (deviceCount() < 2) return;
  Program program;
  program.round(kHalves, false);
  program.round(kHalves, false);
  // Device 1 kept a value of its own of cells 45 to 47, device 0 of 48 and 49.
  Numbers& a = program.array();
  Numbers seen(kCells);
  seen = 0;
  eval(copyNumbers).device(program.device(1))(seen(Range(40, 99)), a(Range(40, 99)));
  CHECK(seen(46) == 200);
  eval(increment).device(program.device(1))(a(Range(40, 99)));
  eval(increment).device(program.device(0))(a(Range(0, 44)));
  std::vector<int> wanted(kCells, 201);
  std::fill(wanted.begin() + 48, wanted.end(), 202);
  CHECK(valuesOf(a) == wanted);
}

}  // namespace recut_tests
