// SPDX-License-Identifier: Apache-2.0
// Elements on the host, a(i, j): when they open a view and for what, also inside of loops whose
// compiled form keeps the state of the view in registers.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

using namespace hpl;

HPL_STRUCT(ElementTestCell, (int, count), (float, weight));

namespace element_access_tests {

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

void triple(Array<int, 1> a) { a[idx] = 3 * a[idx]; }
void addTo(Array<int, 1> sum, const Array<int, 1>& a) { sum[idx] += a[idx]; }
void number(Array<std::int64_t, 2> a) { a[idy][idx] = 1000 * idy + idx; }

template <class T, int N>
int stateOf(const Array<T, N>& array) {
  return array.hostView().hostState.load();
}

constexpr int kClosed = 0;
constexpr int kReading = memory::kHostReadable;
constexpr int kWriting = memory::kHostReadable | memory::kHostWritable;

}  // namespace

TEST_CASE("reading an element opens its view for reading only, writing for both") {
  Array<int, 1> a(8);
  CHECK(stateOf(a) == kClosed);
  a(0) = 5;
  CHECK(stateOf(a) == kWriting);
  eval(triple)(a);
  CHECK(stateOf(a) == kClosed);
  CHECK(a(0) == 15);
  CHECK(stateOf(a) == kReading);
  const Array<int, 1>& constant = a;
  eval(triple)(a);
  CHECK(constant(0) == 45);
  CHECK(stateOf(a) == kReading);
  a(0) += 1;
  CHECK(stateOf(a) == kWriting);
  CHECK(a(0) == 46);
}

TEST_CASE("an index outside of the array opens nothing, whatever the view's state and the use") {
  Array<int, 2> a(3, 4);
  a.label("field");
  const Array<int, 2>& constant = a;
  for (const bool open : {false, true}) {
    CAPTURE(open);
    if (open) a(0, 0) = 1;
    const int before = stateOf(a);
    for (const auto& [row, column, dimension] :
         {std::array{3, 0, 1}, {-1, 0, 1}, {0, 4, 2}, {2, -1, 2}}) {
      CAPTURE(row);
      CAPTURE(column);
      const int index = dimension == 1 ? row : column;
      const std::string wanted =
          "index " + std::to_string(index) + " of dimension " + std::to_string(dimension) +
          " of array \"field\" is out of range: valid are 0 to " + (dimension == 1 ? "2" : "3");
      const int y = row;
      const int x = column;
      CHECK(messageOf<ShapeError>([&] { a(y, x) = 1; }) == wanted);
      CHECK(messageOf<ShapeError>([&] { a(y, x) += 1; }) == wanted);
      CHECK(messageOf<ShapeError>([&] { static_cast<void>(a(y, x).value()); }) == wanted);
      CHECK(messageOf<ShapeError>([&] { static_cast<void>(constant(y, x)); }) == wanted);
    }
    CHECK(stateOf(a) == before);
  }
  // Indices that a 32-bit comparison would take for small ones.
  const std::int64_t far = std::int64_t{1} << 32;
  CHECK(contains(messageOf<ShapeError>([&] { a(far, 0) = 1; }), "index 4294967296"));
}

TEST_CASE("a loop that writes goes on correctly when launches close the view in between") {
  Array<int, 1> a(64);
  Array<int, 1> sum(64);
  a = 0;
  sum = 0;
  std::vector<int> expected(64, 0);
  std::vector<int> expectedSum(64, 0);
  for (int i = 0; i < 64; ++i) {
    a(i) = i;
    expected[static_cast<std::size_t>(i)] = i;
    if (i % 7 == 3) {  // closes the view altogether
      eval(triple)(a);
      for (int& value : expected) value *= 3;
    }
    if (i % 5 == 1) {  // takes the right to write
      eval(addTo)(sum, a);
      for (std::size_t k = 0; k < 64; ++k) expectedSum[k] += expected[k];
    }
    a(i) += 2;
    expected[static_cast<std::size_t>(i)] += 2;
  }
  for (int i = 0; i < 64; ++i) {
    INFO("at " << i);
    CHECK(a(i) == expected[static_cast<std::size_t>(i)]);
    CHECK(sum(i) == expectedSum[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("loops over elements that may alias the view's own numbers are correct") {
  // Stores of 64-bit integers and of bytes are those that a compiler must not look past.
  Array<std::int64_t, 2> a(30, 20);
  eval(number)(a);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 20; ++x) a(y, x) = a(y, x) * 2 + a(29 - y, 19 - x) % 2;
  Array<unsigned char, 1> bytes(300);
  for (int i = 0; i < 300; ++i) bytes(i) = static_cast<unsigned char>(i);
  for (int i = 0; i < 300; ++i) CHECK(bytes(i) == static_cast<unsigned char>(i));
  std::vector<std::int64_t> plain(600);
  for (int i = 0; i < 600; ++i)
    plain[static_cast<std::size_t>(i)] = 1000 * static_cast<std::int64_t>(i / 20) + i % 20;
  for (std::size_t i = 0; i < 600; ++i) plain[i] = plain[i] * 2 + plain[599 - i] % 2;
  for (int i = 0; i < 600; ++i) CHECK(a(i / 20, i % 20) == plain[static_cast<std::size_t>(i)]);
}

TEST_CASE("elements of an array that gets its host memory late are written where they belong") {
  // The first write makes the memory, while the loop may hold what it knew of the array before.
  Array<int, 2> a(12, 9, HPL_NOHOST_MEM);
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 9; ++x) a(y, x) = 10 * y + x;
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 9; ++x) a(y, x) += 1;
  CHECK(stateOf(a) == kWriting);
  Array<int, 2>& rows = a(Range(3, 5), Range(0, 8));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 9; ++x) rows(y, x) -= 1;
  eval([](Array<int, 2> k) { k[idy][idx] *= 2; })(a);
  CHECK(stateOf(a) == kClosed);
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 9; ++x) a(y, x) -= 1;
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 9; ++x) CHECK(a(y, x) == 2 * (10 * y + x + (y < 3 || y > 5)) - 1);
  CHECK(contains(messageOf<ShapeError>([&] { a(12, 0) = 1; }), "index 12 of dimension 1"));
}

TEST_CASE("a loop follows its handles when they name other arrays, of other shapes") {
  Array<int, 2> a(4, 6);
  Array<int, 2> b(6, 4);
  a = 0;
  b = 0;
  const auto writeAll = [](Array<int, 2>& first, Array<int, 2>& second) {
    for (int k = 0; k < 24; ++k) {
      const int columns = static_cast<int>(first.getDimension(1));
      first(k / columns, k % columns) += k;
      swap(first, second);
    }
  };
  writeAll(a, b);  // even k in a, odd ones in b
  for (int k = 0; k < 24; ++k) {
    CHECK(a(k / 6, k % 6) == (k % 2 == 0 ? k : 0));
    CHECK(b(k / 4, k % 4) == (k % 2 == 1 ? k : 0));
  }
}

TEST_CASE("indices of three dimensions are checked one by one, in views too") {
  Array<long, 3> a(5, 6, 7);
  a.label("cube");
  a = 0L;
  Array<long, 3>& v = a(Range(1, 3), Range(2, 4), Range(3, 6));
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) v(z, y, x) = 100 * z + 10 * y + x + 1;
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 7; ++x) {
        const bool inside = z >= 1 && z <= 3 && y >= 2 && y <= 4 && x >= 3;
        CHECK(a(z, y, x) == (inside ? 100 * (z - 1) + 10 * (y - 2) + x - 3 + 1 : 0));
      }
  CHECK(contains(messageOf<ShapeError>([&] { v(3, 0, 0) = 1; }), "valid are 0 to 2"));
  CHECK(contains(messageOf<ShapeError>([&] { v(0, 3, 0) = 1; }), "index 3 of dimension 2"));
  CHECK(contains(messageOf<ShapeError>([&] { v(0, 0, -1) += 1; }), "index -1 of dimension 3"));
  CHECK(contains(messageOf<ShapeError>([&] { ++v(0, 0, 4); }), "valid are 0 to 3"));
}

TEST_CASE("handles lead to their elements after every way of getting them") {
  Array<int, 1> a(4);
  Array<int, 1> b(2);
  for (int i = 0; i < 4; ++i) a(i) = 10 + i;
  for (int i = 0; i < 2; ++i) b(i) = 20 + i;
  const Array<int, 1> copy(a);
  CHECK(copy(3) == 13);
  Array<int, 1> moved(std::move(a));
  CHECK(moved(3) == 13);
  CHECK(contains(messageOf<ShapeError>([&] { a(0) = 1; }), "was moved from"));
  CHECK(contains(messageOf<ShapeError>([&] { static_cast<void>(a(0).value()); }), "moved from"));
  swap(moved, b);
  CHECK(moved(1) == 21);
  CHECK(b(3) == 13);
  a = b;  // a names nothing: it becomes another handle
  a(3) = 33;
  CHECK(b(3) == 33);
  Array<int, 1> taken;
  taken = std::move(b);
  CHECK(taken(3) == 33);
  CHECK(contains(messageOf<ShapeError>([&] { b(0) = 1; }), "was moved from"));
  Array<int, 1> ofView(taken(Range(1, 2)));
  CHECK(ofView(1) == 12);
  CHECK(contains(messageOf<ShapeError>([&] { ofView(2) = 1; }), "valid are 0 to 1"));
  Array<int, 1> nothing;
  swap(nothing, ofView);
  CHECK(nothing(0) == 11);
  CHECK(contains(messageOf<ShapeError>([&] { ofView(0) = 1; }), "never given a size"));
  Array<int, 1, Local> local(5);
  CHECK(contains(messageOf<KernelError>([&] { local(0) = 1; }), "only carries the size"));
}

TEST_CASE("structs and vectors are read in parts and updated as a whole") {
  Array<ElementTestCell, 1> cells(3);
  for (int i = 0; i < 3; ++i) cells(i) = ElementTestCell{i, 0.5f};
  CHECK(cells(2)->count == 2);
  cells(0) = cells(2);
  CHECK(cells(0)->count == 2);
  CHECK(cells(0)->weight == 0.5f);
  Array<float4, 2> v(2, 2);
  v = float4(1, 2, 3, 4);
  v(1, 0) += float4(1, 1, 1, 1);
  v(1, 0) *= 2.0f;
  CHECK(v(1, 0).value() == float4(4, 6, 8, 10));
  CHECK(v(0, 0)->w == 4.0f);
}

TEST_CASE("several threads may read one array that nobody has opened yet") {
  constexpr int kCells = 5000;
  for (int round = 0; round < 20; ++round) {
    Array<int, 1> a(kCells);
    for (int i = 0; i < kCells; ++i) a(i) = i + round;
    eval(triple)(a);
    std::atomic<int> ready{0};
    std::atomic<std::int64_t> total{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (++ready; ready < 4;) std::this_thread::yield();
        std::int64_t sum = 0;
        for (int i = 0; i < kCells; ++i) sum += a(i);
        total += sum;
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(total ==
          4 * 3 * (std::int64_t{kCells} * (kCells - 1) / 2 + std::int64_t{kCells} * round));
    CHECK(stateOf(a) == kReading);
  }
}

TEST_CASE("some threads may read an array while others launch kernels that read it") {
  constexpr int kCells = 2000;
  Array<int, 1> a(kCells);
  for (int i = 0; i < kCells; ++i) a(i) = i;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round)
        for (int i = 0; i < kCells; ++i)
          if (a(i) != i) ++wrong;
    });
    threads.emplace_back([&] {
      Array<int, 1> sum(kCells);
      sum = 0;
      for (int round = 1; round <= 20; ++round) {
        eval(addTo)(sum, a);
        if (sum(kCells - 1) != round * (kCells - 1)) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("threads write arrays of their own at the same time") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&wrong, t] {
      Array<int, 1> a(500);
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 500; ++i) a(i) = i + t + round;
        eval(triple)(a);
        for (int i = 0; i < 500; ++i)
          if (a(i) != 3 * (i + t + round)) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace element_access_tests
