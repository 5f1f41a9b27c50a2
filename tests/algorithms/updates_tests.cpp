// SPDX-License-Identifier: Apache-2.0
// Reductions whose functions change the elements that they take by reference; run with several
// HPL_DEVICES.
#include <doctest/doctest.h>

#include "support.h"

namespace updates_tests {

using namespace hpl;
using namespace algorithms_tests;

namespace {

using Numbers = Array<int, 1>;
using Grid = Array<int, 2>;

void smooth(Grid out, const Grid& in) {
  if_(idy > 0 && idy + 1 < szy) {
    out[idy][idx] = (in[idy - 1][idx] + in[idy + 1][idx]) % 100;
  }
  else_ { out[idy][idx] = 1; }
}

long addTwice(Numbers& x, Numbers& r, const Numbers& p, int a) {
  return sum(
      [](Int& xi, Int& ri, Int pi, Int ai) {
        xi += ai * pi;
        ri -= xi;
        return ri * ri;
      },
      x, r, p, a);
}

}  // namespace

TEST_CASE("an update and the sum of what it makes are one reduction") {
  for (const int n : {1, 2, 7, 8, 9, 63, 1000, 4097, 100003}) {
    CAPTURE(n);
    const auto size = static_cast<std::size_t>(n);
    Numbers x(n), r(n), p(n);
    std::vector<int> hostX = smallNumbers<int>(size, 1), hostR = smallNumbers<int>(size, 2);
    const std::vector<int> hostP = smallNumbers<int>(size, 3);
    fill(x, hostX);
    fill(r, hostR);
    fill(p, hostP);
    // The second and third launches know how the kernel is laid out.
    for (int a = 1; a <= 3; ++a) {
      long expected = 0;
      for (std::size_t i = 0; i < size; ++i) {
        hostX[i] += a * hostP[i];
        hostR[i] -= hostX[i];
        expected += hostR[i] * hostR[i];
      }
      REQUIRE(addTwice(x, r, p, a) == expected);
    }
    for (int i = 0; i < n; ++i) {
      REQUIRE(x(i) == hostX[static_cast<std::size_t>(i)]);
      REQUIRE(r(i) == hostR[static_cast<std::size_t>(i)]);
    }
  }
}

TEST_CASE("elements outside of a view that is updated stay, whatever its rank and gaps") {
  std::mt19937 random(5);
  for (int round = 0; round < 10; ++round) {
    CAPTURE(round);
    Grid a(37, 53);
    std::vector<int> host = smallNumbers<int>(37 * 53, static_cast<unsigned>(round));
    fill(a, host);
    const auto range = [&](int extent) {
      const int lo = static_cast<int>(random() % static_cast<unsigned>(extent));
      const int hi = lo + static_cast<int>(random() % static_cast<unsigned>(extent - lo));
      return Range(lo, hi, round % 2 == 0 ? 1 : 1 + static_cast<int>(random() % 3));
    };
    const Range rows = range(37), columns = range(53);
    int expected = -1000000;
    for (auto i = rows.first; i <= rows.last; i += rows.stride)
      for (auto j = columns.first; j <= columns.last; j += columns.stride) {
        int& cell = host[static_cast<std::size_t>(i * 53 + j)];
        cell = 3 * cell + 1;
        expected = std::max(expected, cell);
      }
    const int largest = max(
        [](Int& cell) {
          cell = 3 * cell + 1;
          return cell;
        },
        a(rows, columns));
    CHECK(largest == expected);
    std::vector<int> cells(a.size());
    a.copyTo(cells.data());
    CHECK(cells == host);
  }
}

TEST_CASE("the place of the largest updated element is found") {
  Numbers a(500);
  for (int i = 0; i < 500; ++i) a(i) = i * 7 % 501;
  const auto found = argmax(
      [](Int& x) {
        x = (x * 3) % 499;
        return x;
      },
      a);
  int best = 0;
  for (int i = 1; i < 500; ++i)
    if (i * 7 % 501 * 3 % 499 > best * 7 % 501 * 3 % 499) best = i;
  CHECK(found.index() == best);
  CHECK(a(best) == found.value());
}

TEST_CASE("updates of distributed arrays reach their ghosts by the next exchange") {
  Grid a(61, 30), b(61, 30);
  std::vector<int> host = smallNumbers<int>(61 * 30, 4);
  fill(a, host);
  fill(b, host);
  for (int step = 0; step < 5; ++step) {
    eval(smooth)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
    const long total = sum(
        [](Int& cell, Int k) {
          cell += k;
          return cell;
        },
        b, step);
    swap(a, b);
    std::vector<int> next = host;
    long expected = 0;
    const std::vector<Device> all = testDevices();
    for (std::size_t i = 0; i < 61; ++i)
      for (std::size_t j = 0; j < 30; ++j) {
        // On each device the kernel sees the rows of its part.
        int& cell = next[i * 30 + j];
        cell = i > 0 && i + 1 < 61 ? (host[(i - 1) * 30 + j] + host[(i + 1) * 30 + j]) % 100 : 1;
        cell += step;
        expected += cell;
      }
    host = next;
    CHECK(total == expected);
  }
  std::vector<int> cells(a.size());
  a.copyTo(cells.data());
  CHECK(cells == host);
}

TEST_CASE(
    "values that earlier reductions left on devices are arguments, and the host never waits") {
  const int n = 3001;
  Numbers x(n), y(n);
  std::vector<int> hostX = smallNumbers<int>(n, 6), hostY = smallNumbers<int>(n, 7);
  fill(x, hostX);
  fill(y, hostY);
  Array<long, 1> total(1), other(3);
  other = 5L;
  sum(x).into(total);
  for (int step = 0; step < 4; ++step) {
    long before = 0, after = 0;
    for (const int value : hostX) before += value;
    for (std::size_t i = 0; i < hostX.size(); ++i) {
      hostX[i] = (hostX[i] + static_cast<int>(before % 7) * hostY[i] + 5) % 100;
      after += hostX[i];
    }
    sum(
        [](Int& xi, Int yi, Long all, Long five) {
          xi = (xi + cast<int>(all % 7l) * yi + cast<int>(five)) % 100;
          return xi;
        },
        x, y, valueIn(total), valueIn(other(Range(1))))
        .into(total);
    CHECK(total(0) == after);
  }
  std::vector<int> cells(x.size());
  x.copyTo(cells.data());
  CHECK(cells == hostX);
  // ... of matrices with gaps, too, and where nothing changes.
  Grid grid(20, 30);
  grid = 2;
  CHECK(sum([](Int g, Long five) { return cast<long>(g) * five; }, grid(Range(3, 9), Range(4, 11)),
            valueIn(other(Range(2))))
            .value() == 2 * 5 * 7 * 8);
  CHECK(messageOf<ShapeError>([&] {
          sum([](Int v, Long k) { return cast<long>(v) * k; }, x, valueIn(other)).value();
        }) ==
        "sum: argument 2 (unnamed array, (3) cells) is the cell of a value, valueIn(...), but "
        "has more cells");
  CHECK_THROWS_AS(sum(
                      [](Int& v, Int k) {
                        v += k;
                        return v;
                      },
                      x, valueIn(x(Range(5)))),
                  ArgumentError);
}

TEST_CASE("an array that is updated shares no cells with another argument") {
  Numbers a(20);
  a = 1;
  a.label("a");
  const auto add = [](Int& x, Int y) {
    x += y;
    return x;
  };
  CHECK(messageOf<ArgumentError>([&] { sum(add, a(Range(0, 9)), a(Range(1, 10))).value(); }) ==
        "sum: argument 1 (array \"a\", (10) cells) is changed, and shares cells with argument 2 "
        "(array \"a\", (10) cells); pass arrays or views that share none");
  CHECK(sum(add, a(Range(0, 9)), a(Range(10, 19))).value() == 20);
  CHECK(sum(add, a, a).value() == 2 * 30);  // the same elements: each reads its own
  CHECK(a(3) == 4);
}

}  // namespace updates_tests
