// SPDX-License-Identifier: Apache-2.0
// Loops that neighbours leave at different times, in rows.
#include <cstdlib>
#include <random>

#include "hpl/ir/printer.h"
#include "tests/strategies/support.h"

namespace masked_loops_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

using Numbers = Array<int, 2>;

/// Runs a kernel of (out, in) both ways.
template <class F>
void compareLoops(const F& kernel) {
  const auto original = captured(kernel);
  const ir::AccessSummary summary = ir::analyze(*original);
  for (const auto& [height, width] :
       {std::pair<std::int64_t, std::int64_t>{1, 3}, {4, 16}, {6, 37}}) {
    for (const int jam : {1, 2}) {
      RowsOptions options;
      options.dims = 2;
      options.lanes = jam == 1 ? 8 : 4;
      options.jam = jam;
      const Rows rewritten = rows(*original, summary, options);
      REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
      CAPTURE(width);
      CAPTURE(jam);
      const auto cells = static_cast<std::size_t>(height * width);
      requireSameRows(*original, rewritten, numbers(cells, 3), height,
                      {{std::uint64_t(width), 4, 1}, {11, 3, 1}});
    }
  }
}

/// Random loops within loops and branches, which some neighbours leave early.
struct RandomLoops {
  unsigned seed;

  struct Writer {
    std::mt19937 random;
    const Numbers& in;
    int depth = 0;

    int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
    Expr<int> value(const Int& a, const Int& b) {
      switch (pick(6)) {
        case 0:
          return a + b;
        case 1:
          return a * 3 - pick(9);
        case 2:
          return b ^ pick(64);
        case 3:
          return in[idy][idx] + a;
        case 4:
          return where(a > b, a - b, b & 31);
        default:
          return (a & 255) - pick(100);
      }
    }
    Expr<int> condition(const Int& a, const Int& b, const Int& uniform) {
      switch (pick(5)) {
        case 0:
          return uniform > pick(4);
        case 1:
          return a > b;
        case 2:
          return (a & 3) == pick(4);
        case 3:
          return in[idy][idx] < pick(60) && b != pick(5);
        default:
          return b % 3 == 0;
      }
    }
    void statements(Int& a, Int& b, const Int& turns, bool inLoop) {
      const int count = 1 + pick(3);
      for (int i = 0; i < count; ++i) {
        switch (depth < 3 ? pick(8) : pick(2)) {
          case 0:
            a = value(a, b);
            break;
          case 1:
            b += value(b, a);
            break;
          case 2:
          case 3: {
            Int limit = pick(2) == 0 ? value(a, b) & 7 : Expr<int>(turns + pick(4));
            ++depth;
            for_(Int k = 0, k < limit && k < 9, k++) {
              statements(a, b, k, true);
            }
            --depth;
            break;
          }
          case 4: {
            Int left = 5;
            ++depth;
            do_ {
              left--;
              statements(a, b, left, true);
            }
            dowhile_(left > 0 && a > b - 50);
            --depth;
            break;
          }
          case 5: {
            ++depth;
            if_(condition(a, b, turns)) {
              statements(a, b, turns, inLoop);
            }
            else_ { statements(b, a, turns, inLoop); }
            --depth;
            break;
          }
          default:
            if (!inLoop) {
              a -= b;
            } else if (pick(2) == 0) {
              if_(condition(a, b, turns)) {
                a += 1;
                break_;
              }
            } else {
              if_(condition(a, b, turns)) {
                b -= 1;
                continue_;
              }
            }
        }
      }
    }
  };

  void operator()(Numbers out, const Numbers& in) const {
    Writer writer{std::mt19937(seed), in};
    Int a = in[idy][idx], b = cast<int>(idx), turns = 2;
    writer.statements(a, b, turns, false);
    writer.statements(a, b, turns, false);
    out[idy][idx] = a * 31 + b;
  }
};

}  // namespace

TEST_CASE("a loop with a condition on values gives the same bits in rows") {
  compareLoops([](Numbers out, const Numbers& in) {
    Int value = in[idy][idx] & 63;
    Int turns = 0;
    while_(value > 1 && turns < 40) {
      value = where((value & 1) == 0, value / 2, 3 * value + 1);
      turns++;
    }
    out[idy][idx] = turns * 1000 + value;
  });
}

TEST_CASE("turns that end early, and loops that do, give the same bits in rows") {
  compareLoops([](Numbers out, const Numbers& in) {
    Int sum = 0;
    for_(Int k = 0, k < 12, k++) {
      Int each = in[idy][idx] * k;
      if_(each % 3 == 1) {
        sum += 5;
        continue_;
      }
      if_(each > 150) {
        if_(sum > 20) {
          sum -= 7;
          break_;
        }
        sum += 2;
      }
      sum += each & 15;
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("a loop whose body comes first gives the same bits in rows") {
  compareLoops([](Numbers out, const Numbers& in) {
    Int value = in[idy][idx];
    Int turns = 0;
    do_ {
      value -= 13;
      if_(value == 9) {
        continue_;
      }
      turns++;
    }
    dowhile_(value > 0);
    out[idy][idx] = turns;
  });
}

TEST_CASE("a loop under a condition on values that all leave at once gives the same bits in rows") {
  compareLoops([](Numbers out, const Numbers& in) {
    Int sum = in[idy][idx];
    if_(sum > 10) {
      for_(Int k = 0, k < 20, k++) {
        sum += k;
        if_(k == 7) {
          break_;
        }
      }
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("neighbours' elements are read for as long as they exist within such loops") {
  compareLoops([](Numbers out, const Numbers& in) {
    Int sum = 0;
    if_(idx > 0 && idx + 1 < szx) {
      Int left = in[idy][idx] & 7;
      while_(left > 0) {
        sum += in[idy][idx - 1] - 2 * in[idy][idx + 1];
        left--;
      }
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("random loops give the same bits in rows") {
  const char* wish = std::getenv("RANDOM_STENCILS");
  const unsigned count = wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : 200;
  unsigned rewrittenKernels = 0;
  for (unsigned seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    const auto kernel = captured(RandomLoops{seed});
    RowsOptions options;
    options.dims = 2;
    options.lanes = 4;
    const Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
    if (!rewritten.kernel) continue;
    ++rewrittenKernels;
    requireSameRows(*kernel, rewritten, numbers(3 * 19, seed), 3, {{19, 3, 1}});
  }
  MESSAGE(rewrittenKernels << " of " << count << " kernels were rewritten");
  CHECK(rewrittenKernels > count / 2);
}

}  // namespace masked_loops_tests
