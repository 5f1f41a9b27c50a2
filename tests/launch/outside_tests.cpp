// SPDX-License-Identifier: Apache-2.0
// Launches whose accesses certainly leave an array, and those that only seem to.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace outside_tests {

namespace {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::messageOf;

using Numbers = Array<int, 1>;
using Grid = Array<int, 2>;

void addGrids(Grid out, const Grid& in) { out[idy][idx] += in[idy][idx]; }
constexpr int kAddLine = __LINE__ - 1;
void shiftLeft(Numbers out, const Numbers& in) { out[idx] = in[idx + 1]; }
void shiftRight(Numbers out, const Numbers& in) { out[idx] = in[idx - 1]; }
void guardedTooFar(Numbers out, const Numbers& in) {
  if_(idx + 1 < szx) {
    out[idx] = in[idx + 2];
  }
}

void expect(const std::string& message, const std::vector<std::string>& parts) {
  INFO(message);
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(contains(message, part));
  }
}

Numbers ones(int n) {
  Numbers a(n);
  a = 1;
  return a;
}

}  // namespace

TEST_CASE("arguments of different shape are refused by name, shape and access") {
  Grid a(8, 9), b(9, 8);
  a = 1;
  b = 2;
  a.label("tall");
  b.label("wide");
  expect(messageOf<LaunchError>([&] { eval(addGrids)(a, b); }),
         {"kernel 'addGrids' reads outside of argument 2 (array \"wide\", 9 x 8 cells)",
          "in dimension 2 its index [idx] is 8 for work-item (8, 0)", "the global domain (9, 8)",
          "argument 1 (array \"tall\", 8 x 9 cells)",
          "outside_tests.cpp:" + std::to_string(kAddLine)});
  CHECK_THROWS_AS(eval(addGrids)(b, a), LaunchError);
  // The same cells of both exist in the smaller domain.
  eval(addGrids).global(8, 8)(a, b);
  CHECK(a(7, 7).value() == 3);
  CHECK(a(7, 8).value() == 1);
  expect(messageOf<LaunchError>([&] { eval(addGrids).global(8, 9)(a, b); }),
         {"argument 1 (array \"tall\", 8 x 9 cells)", "in dimension 1", "[idy] is 8",
          "(0, 8) of the global domain (8, 9)"});
  CHECK(a(7, 7).value() == 3);
}

TEST_CASE("neighbours beyond the ends are seen where nothing guards them") {
  Numbers in = ones(10), out = ones(10);
  out = 0;
  expect(messageOf<LaunchError>([&] { eval(shiftLeft)(out, in); }),
         {"reads outside of argument 2", "[idx+1] is 10 for work-item (9)"});
  expect(messageOf<LaunchError>([&] { eval(shiftRight)(out, in); }),
         {"reads outside of argument 2", "[idx-1] is -1 for work-item (0)"});
  expect(messageOf<LaunchError>([&] { eval(guardedTooFar)(out, in); }),
         {"[idx+2] is 10 for work-item (8)"});
  expect(messageOf<LaunchError>([&] {
           eval([](Numbers o) {
             for_(Int k = 0, k < 3, ++k) {
               o[cast<int>(idx) + k + 10] = 1;
             }
           })(out);
         }),
         {"writes outside of argument 1", "[idx+{10..12}] is 10 for work-item (0)"});
  expect(messageOf<LaunchError>([&] { eval([](Numbers o) { o[12] = cast<int>(idx); })(out); }),
         {"its index [12] is 12"});
  eval(shiftLeft).global(9)(out, in);
  for (int i = 0; i < 10; ++i) CHECK(out(i).value() == (i < 9 ? 1 : 0));
}

TEST_CASE("accesses that nobody can be sure of run as before") {
  Numbers in = ones(10), out = ones(10);
  // Skipped operands, guards of values, branches, loops that may end before.
  eval([](Numbers o, const Numbers& i) { o[idx] = where(idx + 1 < szx, i[idx + 1], 5); })(out, in);
  CHECK(out(9).value() == 5);
  CHECK(out(8).value() == 1);
  eval([](Numbers o, const Numbers& i) {
    if_(idx > 0 && i[idx - 1] == 1) {
      o[idx] = 7;
    }
  })(out, in);
  CHECK(out(1).value() == 7);
  eval([](Numbers o, const Numbers& i, Int n) {
    if_(cast<int>(idx) < n) {
      o[idx] = i[idx + 5];
    }
  })(out, in, 5);
  CHECK(out(4).value() == 1);
  eval([](Numbers o, const Numbers& i) {
    for_(Int k = 0, k < 20, ++k) {
      if_(k == 10) {
        break_;
      }
      o[k] = i[k] + 1;
    }
  }).global(1)(out, in);
  CHECK(out(9).value() == 2);
  eval([](Numbers o, const Numbers& i) {
    if_(idx >= 1) {
      o[idx] = i[idx - 1] + 2;
    }
    else_ { o[idx] = i[idx + 3]; }
  })(out, in);
  CHECK(out(0).value() == 1);
  CHECK(out(9).value() == 3);
  // An index that wraps around.
  eval([](Numbers o, const Numbers& i) { o[idx] = i[(idx + 7) % 10]; })(out, in);
  CHECK(out(9).value() == 1);
}

TEST_CASE("views are judged by their own shape") {
  Grid a(20, 20), b(20, 20);
  a = 1;
  b = 2;
  const Range rows(3, 10), columns(2, 10);
  expect(messageOf<LaunchError>([&] { eval(addGrids)(a(rows, columns), b(columns, rows)); }),
         {"argument 2 (unnamed array, a part of 9 x 8 cells of 20 x 20)"});
  eval(addGrids)(a(rows, columns), b(rows, columns));
  CHECK(a(3, 2).value() == 3);
  CHECK(a(2, 2).value() == 1);
}

TEST_CASE("a launch that leaves its arrays is refused on several devices, too") {
  Numbers in = ones(40), out = ones(40);
  Grid a(8, 9), b(9, 8);
  a = 1;
  b = 2;
  CHECK_THROWS_AS(eval(addGrids).devices()(a, b), LaunchError);
  CHECK_THROWS_AS(eval(addGrids).devices()(PART1(a), PART1(b)), Error);
  CHECK_THROWS_AS(eval(shiftLeft).devices()(out, in), LaunchError);
  CHECK_THROWS_AS(eval(shiftLeft).devices()(PART1(out), PART1(in)), LaunchError);
  CHECK(out(0).value() == 1);
  CHECK(a(0, 0).value() == 1);
}

}  // namespace outside_tests
