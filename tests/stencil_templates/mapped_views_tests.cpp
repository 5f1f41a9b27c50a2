// SPDX-License-Identifier: Apache-2.0
// Stencils on views with strides, of other shapes and transposed give what they give on copies.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "stencil_support.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/messages.h"
#include "tests/seeds.h"

namespace mapped_views_tests {

using namespace hpl;
using namespace stencil_tests;
using hpl_tests::messageOf;

namespace {

constexpr int kMask = 1023;

using Cells = Array<int, 2>;

Stencil star() {
  Stencil result([](Neighbourhood<int, 2> p, Int by) {
    return (p(0, 0) + p(-1, 0) * 3 + p(0, 1) - p(0, -1) + by) & kMask;
  });
  result.boundary(Nearest()).boundary(Face::LEFT, Periodic()).boundary(Face::RIGHT, Periodic());
  return result;
}

/// Cells beyond which the stencil reads keep their values.
Stencil inner() {
  Stencil result([](Neighbourhood<int, 2> p) { return (p(-1, 0) + p(1, 0) * 3) & kMask; });
  result.boundary(Untouched());
  return result;
}

/// `storage` seen as n x m cells, in the way `kind`.
Cells seenAs(int kind, Array<int, 1>& storage, int n, int m) {
  Cells grid = storage(Range(0, 4 * n * m - 1)).reshaped(2 * n, 2 * m);
  switch (kind) {
    case 0:
      return storage(Range(n, n + n * m - 1)).reshaped(n, m);
    case 1:
      return grid(Range(1, 2 * n - 1, 2), Range(0, m - 1));
    case 2:
      return grid(Range(0, 2 * n - 2, 2), Range(1, 2 * m - 1, 2));
    default:
      return storage(Range(0, n * m - 1)).reshaped(m, n).transposed();
  }
}
constexpr int kViews = 4;

std::vector<int> valuesOf(const Cells& cells) {
  std::vector<int> values;
  for (std::size_t y = 0; y < cells.getDimension(0); ++y)
    for (std::size_t x = 0; x < cells.getDimension(1); ++x) values.push_back(cells(y, x));
  return values;
}

std::vector<int> valuesOf(const Array<int, 1>& cells) {
  std::vector<int> values(cells.size());
  cells.copyTo(values.data());
  return values;
}

/// A view of some storage, and an array with the same cells.
struct Pair {
  Array<int, 1> storage;
  Cells view, box;
  std::vector<int> others;  ///< the cells of the storage that are not the view's

  Pair(int kind, int n, int m, unsigned seed)
      : storage(4 * n * m), view(seenAs(kind, storage, n, m)), box(n, m), kind_(kind) {
    std::mt19937 random(seed);
    for (int i = 0; i < 4 * n * m; ++i) storage(i) = static_cast<int>(random() % 1000);
    box = view;
    others = cellsBeside();
  }

  bool isSame() const { return valuesOf(view) == valuesOf(box) && cellsBeside() == others; }

 private:
  std::vector<int> cellsBeside() const {
    std::vector<int> values = valuesOf(storage);
    Array<int, 1> places(storage.size());
    for (std::size_t i = 0; i < places.size(); ++i) places(i) = static_cast<int>(i);
    const auto n = static_cast<int>(box.getDimension(0)), m = static_cast<int>(box.getDimension(1));
    for (const int place : valuesOf(seenAs(kind_, places, n, m)))
      values[static_cast<std::size_t>(place)] = -1;
    return values;
  }

  int kind_;
};

}  // namespace

TEST_CASE("a stencil on views that are no boxes gives what it gives on copies of them") {
  for (const unsigned seed : Seeds(1, 16)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int n = pick(4, 30), m = pick(4, 30);
    Pair in(pick(0, kViews - 1), n, m, seed), out(pick(0, kViews - 1), n, m, seed + 100);
    const std::vector<Device> all = devices(defaultDevice().type());
    star().devices(all)(in.view, out.view, 7);
    star().devices(all)(in.box, out.box, 7);
    REQUIRE(out.isSame());
    REQUIRE(in.isSame());
    inner().devices(all)(in.view, out.view);
    inner().devices(all)(in.box, out.box);
    REQUIRE(out.isSame());
    // One of the two may be a box.
    star()(in.box, out.view, 3);
    star()(in.view, out.box, 3);
    REQUIRE(out.isSame());
  }
}

TEST_CASE("iterations on views that are no boxes leave the result in the input") {
  for (const unsigned seed : Seeds(1, 16)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int n = pick(4, 30), m = pick(4, 30), steps = pick(0, 9);
    CAPTURE(steps);
    Pair in(pick(0, kViews - 1), n, m, seed), out(pick(0, kViews - 1), n, m, seed + 100);
    star().devices().iterate(steps)(in.view, out.view, 7);
    star().devices().iterate(steps)(in.box, out.box, 7);
    REQUIRE(in.isSame());
    out.view = out.box;
    // Only one of the two is a view: the program's array goes on naming its cells.
    const Cells alias = out.box;
    Cells scratch(n, m);
    star().iterate(steps)(out.box, in.view, 1);
    scratch = out.box;
    star().iterate(steps)(out.view, in.box, 1);
    REQUIRE(valuesOf(alias) == valuesOf(scratch));
    REQUIRE(out.isSame());
  }
}

TEST_CASE("a launch on views that are no boxes is repeated with the cells of the moment") {
  Pair in(2, 9, 8, 1), out(3, 9, 8, 2);
  FRunner runner = star()(in.view, out.view, 1);
  star()(in.box, out.box, 1);
  REQUIRE(out.isSame());
  in.view(3, 4) = 77;
  in.box(3, 4) = 77;
  runner.run();
  star()(in.box, out.box, 1);
  runner.wait();
  CHECK(out.isSame());
}

TEST_CASE("until, and tuning, on views that are no boxes") {
  const int n = 24, m = 20;
  Array<float, 2> storage(2 * n, m);
  storage = 0.0f;
  Array<float, 2> view = storage(Range(0, 2 * n - 1, 2), Range(0, m - 1)), other(n, m), box(n, m);
  view(5, 5) = 100.0f;
  box = view;
  Stencil heat(
      [](Neighbourhood<float, 2> t) { return 0.25f * (t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1)); });
  heat.boundary(Fixed(0.0f));
  const TuneResult tuned = heat.iterate(4).tune(view, other);
  CHECK(tuned.seconds >= 0);
  CHECK(view(5, 5) == 100.0f);
  const StencilRun onView = heat.until(0.5, 2).iterate(200)(view, other);
  const StencilRun onBox = heat.until(0.5, 2).iterate(200)(box, other);
  CHECK(onView.steps == onBox.steps);
  CHECK(onView.converged);
  CHECK(view(6, 6) == box(6, 6));
  CHECK(storage(11, 6) == 0.0f);
}

namespace {

/// Two functions over two fields, with questions after every second step in which the host changes
/// a cell.
void runProgram(Cells a, Cells b, int steps) {
  StencilProgram program;
  Temporary<int, 2> middle;
  program.apply(Stencil([](Neighbourhood<int, 2> p, Neighbourhood<int, 2> q) {
                  return (p(0, 0) + q(1, 0) - q(0, -1)) & kMask;
                }).boundary(Fixed(2)))(a, b, middle);
  program.apply(Stencil([](Neighbourhood<int, 2> p) {
                  return (p(0, 0) * 3 + p(0, 1) + p(-1, 0)) & kMask;
                }).boundary(Nearest()))(middle, b);
  program.apply(Stencil([](Neighbourhood<int, 2> p, Neighbourhood<int, 2> q) {
                  return (p(0, 0) + q(-1, 1)) & kMask;
                }).boundary(Fixed(1)))(a, b, a);
  program.every(2, [&](std::int64_t step) {
    a(1, 2) = (a(1, 2) + static_cast<int>(step)) & kMask;
    return false;
  });
  program.devices().run(steps);
}

}  // namespace

TEST_CASE("programs on views that are no boxes give what they give on copies of them") {
  for (const unsigned seed : Seeds(1, 8)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int n = pick(4, 30), m = pick(4, 30), steps = pick(1, 7);
    Pair a(pick(0, kViews - 1), n, m, seed), b(pick(0, kViews - 1), n, m, seed + 100);
    runProgram(a.view, b.view, steps);
    runProgram(a.box, b.box, steps);
    REQUIRE(a.isSame());
    REQUIRE(b.isSame());
  }
}

TEST_CASE("two colours of one array are two arrays to a stencil and to a program") {
  const int n = 12, m = 10;
  Cells grid(2 * n, m), even(n, m), odd(n, m);
  for (int y = 0; y < 2 * n; ++y)
    for (int x = 0; x < m; ++x) grid(y, x) = (y * 31 + x * 7) & kMask;
  const Range columns(0, m - 1);
  Cells evenRows = grid(Range(0, 2 * n - 2, 2), columns);
  Cells oddRows = grid(Range(1, 2 * n - 1, 2), columns);
  even = evenRows;
  odd = oddRows;
  star()(evenRows, oddRows, 2);
  star()(even, odd, 2);
  CHECK(valuesOf(oddRows) == valuesOf(odd));
  star().iterate(3)(evenRows, oddRows, 2);
  star().iterate(3)(even, odd, 2);
  CHECK(valuesOf(evenRows) == valuesOf(even));
  odd = oddRows;
  runProgram(evenRows, oddRows, 3);
  runProgram(even, odd, 3);
  CHECK(valuesOf(oddRows) == valuesOf(odd));
  CHECK(valuesOf(evenRows) == valuesOf(even));
}

TEST_CASE("receivers record from a view that is no box, and put samples into boxes only") {
  const int n = 8, m = 6;
  Pair field(2, n, m, 3);
  Cells onView(4, m), onBox(4, m), long2(8, m);
  const auto recorded = [&](Cells& cells, Cells& samples) {
    StencilProgram program;
    program.apply(star())(cells, cells, 1);
    program.record(cells, samples, 3, Range(0, m - 1));
    program.run(4);
  };
  recorded(field.view, onView);
  recorded(field.box, onBox);
  CHECK(valuesOf(onView) == valuesOf(onBox));
  CHECK(field.isSame());
  Cells everySecond = long2(Range(0, 7, 2), Range(0, m - 1));
  expectMessage(messageOf<ShapeError>([&] { recorded(field.view, everySecond); }),
                {"the samples are a view of", "without strides"});
}

TEST_CASE("views that are no boxes: what is refused for boxes is refused for them") {
  Pair in(2, 9, 8, 1), small(0, 5, 8, 2);
  const std::vector<int> before = valuesOf(in.storage);
  expectMessage(messageOf<ArgumentError>([&] { star()(in.view, in.view, 1); }),
                {"are the same cells"});
  expectMessage(messageOf<ShapeError>([&] { star()(in.view, small.view, 1); }), {"the same shape"});
  Cells other(9, 8);
  const Cells constant = in.view;
  expectMessage(messageOf<ArgumentError>([&] { star().iterate(3)(constant, other, 1); }),
                {"neither may be const"});
  // Two outputs with cells in common.
  Cells grid(12, 8);
  grid = 1;
  const Range columns(0, 7);
  Cells one = grid(Range(0, 8, 2), columns), two = grid(Range(2, 10, 2), columns);
  Stencil both([](Neighbourhood<int, 2> p, Output<int> low, Output<int> high) {
    low = p(0, 0);
    high = p(0, 0) + 1;
  });
  Cells source(5, 8);
  source = 2;
  expectMessage(messageOf<ArgumentError>([&] { both(source, one, two); }),
                {"output 2 and output 1 are the same cells"});
  StencilProgram program;
  program.apply(star())(one, source, 1);
  expectMessage(messageOf<ArgumentError>([&] { program.apply(star())(two, source, 1); }),
                {"two views that share cells"});
  CHECK(grid(2, 2) == 1);
  CHECK(valuesOf(in.storage) == before);
}

}  // namespace mapped_views_tests
