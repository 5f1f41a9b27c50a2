// SPDX-License-Identifier: Apache-2.0
// Loops that several rows, and several vectors of them, go through together.
#include <cstdlib>
#include <random>

#include "hpl/ir/walk.h"
#include "tests/strategies/support.h"

namespace joint_loops_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

using Numbers = Array<int, 2>;

int loopsIn(const ir::Block& block) {
  int count = 0;
  for (const ir::Stmt* stmt : block.stmts) {
    count += stmt->as<ir::Loop>() != nullptr || stmt->as<ir::DoLoop>() != nullptr ? 1 : 0;
    ir::forEachBlock(*stmt, [&](const ir::Block& inner) { count += loopsIn(inner); });
  }
  return count;
}

RowsOptions optionsOf(int lanes, int vectors, int jam) {
  RowsOptions options;
  options.dims = 2;
  options.lanes = lanes;
  options.vectors = vectors;
  options.jam = jam;
  return options;
}

/// Runs a kernel of (out, in) both ways.
void compareJoint(const ir::Kernel& kernel, unsigned seed = 5) {
  const ir::AccessSummary summary = ir::analyze(kernel);
  for (const auto& [vectors, jam] : {std::pair{1, 2}, {2, 1}, {3, 4}, {2, 8}, {0, 0}}) {
    const Rows rewritten = rows(kernel, summary, optionsOf(4, vectors, jam));
    REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
    CAPTURE(vectors);
    CAPTURE(jam);
    for (const auto& [height, width] :
         {std::pair<std::int64_t, std::int64_t>{1, 3}, {9, 29}, {17, 13}}) {
      CAPTURE(width);
      const auto cells = static_cast<std::size_t>(height * width);
      requireSameRows(kernel, rewritten, numbers(cells, seed), height,
                      {{std::uint64_t(width), 16, 1}, {11, 3, 1}});
    }
  }
}

/// Random loops with the same turns for all elements, within each other and within branches, beside
/// loops that elements go through on their own.
struct RandomJoint {
  unsigned seed;

  struct Writer {
    std::mt19937 random;
    const Numbers& in;
    int depth = 0;

    int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
    Expr<int> value(const Int& a, const Int& b, const Int& common) {
      switch (pick(8)) {
        case 0:
          return a + b;
        case 1:
          return a * 3 - common;
        case 2:
          return b ^ (common + pick(64));
        case 3:
          return in[idy][idx] + a;
        case 4:
          return where(a > b, a - common, b & 31);
        case 5:
          return in[idy][0] * common + a;
        case 6:
          return in[0][idx] - common * b;
        default:
          return (a & 255) - pick(100);
      }
    }
    Expr<int> uniform(const Int& common) {
      switch (pick(4)) {
        case 0:
          return common + 1;
        case 1:
          return (common * 5 + pick(7)) & 7;
        case 2:
          return in[0][0] & 3;
        default:
          return Expr<int>(common - pick(3));
      }
    }
    void statements(Int& a, Int& b, Int& common) {
      const int count = 2 + pick(3);
      for (int i = 0; i < count; ++i) {
        switch (depth < 3 ? pick(10) : pick(4)) {
          case 0:
            a = value(a, b, common);
            break;
          case 1:
            b += value(b, a, common);
            break;
          case 2:
            common = uniform(common);
            break;
          case 3: {
            Int own = value(a, b, common);
            a -= own & 63;
            break;
          }
          case 4:
          case 5: {
            Int limit = uniform(common) & 3;
            ++depth;
            for_(Int k = 0, k < limit + pick(3), k++) {
              a += in[idy][idx] * k;
              Int inner = k + pick(2);
              statements(a, b, inner);
              if (pick(3) == 0) limit -= 1;
            }
            --depth;
            break;
          }
          case 9: {
            Int at = cast<int>(idx) + pick(3);
            const bool leaves = pick(4) == 0;
            ++depth;
            while_(at < pick(70)) {
              a += at * 3;
              Int inner = at + pick(2);
              statements(a, b, inner);
              if (leaves) {
                if_((b & 7) == 3) {
                  break_;
                }
              }
              at += cast<int>(szx);
            }
            --depth;
            b -= at;
            break;
          }
          case 6: {
            Int left = 1 + pick(4);
            ++depth;
            do_ {
              left--;
              b ^= in[idy][idx] + left;
              Int shown = left * 2;
              statements(b, a, shown);
              if (pick(2) == 0) common += 1;
            }
            dowhile_(left > 0);
            --depth;
            break;
          }
          case 7: {
            ++depth;
            if_(uniform(common) > pick(4)) {
              statements(a, b, common);
            }
            else_ { a += 3; }
            --depth;
            break;
          }
          default: {
            ++depth;
            if_(a > b) {
              statements(a, b, common);
            }
            --depth;
            Int turns = a & 3;
            for_(Int k = 0, k < turns, k++) {
              b += k;
              if (pick(2) == 0) {
                if_(b > 70) {
                  break_;
                }
              }
            }
          }
        }
      }
    }
  };

  void operator()(Numbers out, const Numbers& in) const {
    Writer writer{std::mt19937(seed), in};
    Int a = in[idy][idx], b = cast<int>(idx) * 7 - cast<int>(idy), common = 2;
    for_(Int turn = 0, turn < 3, turn++) {
      a += in[idy][0] * in[0][idx] + turn;
      writer.statements(a, b, common);
    }
    writer.statements(b, a, common);
    out[idy][idx] = a * 31 + b + common;
  }
};

void productOf(Numbers out, const Numbers& in) {
  Int sum = 0;
  for_(Int k = 0, k < cast<int>(szy), k++) {
    sum += in[idy][0] * in[k][idx];
  }
  out[idy][idx] = sum;
}

}  // namespace

TEST_CASE("rows of a matrix product go through one loop") {
  const auto kernel = captured(productOf);
  compareJoint(*kernel);
  const ir::AccessSummary summary = ir::analyze(*kernel);
  const Rows chosen = rows(*kernel, summary, optionsOf(16, 0, 0));
  CHECK(chosen.vectors == 3);
  CHECK(chosen.jam == 8);
  const Rows alone = rows(*kernel, summary, optionsOf(16, 1, 1));
  // One for all copies, and some over what is left of rows and of their ends.
  CHECK(loopsIn(*chosen.kernel->entry->body) < loopsIn(*alone.kernel->entry->body) + 12);
}

TEST_CASE("as many sums at once as registers and the domain hold") {
  const auto kernel = captured(productOf);
  const ir::AccessSummary summary = ir::analyze(*kernel);
  const Rows half = rows(*kernel, summary, optionsOf(8, 0, 0));
  CHECK(half.vectors * half.jam <= 12);
  RowsOptions options = optionsOf(16, 0, 0);
  options.size = {40, 7, 0};
  const Rows small = rows(*kernel, summary, options);
  CHECK(small.vectors == 2);
  CHECK(small.jam == 4);
  CHECK(small.dependsOnSize);
}

TEST_CASE("loops within loops that all elements go through give the same bits in rows") {
  compareJoint(*captured([](Numbers out, const Numbers& in) {
    Int sum = in[idy][idx];
    for_(Int k = 0, k < 5, k++) {
      Int twice = 2 * k;
      for_(Int l = twice, l < 9, l += 2) {
        sum = sum * 3 + in[0][idx] * l - in[idy][0] * twice;
      }
      if_(twice > 4) {
        sum ^= k;
      }
    }
    out[idy][idx] = sum;
  }));
}

TEST_CASE("a counter that a branch changes is one for each element") {
  compareJoint(*captured([](Numbers out, const Numbers& in) {
    Int sum = 0, k = 0;
    while_(k < 12) {
      sum += in[idy][idx] * k + in[0][idx];
      if_((k & 3) == 2) {
        k += 3;
      }
      k++;
    }
    out[idy][idx] = sum + k;
  }));
}

TEST_CASE("turns that end early, for all elements, do so for each of them") {
  compareJoint(*captured([](Numbers out, const Numbers& in) {
    Int sum = 0;
    for_(Int k = 0, k < 9, k++) {
      sum += in[0][idx];
      if_(k == 3) {
        continue_;
      }
      sum = sum * 5 + in[idy][0];
      if_(k == 6) {
        break_;
      }
    }
    out[idy][idx] = sum;
  }));
}

TEST_CASE("what loops read behind themselves is what they left") {
  compareJoint(*captured([](Numbers out, const Numbers& in) {
    Int k = 1, before = in[0][idx] + k, sum = before;
    do_ {
      sum += in[0][idx] * k + in[idy][0];
      k *= 2;
    }
    dowhile_(k < 20);
    Int after = in[0][idx] + k;
    out[idy][idx] = sum * 3 + after - k;
  }));
}

TEST_CASE("random loops that all elements go through give the same bits in rows") {
  const char* wish = std::getenv("RANDOM_STENCILS");
  const unsigned count = wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : 150;
  unsigned rewrittenKernels = 0;
  for (unsigned seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    const auto kernel = captured(RandomJoint{seed});
    const ir::AccessSummary summary = ir::analyze(*kernel);
    const std::pair<int, int> shapes[] = {{1, 2}, {2, 2}, {3, 4}, {0, 0}};
    const auto& [vectors, jam] = shapes[seed % 4];
    const Rows rewritten = rows(*kernel, summary, optionsOf(4, vectors, jam));
    if (!rewritten.kernel) continue;
    ++rewrittenKernels;
    requireSameRows(*kernel, rewritten, numbers(9 * 27, seed), 9, {{27, 9, 1}});
  }
  MESSAGE(rewrittenKernels << " of " << count << " kernels were rewritten");
  CHECK(rewrittenKernels > count / 2);
}

}  // namespace joint_loops_tests
