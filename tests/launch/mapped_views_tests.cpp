// SPDX-License-Identifier: Apache-2.0
// Views with strides, of another shape and transposed: in kernels, in assignments, on the host.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"
#include "tests/with_settings.h"

namespace mapped_views_tests {

using namespace hpl;
using hpl_tests::messageOf;
using hpl_tests::WithSettings;

namespace {

using Numbers = Array<int, 1>;
using Grid = Array<int, 2>;
using Volume = Array<int, 3>;

void number(Numbers a) { a[idx] = cast<int>(idx) + 1; }
void numberGrid(Grid a) { a[idy][idx] = 100 * cast<int>(idy) + cast<int>(idx); }
void addGrid(Grid to, const Grid& from) { to[idy][idx] += from[idy][idx]; }
void numberWhole(Numbers a) { a[idx] = cast<int>(gridx); }
void sumRows(Numbers sums, const Grid& a, Int columns) {
  Int k;
  sums[idx] = 0;
  for_(k = 0, k < columns, k++) {
    sums[idx] += a[idx][k];
  }
}
Int rowSum(const Grid& a, Int row, Int columns) {
  Int sum = 0, k;
  for_(k = 0, k < columns, k++) {
    sum += a[row][k];
  }
  return sum;
}
void sumRowsByCall(Numbers sums, const Grid& a, const Grid& b, Int columns) {
  sums[idx] = call(rowSum)(a, cast<int>(idx), columns) + call(rowSum)(b, cast<int>(idx), columns);
}
void store(Grid a, Int row, Int value) { a[row][idx] = value; }
void storeByCall(Grid a, Int value) { call(store)(a, cast<int>(idy), value); }
void walk(Numbers out, const Grid& a) {
  AliasArray<int> row(a[idx][0]);
  out[idx] = row[1];
}
Int second(AliasArray<int> row) { return row[1]; }
void walkByCall(Numbers out, Numbers a) { out[idx] = call(second)(a); }
void countEven(Numbers count, const Numbers& a) { atomic_add(count[a[idx] % 2], 1); }
void twice(InOut<Numbers>) {}
void tile(Numbers out, const Numbers& a) {
  Array<int, 1, Local> part(8);
  part[lidx] = a[idx];
  barrier(LOCAL);
  out[idx] = part[7 - lidx];
}

std::vector<int> contents(const Numbers& a) {
  std::vector<int> list(a.size());
  a.copyTo(list.data());
  return list;
}
std::vector<int> contents(const Grid& a) {
  std::vector<int> list(a.size());
  a.copyTo(list.data());
  return list;
}

Numbers counted(int n, int first = 0) {
  Numbers a(n);
  for (int i = 0; i < n; ++i) a(i) = first + i;
  return a;
}
Grid countedGrid(int rows, int columns) {
  Grid a(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) a(i, j) = 10 * i + j;
  return a;
}

}  // namespace

TEST_CASE("a kernel writes every second element of an array and leaves the others") {
  Numbers a = counted(9, 100);
  eval(number)(a(Range(1, 8, 2)));
  CHECK(contents(a) == std::vector<int>{100, 1, 102, 2, 104, 3, 106, 4, 108});
  eval(number)(a(Range(0, 8, 3)));
  CHECK(contents(a) == std::vector<int>{1, 1, 102, 2, 104, 3, 3, 4, 108});
}

TEST_CASE("views with strides in both dimensions meet those of other strides") {
  Grid a = countedGrid(6, 8);
  Grid b = countedGrid(9, 4);
  eval(addGrid)(a(Range(1, 5, 2), Range(0, 7, 3)), b(Range(0, 8, 4), Range(1, 3)));
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 8; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      const bool isIn = i % 2 == 1 && j % 3 == 0;
      CHECK(a(i, j) == 10 * i + j + (isIn ? 10 * 4 * (i / 2) + 1 + j / 3 : 0));
    }
  }
}

TEST_CASE("the host reads and writes elements of a view with strides") {
  Numbers a = counted(10);
  auto odd = a(Range(1, 9, 2));
  REQUIRE(odd.getDimension(0) == 5);
  REQUIRE(odd.size() == 5);
  CHECK(odd.stride(0) == 2);
  for (int i = 0; i < 5; ++i) CHECK(odd(i) == 2 * i + 1);
  for (int i = 0; i < 5; ++i) odd(i) += 100;
  odd(4) = -1;
  CHECK(contents(a) == std::vector<int>{0, 101, 2, 103, 4, 105, 6, 107, 8, -1});
  int* data = odd.data();
  data[2 * odd.stride(0)] = 7;
  CHECK(a(5) == 7);
  CHECK(odd.reduce([](int x, int y) { return x + y; }) == 101 + 103 + 7 + 107 - 1);
  std::vector<int> five{1, 2, 3, 4, 5};
  odd.copyFrom(five.data());
  CHECK(contents(a) == std::vector<int>{0, 1, 2, 2, 4, 3, 6, 4, 8, 5});
  CHECK(contents(odd) == five);
  CHECK_THROWS_WITH_AS((void)odd(5).value(), doctest::Contains("valid are 0 to 4"), ShapeError);
  CHECK_THROWS_WITH_AS(odd(5) = 1, doctest::Contains("valid are 0 to 4"), ShapeError);
  CHECK_THROWS_WITH_AS(odd.begin(), doctest::Contains("gaps"), ShapeError);
}

TEST_CASE("opening a view with strides for writing keeps what lies between") {
  Numbers a(8);
  eval(number)(a);
  int* data = a(Range(0, 7, 2)).data(HPL_WR);
  for (int i = 0; i < 4; ++i) data[2 * i] = -i;
  CHECK(contents(a) == std::vector<int>{0, 2, -1, 4, -2, 6, -3, 8});
}

TEST_CASE("views of views with strides count from what they are views of") {
  Numbers a = counted(20);
  CHECK(contents(a(Range(1, 19, 3))(Range(1, 5, 2))) == std::vector<int>{4, 10, 16});
  CHECK(contents(a(Range(5, 15))(Range(0, 10, 5))) == std::vector<int>{5, 10, 15});
  CHECK(&a(Range(0, 9, 2)) == &a(Range(0, 9, 2)));
  CHECK(a(Range(0, 9, 2))(Range(1, 1)).hostView().box() == a(Range(2)).hostView().box());
  Grid grid = countedGrid(4, 6);
  auto row = grid(Range(0, 3, 3), Range(0, 5))(Range(1), Range(0, 5));
  CHECK(&row.hostView() == &grid(Range(3), Range(0, 5)).hostView());
}

TEST_CASE("a vector is a matrix under another shape") {
  Numbers a = counted(12);
  Grid matrix = a.reshaped(3, 4);
  CHECK(matrix(2, 1) == 9);
  eval(numberGrid)(matrix);
  CHECK(contents(a) == std::vector<int>{0, 1, 2, 3, 100, 101, 102, 103, 200, 201, 202, 203});
  matrix(1, 1) = -5;
  CHECK(a(5) == -5);
  Numbers sums(3);
  eval(sumRows)(sums, matrix, 4);
  CHECK(contents(sums) == std::vector<int>{6, 406 - 106, 806});
  // ... and a matrix a vector.
  Grid grid = countedGrid(3, 4);
  Numbers flat = grid.reshaped(12);
  eval(number)(flat);
  CHECK(grid(1, 2) == 7);
  CHECK(contents(flat(Range(3, 11, 4))) == std::vector<int>{4, 8, 12});
}

TEST_CASE("shapes with equal products are one another's views") {
  Volume cube(4, 3, 6);
  int count = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 6; ++k) cube(i, j, k) = count++;
  Grid tall = cube.reshaped(12, 6);
  Grid wide = cube.reshaped(4, 18);
  Grid odd = cube.reshaped(8, 9);
  Grid copy(8, 9);
  copy = odd;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 9; ++j) CHECK(copy(i, j) == 9 * i + j);
  tall = -1;
  CHECK(cube(3, 2, 5) == -1);
  eval(numberGrid)(wide);
  CHECK(cube(2, 1, 3) == 209);
  CHECK(wide(2, 9) == 209);
  Volume again = wide.reshaped(4, 3, 6);
  CHECK(&again.hostView() == &cube.hostView());
}

TEST_CASE("parts of a reshaped matrix that lie in the same rows are told apart") {
  Grid grid = countedGrid(3, 4);
  Numbers flat = grid.reshaped(12);
  auto eleven = flat(Range(0, 10));
  auto ten = flat(Range(0, 9));
  CHECK(eleven.size() == 11);
  CHECK(ten.size() == 10);
  eval(number)(ten);
  CHECK(eleven(9) == 10);
  CHECK(eleven(10) == 22);
}

TEST_CASE("a transposed matrix is read and written where the matrix has its elements") {
  Grid a = countedGrid(3, 5);
  Grid t = a.transposed();
  REQUIRE(t.getDimension(0) == 5);
  REQUIRE(t.getDimension(1) == 3);
  CHECK(t(4, 1) == 14);
  Grid b(5, 3);
  b = t;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) CHECK(b(i, j) == 10 * j + i);
  eval(numberGrid)(t);
  CHECK(a(2, 4) == 402);
  CHECK(&t.transposed().hostView() == &a.hostView());
  CHECK(contents(t(Range(1, 3, 2), Range(0, 2))) == std::vector<int>{100, 101, 102, 300, 301, 302});
}

TEST_CASE("a square matrix is assigned its own transpose") {
  Grid a = countedGrid(4, 4);
  a = a.transposed();
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) CHECK(a(i, j) == 10 * j + i);
  Numbers v = counted(10);
  v(Range(0, 8, 2)) = v(Range(5, 9));
  CHECK(contents(v) == std::vector<int>{5, 1, 6, 3, 7, 5, 8, 7, 9, 9});
  v(Range(1, 9, 2)) = v(Range(0, 8, 2));
  CHECK(contents(v) == std::vector<int>{5, 5, 6, 6, 7, 7, 8, 8, 9, 9});
}

TEST_CASE("views of more dimensions than a domain has are copied and filled") {
  Array<int, 4> a(2, 3, 2, 4), b(4, 2, 3, 2);
  a = 1;
  a(Range(0, 1), Range(0, 2, 2), Range(0, 1), Range(1, 3, 2)) = 5;
  b = a.transposed();
  int fives = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        for (int l = 0; l < 4; ++l) {
          CHECK(a(i, j, k, l) == (j % 2 == 0 && l % 2 == 1 ? 5 : 1));
          CHECK(b(l, k, j, i) == a(i, j, k, l));
          fives += a(i, j, k, l) == 5;
        }
  CHECK(fives == 16);
}

TEST_CASE("structs and vectors are copied between views with strides, too") {
  Array<double4, 1> a(6), b(3);
  a = double4(1, 2, 3, 4);
  a(Range(1, 5, 2)) = double4(5, 6, 7, 8);
  b = a(Range(1, 5, 2));
  CHECK(b(2).value()[3] == 8);
  CHECK(a(2).value()[0] == 1);
}

TEST_CASE("functions that kernels call take views with strides") {
  Grid a = countedGrid(4, 6), b = countedGrid(4, 6);
  Numbers sums(4);
  eval(sumRowsByCall)(sums, a(Range(0, 3), Range(0, 5, 2)), b, 3);
  for (int i = 0; i < 4; ++i) CHECK(sums(i) == 3 * 10 * i + 6 + 3 * 10 * i + 3);
  eval(sumRowsByCall)(sums, a.transposed()(Range(0, 3), Range(0, 3)),
                      b(Range(0, 3), Range(1, 5, 2)), 3);
  for (int i = 0; i < 4; ++i) CHECK(sums(i) == 30 + 3 * i + 30 * i + 9);
  eval(storeByCall)(a(Range(0, 3, 3), Range(0, 5, 5)), -1);
  CHECK(a(3, 5) == -1);
  CHECK(a(3, 4) == 34);
}

TEST_CASE("atomics, local memory and the interpreter know views with strides") {
  Numbers a = counted(64), count(4);
  count = 0;
  eval(countEven).global(22)(count(Range(1, 3, 2)), a(Range(0, 63, 3)));
  CHECK(contents(count) == std::vector<int>{0, 11, 0, 11});
  Numbers out(32);
  out = 0;
  eval(tile).local(8)(out(Range(0, 31, 2)), a(Range(1, 63, 4)));
  for (int i = 0; i < 16; ++i) CHECK(out(2 * i) == 4 * (i / 8 * 8 + 7 - i % 8) + 1);
  CHECK(out(1) == 0);
  Numbers same(32);
  same = 0;
  eval(tile).local(8).interpret(same(Range(0, 31, 2)), a(Range(1, 63, 4)));
  CHECK(contents(same) == contents(out));
}

TEST_CASE("reductions take all views") {
  Numbers a = counted(100);
  CHECK(sum(a(Range(1, 99, 2))) == 2500);
  CHECK(max(a(Range(0, 99, 10))) == 90);
  CHECK(argmax(a(Range(0, 99, 10))).index() == 9);
  Grid grid = a.reshaped(10, 10);
  CHECK(dot(grid, grid.transposed()) == [] {
    long total = 0;
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 10; ++j) total += (10 * i + j) * (10 * j + i);
    return total;
  }());
}

TEST_CASE("positions in views with strides count from their first cells") {
  Numbers a = counted(20);
  eval(numberWhole)(a(Range(5, 15, 5)));
  CHECK(contents(a(Range(5, 15, 5))) == std::vector<int>{0, 1, 2});
  eval(numberWhole)(a(Range(5, 7)));
  CHECK(contents(a(Range(5, 7))) == std::vector<int>{5, 6, 7});
  CHECK(of(a(Range(5, 15, 5))) == Domain(3));
  CHECK(of(a.reshaped(2, 10)) == Domain(10, 2));
}

TEST_CASE("views outlive references to them, and their arrays' handles") {
  Numbers odd;
  Grid matrix;
  {
    Numbers a = counted(12);
    odd = a(Range(1, 11, 2));
    matrix = a.reshaped(3, 4);
  }
  odd(0) = 50;
  CHECK(matrix(0, 1) == 50);
}

TEST_CASE("a view with strides that an array has dropped says so") {
  Numbers a = counted(20000);
  const Numbers& first = a(Range(0, 19998, 2));
  for (int i = 0; i < 6000; ++i) a(Range(i, i + 2, 2));
  CHECK(messageOf<Error>([&] { (void)static_cast<int>(first(0)); }).find("dropped") !=
        std::string::npos);
}

TEST_CASE("native kernels take no views with strides") {
  Numbers a = counted(8);
  nativeHandle(twice, "twice",
               "__kernel void twice(__global int* a) { a[get_global_id(0)] *= 2; }");
  CHECK(messageOf<ArgumentError>([&] { eval(twice)(a(Range(0, 7, 2))); }) ==
        "argument 1 of kernel 'twice' is a view of unnamed array with strides, of another shape or "
        "transposed, which native kernels do not take; copy it to an array of its own");
}

TEST_CASE("what strided, reshaped and transposed views cannot be is said") {
  Numbers a = counted(12);
  Grid grid = countedGrid(4, 6);
  CHECK(messageOf<Error>([&] { a(Range(0, 11, 0)); }) ==
        "unnamed array: Range(0, 11, 0) in dimension 1 has a stride that is not positive; views go "
        "upwards");
  CHECK(messageOf<Error>([&] { a(Range(0, 12, 2)); }).find("beyond the extent 12") !=
        std::string::npos);
  CHECK(messageOf<Error>([&] { (void)a.reshaped(3, 5); }) ==
        "unnamed array: reshaped(3, 5): another shape has to have as many cells, 12");
  CHECK(messageOf<Error>([&] { (void)a.reshaped(-3, -4); }).find("must be positive") !=
        std::string::npos);
  CHECK(messageOf<Error>([&] {
          (void)grid(Range(0, 3), Range(0, 2)).reshaped(12);
        }).find("do not follow each other in memory; copy it") != std::string::npos);
  CHECK(messageOf<Error>([&] {
          (void)grid.transposed().reshaped(24);
        }).find("do not follow each other") != std::string::npos);
  grid.label("grid");
  const std::string refusal =
      messageOf<Error>([&] { eval(numberGrid)(PART1(grid.transposed(), 1)); });
  CHECK(refusal.find("a view of array \"grid\" with strides, of another shape or transposed goes "
                     "where no such view can") == 0);
  CHECK(messageOf<Error>([&] { grid.transposed().syncGhosts(); }) == refusal);
  CHECK(messageOf<Error>([&] { grid.transposed().local(); }) == refusal);
  CHECK(messageOf<Error>([&] {
          inclusiveScan(a(Range(0, 11, 2)), a(Range(1, 11, 2)));
        }).find("copy it to an array of its own") != std::string::npos);
  CHECK(messageOf<Error>([&] {
          eval(walk)(a(Range(0, 3)), grid.transposed());
        }).find("whose elements no pointer walks through") != std::string::npos);
  CHECK(messageOf<Error>([&] {
          eval(walkByCall)(a(Range(0, 3)), a(Range(4, 11, 2)));
        }).find("whose elements no pointer walks through") != std::string::npos);
  CHECK(messageOf<Error>([&] {
          eval(walk)(a(Range(0, 3)), a(Range(0, 11, 2)));
        }).find("argument 2 of kernel 'walk' must be") == 0);
  CHECK(messageOf<Error>([&] { a(Range(0, 5)) = a(Range(0, 11, 3)); }).find("same extents") !=
        std::string::npos);
}

TEST_CASE(
    "HPL_CHECK=bounds checks the indices of views that are no boxes, not those of their box") {
  const WithSettings checking([](runtime::Settings& settings) { settings.checkBounds = true; });
  Numbers a(20), sums(4);
  a.label("flat");
  a = 1;
  Grid rows = a.reshaped(4, 5);
  CHECK_NOTHROW(eval(sumRows)(sums, rows, 5));
  CHECK(sums(3).value() == 5);
  // The sixth column of a row is the first one of the next; but for the last row, it is in the box.
  const std::string beyond =
      messageOf<BoundsError>([&] { eval(sumRows).global(3)(sums, rows, 6); });
  INFO(beyond);
  CHECK(beyond.find("reads outside of a view of array 'flat': index 5 in dimension 2 (extent 5)") !=
        std::string::npos);
  CHECK(beyond.find("mapped_views_tests.cpp") != std::string::npos);
  const std::string inCall =
      messageOf<BoundsError>([&] { eval(sumRowsByCall).global(3)(sums, rows, rows, 6); });
  INFO(inCall);
  CHECK(inCall.find("a view of array 'flat': index 5 in dimension 2 (extent 5)") !=
        std::string::npos);
  // A view of every second column, and one of fewer columns than there are.
  CHECK_NOTHROW(eval(sumRows)(sums, rows(Range(0, 3), Range(0, 4, 2)), 3));
  CHECK(messageOf<BoundsError>([&] {
          eval(sumRows).global(3)(sums, rows(Range(0, 3), Range(0, 4, 2)), 4);
        }).find("index 3 in dimension 2 (extent 3)") != std::string::npos);
  CHECK(messageOf<BoundsError>([&] {
          eval(sumRows).global(3)(sums, rows(Range(0, 3), Range(0, 1)), 3);
        }).find("index 2 in dimension 2 (extent 2)") != std::string::npos);
  // A dimension of one cell has no second one.
  const std::string single =
      messageOf<BoundsError>([&] { eval(sumRows)(sums, a(Range(0, 3)).reshaped(4, 1), 2); });
  INFO(single);
  CHECK(single.find("index 1 in dimension 2 (extent 1)") != std::string::npos);
  // Writes outside go nowhere.
  const std::string written =
      messageOf<BoundsError>([&] { eval(store).global(6)(rows(Range(0, 2), Range(0, 4)), 1, 7); });
  INFO(written);
  CHECK(written.find("writes outside of a view of array 'flat': index 5 in dimension 2") !=
        std::string::npos);
  const std::vector<int> left = contents(a);
  CHECK(std::accumulate(left.begin(), left.end(), 0) == 15 + 5 * 7);
  CHECK(left[10] == 1);
}

TEST_CASE("the interpreter checks the indices of views that are no boxes") {
  Numbers a(20), sums(4);
  a = 1;
  Grid rows = a.reshaped(4, 5);
  CHECK(messageOf<BoundsError>([&] {
          eval(sumRows).global(3).interpret(sums, rows, 6);
        }).find("index 5 in dimension 2") != std::string::npos);
}

}  // namespace mapped_views_tests
