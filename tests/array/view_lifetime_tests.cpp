// SPDX-License-Identifier: Apache-2.0
// How long views live: those that are held as long as their holders, references to others for a
// stated number of further views, and no loop over views needs more and more memory.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"
#include "tests/resident_memory.h"

namespace view_lifetime_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::growthKiB;
using hpl_tests::kMeasuresMemory;
using hpl_tests::messageOf;

// As the guide says.
constexpr int kKept = 4096;
constexpr int kCells = 100000;
// Memory that a loop may add without growing: caches that fill up, pages of the allocator.
constexpr std::size_t kSlackKiB = 8192;

using Line = Array<int, 1>;

void addOne(Line a) { a[idx] += 1; }

Line numbered() {
  Line a(kCells);
  for (int i = 0; i < kCells; ++i) a(i) = i;
  return a;
}

// Different views of the array, each of 10 cells, none of them one of an earlier call with numbers
// that differ.
void makeViews(const Line& a, int count, int from = 0) {
  for (int i = from; i < from + count; ++i) CHECK_FALSE(a(Range(i, i + 9)).size() != 10);
}

}  // namespace

TEST_CASE("a copy of a view's handle holds the view, however many others are made") {
  const Line a = numbered();
  auto held = a(Range(50000, 50009));
  const Line* const known = &a(Range(50000, 50009));
  makeViews(a, 3 * kKept);
  CHECK(held(3).value() == 50003);
  held(3) = -1;
  CHECK(a(50003) == -1);
  eval(addOne)(held);
  CHECK(a(50003) == 0);
  CHECK(known == &a(Range(50000, 50009)));
  held = 7;
  CHECK(a(50009) == 7);
}

TEST_CASE("all ways to hold a view keep it: copies, moves, members, empty handles that adopt it") {
  const Line a = numbered();
  Line adopted;
  adopted = a(Range(60000, 60009));
  std::vector<Line> several;
  for (int i = 0; i < 20; ++i) several.push_back(a(Range(70000 + i, 70005 + i)));
  Line moved(std::move(a(Range(80000, 80004))));
  Line x = a(Range(90000, 90004)), y = a(Range(91000, 91004));
  swap(x, y);
  makeViews(a, 2 * kKept + 10);
  CHECK(adopted(1).value() == 60001);
  for (int i = 0; i < 20; ++i) CHECK(several[static_cast<std::size_t>(i)](2).value() == 70002 + i);
  CHECK(moved(4).value() == 80004);
  CHECK(x(0).value() == 91000);
  CHECK(y(0).value() == 90000);
}

TEST_CASE("a reference to a view is good until 4096 further views of the array have been made") {
  const Line a = numbered();
  Line& view = a(Range(50000, 50009));
  makeViews(a, kKept);
  CHECK(view(2).value() == 50002);
  view(2) = 5;
  CHECK(a(50002) == 5);
  // Views that exist, and those of other arrays, do not count.
  const Line b = numbered();
  makeViews(b, 100);
  makeViews(a, kKept - 10, 10);
  CHECK(view(2).value() == 5);
  makeViews(a, 1, kKept);
  CHECK_THROWS_AS((void)view(2).value(), ShapeError);
  // Asking again gives the same cells, and counts anew.
  Line& again = a(Range(50000, 50009));
  CHECK(again(2).value() == 5);
  makeViews(a, kKept, 20000);
  CHECK(again(2).value() == 5);
}

TEST_CASE("whatever is done with a reference to a dropped view, the error says how to keep it") {
  const Line a = numbered();
  Line& view = a(Range(50000, 50009));
  auto element = view(4);
  Line& outer = a(Range(50000, 50999));
  Line& nested = outer(Range(10, 19));
  makeViews(a, 3 * kKept);
  Line other(10);
  other = 3;
  const auto expect = [](const char* what, auto&& use) {
    CAPTURE(what);
    const std::string message = messageOf<ShapeError>(use);
    INFO(message);
    CHECK(contains(message, "a view that its array has dropped"));
    CHECK(contains(message, "the last 4096 views"));
    CHECK(contains(message, "auto v = a(Range(..))"));
  };
  expect("read", [&] { (void)view(0).value(); });
  expect("write", [&] { view(0) = 1; });
  expect("update", [&] { view(0) += 1; });
  expect("element", [&] { (void)element.value(); });
  expect("nested", [&] { (void)nested(0).value(); });
  expect("view of it", [&] { (void)view(Range(1, 2)); });
  expect("assign to", [&] { view = other; });
  expect("move to", [&] { view = Line(other); });
  expect("assign from", [&] { other = view; });
  expect("fill", [&] { view = 5; });
  expect("data", [&] { (void)view.data(); });
  expect("size", [&] { (void)view.size(); });
  expect("launch", [&] { eval(addOne)(view); });
  expect("exchange", [&] { view.syncGhosts(); });
  expect("a copy", [&] {
    Line copy = view;
    (void)copy(0).value();
  });
  CHECK_FALSE(view.valid());
  for (int i = 0; i < 10; ++i) CHECK(a(50000 + i) == 50000 + i);
}

TEST_CASE("a view of a view lives without the one that it was made from") {
  const Line a = numbered();
  auto nested = a(Range(50000, 50999))(Range(10, 19));
  makeViews(a, 3 * kKept);
  CHECK(nested(1).value() == 50011);
  nested = 4;
  CHECK(a(50010) == 4);
  CHECK(&a(Range(50000, 50999))(Range(10, 19)) == &a(Range(50000, 50999))(Range(10, 19)));
}

TEST_CASE("views die with their array, and held ones keep it") {
  Line held;
  {
    const Line a = numbered();
    held = a(Range(40000, 40009));
    makeViews(a, 100);
  }
  CHECK(held(9).value() == 40009);
}

TEST_CASE("a launch that is repeated keeps its views") {
  const Line a = numbered();
  FRunner runner = eval(addOne)(a(Range(50000, 50009)));
  makeViews(a, 3 * kKept);
  runner.run();
  CHECK(a(50000) == 50002);
}

TEST_CASE("what is written through views that were dropped stays written") {
  const Line a = numbered();
  for (int i = 0; i < 3 * kKept; ++i) a(Range(i, i + 9))(0) = -i;
  eval(addOne)(a);
  for (int i = 0; i < 3 * kKept; ++i) REQUIRE(a(i) == 1 - i);
}

TEST_CASE("a loop over a million moving ranges needs constant memory: reads and writes") {
  const Line a = numbered();
  long sum = 0;
  const auto walk = [&](int i) {
    const int at = i % (kCells - 20), length = 2 + i / (kCells - 20);
    Line& view = a(Range(at, at + length));
    sum += view(1).value();
    view(0) = at;
  };
  const std::size_t growth = growthKiB(50000, 950000, walk);
  MESSAGE("grew by ", growth, " KiB");
  if (kMeasuresMemory) CHECK(growth < kSlackKiB);
  CHECK(sum > 0);
}

TEST_CASE("a loop over moving ranges needs constant memory: assignments and fills") {
  const Line a = numbered();
  Line b(kCells);
  const auto walk = [&](int i) {
    const int at = i % (kCells - 20), length = 2 + i / (kCells - 20);
    b(Range(at, at + length)) = a(Range(at, at + length));
    b(Range(at + 1, at + 2)) = -1;
  };
  const std::size_t growth = growthKiB(20000, 180000, walk);
  MESSAGE("grew by ", growth, " KiB");
  if (kMeasuresMemory) CHECK(growth < kSlackKiB);
  CHECK(b(0).value() == 0);
}

TEST_CASE("a loop over moving ranges needs constant memory: launches") {
  const Line a = numbered();
  const auto walk = [&](int i) { eval(addOne)(a(Range(i, i + 9))); };
  // A kernel remembers its last thousand or so of plans.
  const std::size_t growth = growthKiB(3000, 6000, walk);
  MESSAGE("grew by ", growth, " KiB");
  if (kMeasuresMemory) CHECK(growth < 2 * kSlackKiB);
  CHECK(a(5000) == 5010);
}

TEST_CASE("a thread's views stay while other threads make theirs") {
  const Line a = numbered();
  Line& mine = a(Range(50000, 50009));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3 * kKept; ++i) {
        Line& view = a(Range(i, i + 10 + t));
        if (view(1).value() != i + 1) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(mine(1).value() == 50001);
}

}  // namespace view_lifetime_tests
