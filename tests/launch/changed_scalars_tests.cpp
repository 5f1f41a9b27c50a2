// SPDX-License-Identifier: Apache-2.0
// A scalar parameter is the work-item's own: it may change it, whatever is made of the kernel.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/runtime/subprocess.h"

namespace changed_scalars_tests {

using namespace hpl;

namespace {

using Cells = Array<int, 2>;

void once(Cells out, const Cells& in, Int n) {
  n = n + 1;
  if_(idx > 0 && idx + 1 < szx) {
    out[idy][idx] = in[idy][idx - 1] + in[idy][idx + 1] + n;
  }
}

void underCondition(Cells out, const Cells& in, Int n) {
  if_(in[idy][idx] > 5) {
    n = n * 2;
  }
  out[idy][idx] = in[idy][idx] + n;
}

void inLoop(Cells out, const Cells& in, Int n) {
  Int sum = 0;
  while_(n > 0) {
    sum += in[idy][idx] * n;
    n -= 1;
  }
  out[idy][idx] = sum;
}

void byValues(Cells out, const Cells& in, Int n) {
  for_(Int k = 0, k < 3, k++) {
    n += in[idy][idx];
  }
  out[idy][idx] = n;
}

/// Before the scalar changes it decides where others write.
void afterUse(Cells out, const Cells& in, Int n) {
  out[idy][idx] = in[idy][(cast<int>(idx) + n) % cast<int>(szx)];
  n++;
  out[idy][idx] += n;
}

void component(Cells out, const Cells& in, Int2 n) {
  n.x += in[idy][idx];
  out[idy][idx] = n.x * 10 + n.y;
}

struct Board {
  static constexpr int kRows = 37, kColumns = 70;
  Cells out{kRows, kColumns}, in{kRows, kColumns};

  Board() {
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) in(y, x) = (y * 7 + x * 3) % 11;
    out = -1;
  }
  int at(int y, int x) { return in(y, x); }

  void check(const std::function<int(int, int)>& expected) {
    int wrong = 0;
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) wrong += out(y, x) != expected(y, x);
    CHECK(wrong == 0);
  }
};

void checkAll(bool onSeveral) {
  Board board;
  const auto launch = [&](auto kernel, auto n) {
    if (onSeveral) {
      eval(kernel).devices()(board.out, board.in, n);
    } else {
      eval(kernel)(board.out, board.in, n);
    }
  };
  const auto at = [&](int y, int x) { return board.at(y, x); };
  launch(once, 4);
  board.check([&](int y, int x) {
    const bool isInside = x > 0 && x + 1 < Board::kColumns;
    return isInside ? at(y, x - 1) + at(y, x + 1) + 5 : -1;
  });
  launch(underCondition, 4);
  board.check([&](int y, int x) { return at(y, x) + (at(y, x) > 5 ? 8 : 4); });
  launch(inLoop, 4);
  board.check([&](int y, int x) { return at(y, x) * 10; });
  launch(byValues, 4);
  board.check([&](int y, int x) { return 4 + 3 * at(y, x); });
  launch(afterUse, 4);
  board.check([&](int y, int x) { return at(y, (x + 4) % Board::kColumns) + 5; });
  launch(component, int2{1, 2});
  board.check([&](int y, int x) { return (1 + at(y, x)) * 10 + 2; });
}

}  // namespace

TEST_CASE("scalars that a kernel changes are each work-item's own") {
  checkAll(false);
  checkAll(true);
}

TEST_CASE("scalars that a kernel changes are each work-item's own by each strategy") {
  for (const std::string strategy : {"direct", "rows", "columns", "tile", "stream"}) {
    CAPTURE(strategy);
    const auto run = subprocess::run("scalars that a kernel changes are each work-item's own",
                                     "HPL_LOG=warn HPL_STRATEGY=" + strategy);
    CAPTURE(run.output);
    CHECK(run.exitCode == 0);
    // Nothing that a strategy wrote was refused by the compiler.
    CHECK(run.output.find("does not compile") == std::string::npos);
  }
}

}  // namespace changed_scalars_tests
