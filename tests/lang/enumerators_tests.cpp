// SPDX-License-Identifier: Apache-2.0
// Enumerators of `enum` without `class` are integers, in kernels and on the host.
#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

#include "hpl/hpl.h"

namespace enumerators_tests {

using namespace hpl;

namespace {

enum Colour { RED, GREEN, BLUE = 7 };
enum Sizes { ROWS = 4, COLS = 6, CELLS = 24 };
enum Small : unsigned char { TINY = 200 };
enum Large : long { HUGE_STEP = 1L << 40 };
enum Signed { BELOW = -2, ABOVE = 2 };
enum class Scoped { One = 1 };

static_assert(std::is_same_v<detail::ValueOf<Colour>, decltype(+RED)>);
static_assert(std::is_same_v<detail::ValueOf<Small>, int>);
static_assert(std::is_same_v<detail::ValueOf<Large>, long>);
static_assert(std::is_same_v<detail::ValueOf<Signed>, int>);
static_assert(!Operand<Scoped>);

Int next(Int colour) {
  if_(colour == RED) {
    return_(GREEN);
  }
  return colour + GREEN;
}

void colours(Array<int, 1> out, const Array<int, 1>& in, Int given) {
  Int kind = BLUE;
  Array<int, 1> table(BLUE + 1);
  table[RED] = 10;
  table[GREEN] = 20;
  table[BLUE] = 70;
  out[idx] = -1;
  if_(in[idx] == RED) {
    out[idx] = table[RED];
  }
  elseif_(in[idx] == GREEN || given == BELOW) {
    out[idx] = table[GREEN] + given;
  }
  else_ {
    out[idx] = where(in[idx] < BLUE, GREEN, BLUE) + table[kind] * TINY;
    out[idx] += max(in[idx], GREEN);
  }
  for_(Int i = RED, i < ABOVE, i++) {
    out[idx] += call(next)(RED) << GREEN;
  }
  out[idx] -= cast<int>(BLUE);
}

int coloursOnHost(int in, int given) {
  int out = 0;
  if (in == RED) {
    out = 10;
  } else if (in == GREEN || given == BELOW) {
    out = 20 + given;
  } else {
    out = (in < BLUE ? GREEN : BLUE) + 70 * TINY;
    out += in > GREEN ? in : GREEN;
  }
  out += 2 * (GREEN << GREEN);
  return out - BLUE;
}

}  // namespace

TEST_CASE("unscoped enumerators are integers in expressions, conditions, indices and arguments") {
  Array<int, 1> in(CELLS), out(CELLS);
  for (int i = 0; i < CELLS; ++i) in(i) = i % 9;
  for (const Signed given : {BELOW, ABOVE}) {
    eval(colours)(out, in, given);
    for (int i = 0; i < CELLS; ++i) REQUIRE(out(i).value() == coloursOnHost(i % 9, given));
    eval(colours).interpret(out, in, given);
    for (int i = 0; i < CELLS; ++i) REQUIRE(out(i).value() == coloursOnHost(i % 9, given));
  }
}

TEST_CASE("unscoped enumerators keep their width and value") {
  Array<long, 1> out(3);
  eval([](Array<long, 1> o) {
    o[0] = HUGE_STEP + idx;
    o[1] = o[0] * 0 + BELOW;
    o[2] = cast<long>(TINY) + TINY;
  }).global(GREEN)(out);
  CHECK(out(0).value() == HUGE_STEP);
  CHECK(out(1).value() == -2);
  CHECK(out(2).value() == 400);
}

TEST_CASE("unscoped enumerators are extents, positions, ranges and domains") {
  Array<float, 2> a(ROWS, COLS);
  CHECK(a.size() == CELLS);
  a = RED;
  a(GREEN, GREEN) = ABOVE;
  a(Range(GREEN, ABOVE), RED) = 5.0f;
  a(Range(ROWS - 1), Range(GREEN, ABOVE)) = BLUE;
  CHECK(a(GREEN, GREEN).value() == 2.0f);
  CHECK(a(ABOVE, RED).value() == 5.0f);
  CHECK(a(3, 2).value() == 7.0f);
  const auto count = [](Array<float, 2> x) { x[idy][idx] += 1.0f; };
  eval(count).global(GREEN, ABOVE).local(GREEN, GREEN)(a);
  CHECK(a(1, 0).value() == 6.0f);
  CHECK(a(2, 0).value() == 5.0f);
  eval(count).global(Domain(COLS, ROWS))(a);
  CHECK(a(3, 5).value() == 1.0f);
  CHECK(a.getDimension(GREEN) == COLS);
  eval([](Array<float, 2> x) {
    Array<float, 2, Local> tile(ABOVE, COLS);
    tile[lidy][lidx] = x[idy][idx];
    barrier(LOCAL);
    x[idy][idx] = tile[lidy][COLS - 1 - lidx];
  }).local(COLS, ABOVE)(a);
  CHECK(a(2, 5).value() == 6.0f);
}

TEST_CASE("unscoped enumerators are arguments of annotations, and of each device") {
  Array<int, 1> a(CELLS);
  a = 1;
  const auto add = [](Array<int, 1> x, Int v) { x[idx] += v; };
  eval(add).devices(GREEN)(PART1(a, GREEN), std::vector<Colour>{BLUE});
  CHECK(a(3).value() == 8);
}

}  // namespace enumerators_tests
