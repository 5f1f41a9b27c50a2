// SPDX-License-Identifier: Apache-2.0
// gridx, gridy and gridz, the position in the whole array, and of(x), the domain of an argument.
#include <doctest/doctest.h>

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "tests/messages.h"

namespace origin_tests {

using namespace hpl;

namespace {

using Numbers = Array<int, 1>;
using Grid = Array<int, 2>;
using Volume = Array<int, 3>;

void number(Numbers a) { a[idx] = cast<int>(gridx) + 1; }
void numberGrid(Grid a) { a[idy][idx] = cast<int>(1000 * gridy + gridx); }
void numberTransposed(Grid a) { a[idx][idy] = cast<int>(1000 * gridx + gridy); }
void numberVolume(Volume a) { a[idz][idy][idx] = cast<int>(10000 * gridz + 100 * gridy + gridx); }
Int position(Int shift) { return cast<int>(gridx) + shift; }
void numberByCall(Numbers a) { a[idx] = call(position)(1); }
void numberWithBarrier(Numbers a) {
  Array<int, 1, Local> tile(16);
  tile[lidx] = cast<int>(gridx);
  barrier(LOCAL);
  a[idx] = tile[lidx] + 1;
}
void numberLoops(Grid a, Int columns) {
  Int k;
  for_(k = 0, k < columns, k++) {
    a[idx][k] = 1000 * cast<int>(gridx) + k;
  }
}
void lookUp(Numbers out, const Numbers& table) { out[idx] = table[gridx]; }
void sumRows(const Grid& a, Numbers sums, Int columns) {
  Int sum = 0, k;
  for_(k = 0, k < columns, k++) {
    sum += a[idx][k];
  }
  sums[idx] = sum;
}
void setAll(Volume a) { a[idz][idy][idx] += 1; }

std::vector<Device> someDevices() { return devices(defaultDevice().type()); }

void checkRow(const Numbers& a, int from, int to, int first) {
  for (int i = from; i < to; ++i) {
    CAPTURE(i);
    CHECK(a(i) == first + i - from);
  }
}

}  // namespace

TEST_CASE("gridx is idx where the argument is the whole array") {
  Numbers a(37);
  eval(number)(a);
  checkRow(a, 0, 37, 1);
  a = 0;
  eval(number).local(16)(a);
  checkRow(a, 0, 37, 1);
  a = 0;
  eval(number).interpret(a);
  checkRow(a, 0, 37, 1);
  Volume v(3, 4, 5);
  eval(numberVolume)(v);
  CHECK(v(2, 3, 4).value() == 20304);
}

TEST_CASE("gridx of a view is the position in the array") {
  for (const bool interpreted : {false, true}) {
    CAPTURE(interpreted);
    Numbers a(40);
    a = 0;
    if (interpreted) {
      eval(number).interpret(a(Range(10, 29)));
    } else {
      eval(number)(a(Range(10, 29)));
    }
    checkRow(a, 10, 30, 11);
    CHECK(a(9).value() == 0);
    CHECK(a(30).value() == 0);
    Grid g(20, 30);
    g = -1;
    if (interpreted) {
      eval(numberGrid).interpret(g(Range(4, 12), Range(6, 19)));
    } else {
      eval(numberGrid)(g(Range(4, 12), Range(6, 19)));
    }
    CHECK(g(4, 6).value() == 4006);
    CHECK(g(12, 19).value() == 12019);
    CHECK(g(3, 6).value() == -1);
    // The origin of a view of a view.
    eval(numberGrid)(g(Range(4, 12), Range(6, 19))(Range(1, 1), Range(2, 5)));
    CHECK(g(5, 8).value() == 5008);
  }
  Volume v(6, 7, 8);
  eval(numberVolume)(v(Range(2, 4), Range(3, 5), Range(1, 7)));
  CHECK(v(4, 3, 7).value() == 40307);
}

TEST_CASE("the first array argument says where gridx begins, scalars and later arrays do not") {
  Numbers a(20), table(40);
  for (int i = 0; i < 40; ++i) table(i) = 3 * i;
  eval(lookUp)(a(Range(5, 14)), table);
  for (int i = 5; i < 15; ++i) CHECK(a(i).value() == 3 * i);
  eval([](Int shift, Numbers x, const Numbers& y) { x[idx] = cast<int>(gridx) + shift + y[idx]; })(
      100, a(Range(5, 14)), table(Range(20, 29)));
  CHECK(a(5).value() == 105 + 60);
}

TEST_CASE("gridx goes with the dimension that idx indexes") {
  Grid g(20, 30);
  g = -1;
  eval(numberTransposed)(g(Range(4, 12), Range(4, 12)));
  CHECK(g(4, 4).value() == 4004);
  CHECK(g(12, 7).value() == 12007);
  eval(numberLoops).global(5)(g(Range(10, 14), Range(3, 9)), 7);
  CHECK(g(14, 4).value() == 14001);
}

TEST_CASE("gridx in functions, behind barriers, and in rounded-up domains") {
  Numbers a(40);
  a = 0;
  eval(numberByCall)(a(Range(3, 37)));
  checkRow(a, 3, 38, 4);
  a = 0;
  eval(numberWithBarrier).local(16)(a(Range(3, 37)));
  checkRow(a, 3, 38, 4);
  CHECK(a(38).value() == 0);
}

TEST_CASE("parts of several devices: gridx is the position in the whole array") {
  const auto list = someDevices();
  const int n = static_cast<int>(list.size());
  for (const int r : {0, 1, 3}) {
    CAPTURE(r);
    Numbers a(17 * n + 5);
    a = 0;
    eval(number).devices(list)(PART1(a, r));
    checkRow(a, 0, static_cast<int>(a.size()), 1);
    Grid g(9 * n, 11 * n), h(9 * n, 11 * n);
    eval(numberGrid).devices(list)(PART1(g, r));
    eval(numberGrid).devices(list)(PART12(h, r, r));
    for (int i = 0; i < 9 * n; ++i) {
      for (int j = 0; j < 11 * n; ++j) {
        REQUIRE(g(i, j).value() == 1000 * i + j);
        REQUIRE(h(i, j).value() == 1000 * i + j);
      }
    }
    Grid t(9 * n, 9 * n);
    eval(numberTransposed).devices(list).global(9 * n, 9 * n)(PART2(t, r));
    CHECK(t(3, 9 * n - 1).value() == 3000 + 9 * n - 1);
    // The origin of an annotated view.
    a = 0;
    eval(number).devices(list)(PART1(a(Range(2, 17 * n)), r));
    checkRow(a, 2, 17 * n + 1, 3);
    CHECK(a(1).value() == 0);
  }
}

TEST_CASE("parts of several devices: the first annotated argument says where gridx begins") {
  const auto list = someDevices();
  const int n = static_cast<int>(list.size());
  Numbers a(20 * n), table(20 * n);
  for (int i = 0; i < 20 * n; ++i) table(i) = 7 * i;
  eval([](const Numbers& t, Numbers out) { out[idx] = t[gridx]; })
      .devices(list)
      .global(20 * n)(table, PART1(a, 1));
  for (int i = 0; i < 20 * n; ++i) CHECK(a(i).value() == 7 * i);
}

TEST_CASE("parts of several devices: gridx under automatic distribution and explicit views") {
  const auto list = someDevices();
  const int n = static_cast<int>(list.size());
  Numbers a(20 * n + 3);
  a = 0;
  eval(number).devices(list)(a);
  checkRow(a, 0, static_cast<int>(a.size()), 1);
  a = 0;
  eval(number).devices(list)(a(Range(4, 20 * n)));
  checkRow(a, 4, 20 * n + 1, 5);
  a = 0;
  for (int d = 0; d < n; ++d)
    eval(number).device(list[static_cast<std::size_t>(d)])(a(Range(20 * d, 20 * d + 19)));
  checkRow(a, 0, 20 * n, 1);
}

TEST_CASE("every strategy gives the same gridx") {
  const runtime::Settings before = runtime::settings();
  for (const runtime::Strategy strategy :
       {runtime::Strategy::Direct, runtime::Strategy::Rows, runtime::Strategy::Tile,
        runtime::Strategy::Stream, runtime::Strategy::Columns, runtime::Strategy::Auto}) {
    CAPTURE(static_cast<int>(strategy));
    runtime::Settings changed = before;
    changed.strategy = strategy;
    runtime::overrideSettings(changed);
    Grid in(50, 70), out(50, 70);
    in = 2;
    out = -1;
    eval([](Grid o, const Grid& i) {
      if_(idx > 0 && idx + 1 < szx && gridy % 3 != 1) {
        o[idy][idx] =
            i[idy][idx - 1] + i[idy][idx + 1] + 100 * cast<int>(gridx) + where(gridy > 20, 1, 0);
      }
    })(out(Range(5, 44), Range(7, 63)), in(Range(5, 44), Range(7, 63)));
    for (int i = 0; i < 50; ++i) {
      for (int j = 0; j < 70; ++j) {
        const bool inside = i >= 5 && i < 45 && j > 7 && j < 63 && i % 3 != 1;
        REQUIRE(out(i, j).value() == (inside ? 4 + 100 * j + (i > 20 ? 1 : 0) : -1));
      }
    }
    // Places and borders of the whole array, in the middle of the view.
    eval([](Grid o, const Grid& i, Int row) {
      Int sum = i[idy][idx] + where(gridx == 30 && gridy == 22, 7, 0);
      if_(gridx < 10) {
        sum += 3;
      }
      if_(gridy == 40 || cast<int>(gridy) == row) {
        sum += 11;
      }
      o[idy][idx] = sum;
    })(out(Range(5, 44), Range(7, 63)), in(Range(5, 44), Range(7, 63)), 17);
    for (int i = 5; i < 45; ++i) {
      for (int j = 7; j < 64; ++j) {
        const int wanted =
            2 + (j == 30 && i == 22 ? 7 : 0) + (j < 10 ? 3 : 0) + (i == 40 || i == 17 ? 11 : 0);
        REQUIRE(out(i, j).value() == wanted);
      }
    }
  }
  runtime::overrideSettings(before);
}

TEST_CASE("of(x) is the domain with a work-item for each element") {
  Grid a(6, 9);
  Numbers sums(6);
  a = 2;
  eval(sumRows).global(of(sums))(a, sums, 9);
  for (int i = 0; i < 6; ++i) CHECK(sums(i).value() == 18);
  CHECK(of(a) == Domain(9, 6));
  CHECK(of(a(Range(1, 2), Range(3, 8))) == Domain(6, 2));
  Volume v(2, 3, 4);
  CHECK(of(v) == Domain(4, 3, 2));
  v = 0;
  eval(setAll).global(of(v))(v);
  CHECK(v(1, 2, 3).value() == 1);
  // With annotations it is the whole, which parts share.
  const auto list = someDevices();
  const int n = static_cast<int>(list.size());
  Grid big(4 * n, 5);
  Numbers rows(4 * n);
  big = 3;
  eval(sumRows).devices(list).global(of(rows))(PART1(big), PART1(rows), 5);
  for (int i = 0; i < 4 * n; ++i) CHECK(rows(i).value() == 15);
}

TEST_CASE("of(x) in a kernel and of an array without shape are refused") {
  Grid a(3, 3);
  const std::string message = hpl_tests::messageOf<KernelError>([&] {
    eval([](Grid g) {
      const Domain domain = of(g);
      g[idy][idx] = static_cast<int>(domain.size[0]);
    })(a);
  });
  CHECK(message.find("of(array)") != std::string::npos);
  CHECK_THROWS_AS(of(Grid()), ShapeError);
}

}  // namespace origin_tests
