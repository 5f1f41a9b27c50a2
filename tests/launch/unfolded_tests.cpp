// SPDX-License-Identifier: Apache-2.0
// Kernels of one dimension that find rows and columns by dividing their ids run over both.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/runtime/subprocess.h"
#include "tests/seeds.h"

namespace unfolded_tests {

using namespace hpl;

namespace {

using Cells = Array<int, 1>;
constexpr int kMask = 1023;

void star(Cells out, const Cells& in, Int w, Int h) {
  Int i = cast<int>(idx), x = i % w, y = i / w;
  if_(x > 0 && y > 0 && x + 1 < w && y + 1 < h) {
    out[i] = (in[i - w] * 3 + in[i + w] - in[i - 1] + in[i + 1] * 2 + in[i]) & kMask;
  }
}

/// The same number in all cells that the star leaves alone.
void starOfSizes(Cells out, const Cells& in, Ulong w) {
  Ulong x = idx % w, y = idx / w, h = szx / w;
  out[idx] =
      where(x > 0 && y > 0 && x + 1 < w && y + 1 < h,
            (in[idx - w] * 3 + in[idx + w] - in[idx - 1] + in[idx + 1] * 2 + in[idx]) & kMask, 7);
}

/// On a torus, by remainders of both.
void torus(Cells out, const Cells& in, Int w, Int h) {
  Int x = cast<int>(idx) % w, y = cast<int>(idx) / w;
  out[idx] = (in[(y + h - 1) % h * w + x] * 3 + in[y * w + (x + 1) % w]) & kMask;
}

/// A row of factors, of a length that the kernel knows.
void factors(Cells out, const Cells& in, const Cells& row) {
  out[idx] = (in[idx] * row[idx % 64] + cast<int>(idx / 64)) & kMask;
}

/// Two lengths: nothing is unfolded.
void twoLengths(Cells out, const Cells& in, Int w, Int h) {
  out[idx] = in[cast<int>(idx) % w] + in[cast<int>(idx) % h];
}

/// The length changes on the way.
void changed(Cells out, const Cells& in, Int w, Int h) {
  Int i = cast<int>(idx), x = i % w;
  w = h;
  out[i] = in[x] * 2 + in[i % w];
}

/// The number that is divided changes on the way.
void other(Cells out, const Cells& in, Int w, Int h) {
  Int i = cast<int>(idx), sum = 0;
  for_(Int k = 0, k < 3, k++) {
    sum += in[i % w] + i / w;
    i = (i * 3 + h) % cast<int>(szx);
  }
  out[idx] = sum & kMask;
}

std::vector<int> someCells(std::size_t count) {
  std::vector<int> cells(count);
  for (std::size_t i = 0; i < count; ++i) cells[i] = static_cast<int>(i * 2654435761u % 1009);
  return cells;
}

int starAt(const std::vector<int>& in, int w, int i) {
  const auto at = [&](int cell) { return in[static_cast<std::size_t>(cell)]; };
  return (at(i - w) * 3 + at(i + w) - at(i - 1) + at(i + 1) * 2 + at(i)) & kMask;
}

bool isInside(int w, int h, int i) {
  return i % w > 0 && i / w > 0 && i % w + 1 < w && i / w + 1 < h;
}

/// Compares with `expected(i)`.
template <class Expected>
void check(Cells out, Expected&& expected) {
  const int* cells = out.data(HPL_RD);
  int wrong = 0;
  for (int i = 0; i < static_cast<int>(out.size()); ++i) wrong += cells[i] != expected(i);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("kernels that divide their ids compute the same whether rows fit the domain or not") {
  for (const auto& [w, h] :
       std::vector<std::pair<int, int>>{{64, 5}, {130, 61}, {63, 9}, {8, 40}, {256, 2}, {300, 1}}) {
    CAPTURE(w);
    CAPTURE(h);
    const std::vector<int> in = someCells(static_cast<std::size_t>(w * h));
    Cells a(w * h), out(w * h);
    a.copyFrom(in.data());
    const auto at = [&](int cell) { return in[static_cast<std::size_t>(cell)]; };
    out = 7;
    eval(star)(out, a, w, h);
    check(out, [&](int i) { return isInside(w, h, i) ? starAt(in, w, i) : 7; });
    out = 0;
    eval(starOfSizes)(out, a, w);
    check(out, [&](int i) { return isInside(w, h, i) ? starAt(in, w, i) : 7; });
    eval(torus)(out, a, w, h);
    check(out, [&](int i) {
      const int x = i % w, y = i / w;
      return (at((y + h - 1) % h * w + x) * 3 + at(y * w + (x + 1) % w)) & kMask;
    });
    eval(twoLengths)(out, a, w, h);
    check(out, [&](int i) { return at(i % w) + at(i % h); });
    eval(changed)(out, a, w, h);
    check(out, [&](int i) { return at(i % w) * 2 + at(i % h); });
    eval(other)(out, a, w, h);
    check(out, [&](int i) {
      int sum = 0;
      for (int k = 0; k < 3; ++k) {
        sum += at(i % w) + i / w;
        i = (i * 3 + h) % (w * h);
      }
      return sum & kMask;
    });
    const std::vector<int> row = someCells(64);
    Cells b(64);
    b.copyFrom(row.data());
    eval(factors)(out, a, b);
    check(out,
          [&](int i) { return (at(i) * row[static_cast<std::size_t>(i % 64)] + i / 64) & kMask; });
  }
}

TEST_CASE("a length that does not divide the domain leaves the kernel as it is") {
  const int n = 1000;
  const std::vector<int> in = someCells(n);
  Cells a(n), out(n);
  a.copyFrom(in.data());
  for (const int w : {100, 70, 125, 500, 1000, 333}) {
    CAPTURE(w);
    const int h = n / w;
    out = 7;
    eval(star)(out, a, w, h);
    check(out, [&](int i) { return isInside(w, h, i) ? starAt(in, w, i) : 7; });
    out = 7;
    eval(star).global(800)(out, a, w, h);
    check(out, [&](int i) { return i < 800 && isInside(w, h, i) ? starAt(in, w, i) : 7; });
    out = 7;
    eval(star).local(8)(out, a, w, h);
    check(out, [&](int i) { return isInside(w, h, i) ? starAt(in, w, i) : 7; });
  }
}

TEST_CASE("arrays of two dimensions may be walked through in one") {
  const int w = 90, h = 14;
  Array<int, 2> a(h, w), out(h, w);
  const std::vector<int> in = someCells(static_cast<std::size_t>(w * h));
  a.copyFrom(in.data());
  const auto turn = [](Array<int, 2> to, const Array<int, 2>& from, Int width) {
    Int i = cast<int>(idx), y = i / width, x = i % width;
    to[y][x] = from[y][width - 1 - x] * 2 + i;
  };
  for (const int width : {90, 45}) {
    out = -1;
    eval(turn).global(static_cast<std::size_t>(w * h))(out, a, w);
    int wrong = 0;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        wrong += out(y, x) != in[static_cast<std::size_t>(y * w + w - 1 - x)] * 2 + y * w + x;
    CHECK(wrong == 0);
    out = -1;
    eval(turn).global(static_cast<std::size_t>(width * h))(out, a, width);
    wrong = 0;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < width; ++x)
        wrong +=
            out(y, x) != in[static_cast<std::size_t>(y * w + width - 1 - x)] * 2 + y * width + x;
    CHECK(wrong == 0);
  }
}

TEST_CASE("a repeated launch runs over the rows of its first time") {
  const int w = 100, h = 12;
  const std::vector<int> in = someCells(static_cast<std::size_t>(w * h));
  Cells a(w * h), out(w * h);
  a.copyFrom(in.data());
  out = 7;
  FRunner wide = eval(star)(out, a, w, h);
  FRunner tall = eval(star)(out, a, 70, 17);
  out = 7;
  wide.run();
  check(out, [&](int i) { return isInside(w, h, i) ? starAt(in, w, i) : 7; });
  out = 7;
  tall.run();
  check(out, [&](int i) { return isInside(70, 17, i) ? starAt(in, 70, i) : 7; });
}

TEST_CASE("random launches of kernels that divide their ids") {
  for (const unsigned seed : Seeds(1, 25)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    int w = pick(60, 90), h = pick(2, 20);
    const int n = w * h + (pick(0, 3) == 0 ? pick(1, 9) : 0);
    std::vector<int> now = someCells(static_cast<std::size_t>(n)), next = now;
    Cells a(n), b(n);
    a.copyFrom(now.data());
    b.copyFrom(next.data());
    for (int step = 0; step < 8; ++step) {
      if (pick(0, 4) == 0) {
        w = pick(3, 100);
        h = n / w;
      }
      auto launch = eval(star);
      if (pick(0, 1) == 0) launch.devices();
      if (pick(0, 3) == 0) {
        launch.interpret(b, a, w, h);
      } else {
        launch(b, a, w, h);
      }
      for (int i = 0; i < n; ++i)
        if (isInside(w, h, i)) next[static_cast<std::size_t>(i)] = starAt(now, w, i);
      std::swap(now, next);
      swap(a, b);
    }
    check(a, [&](int i) { return now[static_cast<std::size_t>(i)]; });
    check(b, [&](int i) { return next[static_cast<std::size_t>(i)]; });
  }
}

TEST_CASE("kernels that divide their ids are the same by each strategy, and checked") {
  for (const std::string how : {"HPL_STRATEGY=direct", "HPL_STRATEGY=rows", "HPL_STRATEGY=columns",
                                "HPL_STRATEGY=tile", "HPL_STRATEGY=stream", "HPL_CHECK=bounds"}) {
    CAPTURE(how);
    const auto run = subprocess::run(
        "kernels that divide their ids compute the same whether rows fit the domain or not",
        "HPL_LOG=error " + how);
    CAPTURE(run.output);
    CHECK(run.exitCode == 0);
  }
}

TEST_CASE("kernels that divide their ids are computed in rows of vectors") {
  if (defaultDevice().type() != CPU) return;
  const auto run = subprocess::run("a repeated launch runs over the rows of its first time",
                                   "HPL_LOG=error HPL_EXPLAIN=1");
  CAPTURE(run.output);
  CHECK(run.output.find("hpl: kernel 'star'") != std::string::npos);
  CHECK(run.output.find(": rows: ") != std::string::npos);
}

}  // namespace unfolded_tests
