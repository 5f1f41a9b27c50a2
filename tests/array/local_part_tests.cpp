// SPDX-License-Identifier: Apache-2.0
// The parts of arrays in one process, which has all of them.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace local_part_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;
using Grid = Array<int, 2>;

void timesTwo(Grid out, Grid in) { out[idy][idx] = 2 * in[idy][idx]; }

/// How often each cell lies in a part, row by row.
template <class Parts>
std::vector<int> cover(const Parts& parts, std::size_t rows, std::size_t columns) {
  std::vector<int> times(rows * columns, 0);
  for (const auto& part : parts)
    for (std::size_t i = 0; i < part.extents()[0]; ++i)
      for (std::size_t j = 0; j < part.extents()[1]; ++j)
        ++times[(part.first()[0] + i) * columns + part.first()[1] + j];
  return times;
}

}  // namespace

TEST_CASE("one process has all parts of an array, and each cell once") {
  Grid a(17, 6), b(17, 6);
  const std::vector<int> once(17 * 6, 1);
  for (int cut = 0; cut < 4; ++cut) {
    a = 1;
    b = 2;
    const int all = getDeviceNumber();
    if (cut == 1) eval(timesTwo).devices(all)(PART1(b, 1), PART1(a, 1));
    if (cut == 2) eval(timesTwo).devices(all)(PART12(b), PART12(a));
    if (cut == 3) eval(timesTwo).devices(all)(b, a);
    CHECK(cover(a.local(), 17, 6) == once);
    CHECK(cover(b.local(), 17, 6) == once);
    CHECK(cover(std::as_const(b).local(), 17, 6) == once);
  }
}

TEST_CASE("an array that no launch has cut falls into even bands, one for each device in order") {
  Grid a(10, 4);
  const std::vector<Device> all = devices();
  const auto parts = a.local();
  REQUIRE(parts.size() == std::min<std::size_t>(all.size(), 10));
  std::size_t row = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(&parts[i].device().state() == &all[i].state());
    CHECK(parts[i].first() == std::array<std::size_t, 2>{row, 0});
    CHECK(parts[i].extents()[1] == 4);
    CHECK(parts[i].wholeExtents() == std::array<std::size_t, 2>{10, 4});
    CHECK(parts[i].atBegin(0) == (i == 0));
    CHECK(parts[i].atEnd(0) == (i + 1 == parts.size()));
    CHECK((parts[i].atBegin(1) && parts[i].atEnd(1)));
    row += parts[i].extents()[0];
  }
  CHECK(row == 10);
}

TEST_CASE("what forEachLocal writes devices read, and it reads what they write") {
  Grid a(9, 5), b(9, 5);
  forEachLocal(a, [](const LocalPart<int, 2>& part) {
    for (std::size_t i = part.first()[0]; i < part.first()[0] + part.extents()[0]; ++i)
      for (std::size_t j = 0; j < 5; ++j) part(i, j) = static_cast<int>(10 * i + j);
  });
  for (int round = 1; round <= 2; ++round) {
    eval(timesTwo).devices(getDeviceNumber())(PART1(b), PART1(a));
    int wrong = 0;
    forEachLocal(std::as_const(b), [&](const LocalPart<const int, 2>& part) {
      for (std::size_t i = 0; i < part.extents()[0]; ++i)
        for (std::size_t j = 0; j < 5; ++j)
          if (part.data()[i * part.strides()[0] + j] !=
              2 * static_cast<int>(10 * (part.first()[0] + i) + j) + 2 * (round - 1))
            ++wrong;
    });
    CHECK(wrong == 0);
    for (const auto& part : a.local())
      for (std::size_t i = 0; i < part.extents()[0]; ++i)
        for (std::size_t j = 0; j < 5; ++j) ++part.data()[i * part.strides()[0] + j];
  }
}

TEST_CASE("the parts of a view count from the view's first cell") {
  Grid a(8, 8);
  a = 0;
  Grid& view = a(Range(2, 5), Range(3, 6));
  CHECK(cover(view.local(), 4, 4) == std::vector<int>(16, 1));
  forEachLocal(view, [](const LocalPart<int, 2>& part) {
    CHECK(part.wholeExtents() == std::array<std::size_t, 2>{4, 4});
    part(part.first()[0], 1) = 7;
  });
  CHECK(a(2, 4).value() == 7);
  CHECK(a(0, 1).value() == 0);
}

TEST_CASE("indices and dimensions outside of a part, and symbols, are refused") {
  Grid a(6, 5);
  a = 1;
  const auto parts = a.local();
  const auto& last = parts.back();
  CHECK(contains(messageOf<ShapeError>([&] { static_cast<void>(last(6, 2)); }),
                 "index (6, 2) is outside of this part of the array, which has ("));
  CHECK(contains(messageOf<ShapeError>([&] { static_cast<void>(last(5, -1)); }),
                 "to 5, 0 to 4): indices count from the array's first cell"));
  CHECK(messageOf<ShapeError>([&] { static_cast<void>(last.atEnd(2)); }) ==
        "dimension 2 of a part: it has dimensions 0 to 1");
  CHECK(messageOf<ShapeError>([] { static_cast<void>(Grid().local()); }) ==
        "this Array was never given a size, or was moved from");
}

}  // namespace local_part_tests
