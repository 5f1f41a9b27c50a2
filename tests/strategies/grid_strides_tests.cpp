// SPDX-License-Identifier: Apache-2.0
// Loops that go on by the number of work-items, in rows.
#include <random>

#include "hpl/ir/printer.h"
#include "tests/strategies/support.h"

namespace grid_strides_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

using Numbers = Array<int, 2>;

/// Runs a kernel of (out, in, limit) both ways: fewer work-items than there are elements in a row
/// of `in`. Returns the rewritten kernel's text.
template <class F>
std::string compareStrides(const F& kernel) {
  const auto original = captured(kernel);
  const ir::AccessSummary summary = ir::analyze(*original);
  std::string text;
  for (const auto& [vectors, jam] : {std::pair{1, 1}, {2, 1}, {2, 4}, {0, 0}}) {
    RowsOptions options;
    options.dims = 2;
    options.lanes = 4;
    options.vectors = vectors;
    options.jam = jam;
    const Rows rewritten = rows(*original, summary, options);
    REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
    text = ir::print(*rewritten.kernel);
    const std::int64_t height = 5, width = 100;
    std::vector<int> in = numbers(static_cast<std::size_t>(height * width), 3);
    for (const std::uint64_t items : {1u, 4u, 9u, 16u, 33u, 64u}) {
      for (int limit : {-3, 0, 1, 5, 15, 16, 17, 32, 63, 64, 65, 99, 100}) {
        CAPTURE(vectors);
        CAPTURE(jam);
        CAPTURE(items);
        CAPTURE(limit);
        const auto columns = static_cast<std::int64_t>(items);
        const Ids ids{2, {0, 0, 0}, {items, std::uint64_t(height), 1}};
        std::vector<int> expected(static_cast<std::size_t>(height * columns), 7), got = expected;
        const auto arguments = [&](std::vector<int>& out) {
          return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, columns}),
                                           ir::arrayArgument(in.data(), {height, width}),
                                           ir::scalarArgument(limit)};
        };
        runOriginal(*original, ids, arguments(expected));
        runRows(rewritten, ids, {21, 4, 1}, arguments(got));
        REQUIRE(got == expected);
      }
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a sum of elements as far apart as there are work-items gives the same bits in rows") {
  compareStrides([](Numbers out, const Numbers& in, Int limit) {
    Int sum = 0;
    for_(Int at = cast<int>(idx), at < limit, at += cast<int>(szx)) {
      sum = sum * 3 + in[idy][at];
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("the counter of such a loop is a value, there and behind it, and an index beside it") {
  compareStrides([](Numbers out, const Numbers& in, Int limit) {
    Int sum = 1;
    Long at = cast<long>(idx) + 2l;
    while_(at <= cast<long>(limit) - 4l) {
      Int shown = cast<int>(at) * 5;
      sum += in[idy][at + 1l] * shown - in[idy][at - 1l];
      at += cast<long>(szx);
      sum ^= cast<int>(at);
    }
    out[idy][idx] = sum * 2 + cast<int>(at);
  });
}

TEST_CASE("two loops with different limits, one after the other and one within the other") {
  compareStrides([](Numbers out, const Numbers& in, Int limit) {
    Int sum = 0;
    for_(Int at = cast<int>(idx), at < limit, at += cast<int>(szx)) {
      sum += in[idy][at];
      for_(Int other = cast<int>(idx), other < limit - 7, other += cast<int>(szx)) {
        sum = sum * 5 - in[idy][other] + at;
      }
    }
    for_(Int at = cast<int>(idx), at < limit / 1 - 3, at += cast<int>(szx)) {
      sum += at;
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("a limit that depends on the row, and turns for some elements only") {
  compareStrides([](Numbers out, const Numbers& in, Int limit) {
    Int sum = 0;
    for_(Int at = cast<int>(idx), at < limit - cast<int>(idy), at += cast<int>(szx)) {
      if_(in[idy][idx] > 0) {
        sum += 3;
      }
      sum -= in[idy][at];
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("loops that go on by something else, or within a condition, keep their meaning") {
  compareStrides([](Numbers out, const Numbers& in, Int limit) {
    Int sum = 0;
    if_(in[idy][idx] > 10) {
      for_(Int at = cast<int>(idx), at < limit, at += cast<int>(szx)) {
        sum += at;
      }
    }
    for_(Int at = cast<int>(idx), at < limit, at += 7) {
      sum = sum * 3 + at;
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("elements that leave such a loop early, or never get there, keep their own counters") {
  compareStrides([](Numbers out, const Numbers& in, Int limit) {
    Int at = cast<int>(idx), other = cast<int>(idx), sum = 0;
    while_(at < limit) {
      if_((in[idy][idx] + at) % 3 == 0) {
        break_;
      }
      sum += at;
      at += cast<int>(szx);
    }
    if_(in[idy][idx] > 0) {
      while_(other < limit) {
        sum -= other;
        other += cast<int>(szx);
      }
    }
    out[idy][idx] = sum * 7 + at * 3 + other;
  });
}

TEST_CASE("sums in strides are computed in as many vectors as registers hold") {
  const auto kernel = captured([](Array<float, 1> sums, const Array<float, 1>& x, Long cells) {
    Float sum = 0.0f;
    for_(Long at = cast<long>(idx), at < cells, at += cast<long>(szx)) {
      sum += x[at];
    }
    sums[idx] = sum;
  });
  RowsOptions options;
  options.dims = 1;
  options.lanes = 16;
  const Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  CHECK(rewritten.vectors == 16);
}

TEST_CASE("sums in strides are the same bits on a device, whatever the sizes") {
  for (const int items : {1, 37, 1000, 4096}) {
    for (const long cells : {1l, 4095l, 4096l, 70001l}) {
      Array<float, 1> x(cells), sums(items);
      float* values = x.data(HPL_WR);
      for (long i = 0; i < cells; ++i) values[i] = static_cast<float>(i * 7919 % 1000) * 0.37f;
      eval([](Array<float, 1> out, const Array<float, 1>& in, Long n) {
        Float sum = 0.0f;
        for_(Long at = cast<long>(idx), at < n, at += cast<long>(szx)) {
          sum += in[at];
        }
        out[idx] = sum;
      }).global(items)(sums, x, cells);
      const float* got = sums.data(HPL_RD);
      values = x.data(HPL_RDWR);
      for (int i = 0; i < items; ++i) {
        float expected = 0;
        for (long at = i; at < cells; at += items) expected += values[at];
        REQUIRE(got[i] == expected);
      }
    }
  }
}

}  // namespace grid_strides_tests
