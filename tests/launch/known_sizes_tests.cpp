// SPDX-License-Identifier: Apache-2.0
// Scalars that are the domain's size, at times: kernels compute the same whether a launch's are.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/runtime/subprocess.h"
#include "tests/seeds.h"

namespace known_sizes_tests {

using namespace hpl;

namespace {

using Cells = Array<int, 2>;

template <class Size>
void ring(Cells out, const Cells& in, Size rows, Size columns) {
  Int x = cast<int>(idx), y = cast<int>(idy), h = cast<int>(rows), w = cast<int>(columns);
  Int right = (x + 1) % w;
  out[y][x] = in[(y + h - 1) % h][x] * 3 + in[(y + 2) % h][right] - in[y][(x - 1 + w) % w] * 2 + x;
}

void clamped(Cells out, const Cells& in, Int rows, Int columns) {
  Int x = cast<int>(idx), y = cast<int>(idy), left = x - 1, below = y + 1;
  if_(left < 0) {
    left = 0;
  }
  out[y][x] =
      in[min(below, rows - 1)][left] * 2 + in[y][where(x + 2 < columns, x + 2, columns - 1)];
}

/// One scalar for both.
void square(Cells out, const Cells& in, Int n) {
  out[idy][idx] = in[(cast<int>(idy) + n - 1) % n][(cast<int>(idx) + 1) % n];
}

/// The scalar changes before it is used.
void changed(Cells out, const Cells& in, Int columns) {
  columns = columns - 1;
  out[idy][idx] = in[idy][(cast<int>(idx) + 1) % columns];
}

struct Board {
  Board(int height, int width)
      : rows(height), columns(width), in(height, width), out(height, width), cells(in.size()) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = static_cast<int>(i * 2654435761u % 1009);
    in.copyFrom(cells.data());
  }

  int at(int y, int x) const { return cells[static_cast<std::size_t>(y * columns + x)]; }

  /// Compares the first `height` rows and `width` columns with `expected(y, x)`.
  template <class Expected>
  void check(int height, int width, Expected&& expected) {
    CAPTURE(height);
    CAPTURE(width);
    const int* result = out.data(HPL_RD);
    int wrong = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) wrong += result[y * columns + x] != expected(y, x);
    CHECK(wrong == 0);
  }
  /// The result of `ring` in a domain of the whole board with these scalars.
  void checkRing(int h, int w) {
    check(rows, columns, [&](int y, int x) { return ringAt(h, w, y, x); });
  }
  int ringAt(int h, int w, int y, int x) const {
    return at((y + h - 1) % h, x) * 3 + at((y + 2) % h, (x + 1) % w) - at(y, (x - 1 + w) % w) * 2 +
           x;
  }

  int rows, columns;
  Cells in, out;
  std::vector<int> cells;
};

}  // namespace

TEST_CASE("a ring is as long as an argument says whether it is the whole domain or not") {
  for (const auto& [rows, columns] :
       std::vector<std::pair<int, int>>{{2, 2}, {16, 17}, {61, 130}, {128, 128}}) {
    Board board(rows, columns);
    // The same kernel each time: what one launch knows does not hold for the next one.
    for (const auto& [h, w] : std::vector<std::pair<int, int>>{{rows, columns},
                                                               {rows - 1, columns},
                                                               {rows, columns - 1},
                                                               {rows, columns},
                                                               {1, 1},
                                                               {rows - 1, columns - 1}}) {
      board.out = -1;
      eval(ring<Int>)(board.out, board.in, h, w);
      board.checkRing(h, w);
    }
  }
}

TEST_CASE("sizes in scalars of any integer type are known, and given as any other") {
  Board board(40, 33);
  eval(ring<Uint>)(board.out, board.in, 40u, 33u);
  board.checkRing(40, 33);
  eval(ring<Ulong>)(board.out, board.in, std::size_t{40}, std::size_t{33});
  board.checkRing(40, 33);
  eval(ring<Long>)(board.out, board.in, 39, short{33});
  board.checkRing(39, 33);
  eval(ring<Short>)(board.out, board.in, 40L, 32);
  board.checkRing(40, 32);
  eval(ring<Uchar>)(board.out, board.in, 40, 33);
  board.checkRing(40, 33);
}

TEST_CASE("the domain counts, not the array") {
  Board board(50, 45);
  for (const auto& [h, w] : std::vector<std::pair<int, int>>{{50, 45}, {20, 30}, {31, 45}}) {
    board.out = -1;
    eval(ring<Int>).global(30, 20)(board.out, board.in, h, w);
    board.check(20, 30, [&, h = h, w = w](int y, int x) { return board.ringAt(h, w, y, x); });
    CHECK(board.out(20, 0) == -1);
    CHECK(board.out(0, 30) == -1);
  }
}

TEST_CASE("a repeated launch keeps the scalars of its first time") {
  Board board(32, 48);
  FRunner whole = eval(ring<Int>)(board.out, board.in, 32, 48);
  FRunner part = eval(ring<Int>)(board.out, board.in, 31, 47);
  whole.run();
  board.checkRing(32, 48);
  part.run();
  board.checkRing(31, 47);
}

TEST_CASE("limits and squares in scalars") {
  for (const int n : {4, 37, 64}) {
    Board board(n, n);
    for (const int size : {n, n - 1, n - 2, n}) {
      eval(square)(board.out, board.in, size);
      board.check(n, n,
                  [&](int y, int x) { return board.at((y + size - 1) % size, (x + 1) % size); });
      eval(clamped)(board.out, board.in, size, size);
      board.check(n, n, [&](int y, int x) {
        return board.at(std::min(y + 1, size - 1), std::max(x - 1, 0)) * 2 +
               board.at(y, x + 2 < size ? x + 2 : size - 1);
      });
      eval(changed)(board.out, board.in, size);
      board.check(n, n, [&](int y, int x) { return board.at(y, (x + 1) % (size - 1)); });
    }
  }
}

TEST_CASE("views that are no boxes have domains whose sizes are known, too") {
  Board board(24, 40);
  Cells out(12, 40);
  const auto next = [](Cells to, const Cells& from, Int rows, Int columns) {
    to[idy][idx] = from[(cast<int>(idy) + 1) % rows][(cast<int>(idx) + columns - 1) % columns];
  };
  for (const int rows : {12, 11}) {
    eval(next)(out, board.in(Range(0, 23, 2), Range(0, 39)), rows, 40);
    int wrong = 0;
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 40; ++x)
        wrong += out(y, x) != board.at((y + 1) % rows * 2, (x + 39) % 40);
    CHECK(wrong == 0);
  }
}

TEST_CASE("random rings of one kernel, whole or not, by launches of many kinds") {
  for (const unsigned seed : Seeds(1, 30)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    Board board(pick(3, 40), pick(3, 40));
    for (int step = 0; step < 8; ++step) {
      const int h = pick(0, 2) > 0 ? board.rows : pick(1, board.rows);
      const int w = pick(0, 2) > 0 ? board.columns : pick(1, board.columns);
      switch (pick(0, 3)) {
        case 0:
          eval(ring<Int>)(board.out, board.in, h, w);
          break;
        case 1:
          eval(ring<Int>).devices()(board.out, board.in, h, w);
          break;
        case 2:
          eval(ring<Int>).interpret(board.out, board.in, h, w);
          break;
        default:
          eval(ring<Int>).global(static_cast<std::size_t>(board.columns),
                                 static_cast<std::size_t>(board.rows))(board.out, board.in, h, w);
      }
      board.checkRing(h, w);
    }
  }
}

TEST_CASE("rings in scalars are the same by each strategy, and checked") {
  for (const std::string how : {"HPL_STRATEGY=direct", "HPL_STRATEGY=rows", "HPL_STRATEGY=columns",
                                "HPL_STRATEGY=tile", "HPL_STRATEGY=stream", "HPL_CHECK=bounds"}) {
    CAPTURE(how);
    const auto run = subprocess::run(
        "a ring is as long as an argument says whether it is the whole domain or not",
        "HPL_LOG=error " + how);
    CAPTURE(run.output);
    CHECK(run.exitCode == 0);
  }
}

TEST_CASE("a ring whose size is an argument is computed in rows of vectors") {
  if (defaultDevice().type() != CPU) return;
  const auto run = subprocess::run("limits and squares in scalars", "HPL_LOG=error HPL_EXPLAIN=1");
  CAPTURE(run.output);
  const std::string start = "hpl: kernel 'square'";
  const std::size_t first = run.output.find(start);
  REQUIRE(first != std::string::npos);
  CHECK(run.output.find(": rows: ", first) < run.output.find('\n', first));
}

}  // namespace known_sizes_tests
