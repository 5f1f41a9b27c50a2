// SPDX-License-Identifier: Apache-2.0
// Sums of integers as sums of columns, and tables of tests, in the interpreter: the same bits.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hpl/ir/printer.h"
#include "hpl/strategies/detail/column_patterns.h"
#include "tests/strategies/support.h"

namespace column_sums_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

/// Runs a kernel of (out, in) both ways and says how often the rewritten one, of 16 lanes, names a
/// column.
template <class T, class F>
std::size_t columnsOf(const F& kernel, unsigned range = 200) {
  const auto original = captured(kernel);
  const ir::AccessSummary summary = ir::analyze(*original);
  std::size_t columns = 0;
  for (const std::int64_t width : {37, 83}) {
    for (const int lanes : {4, 16}) {
      for (const int jam : {1, 4}) {
        RowsOptions options;
        options.dims = 2;
        options.lanes = lanes;
        options.jam = jam;
        options.vectors = 1;
        const Rows rewritten = rows(*original, summary, options);
        REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
        const std::string text = ir::print(*rewritten.kernel);
        columns = 0;
        for (std::size_t at = 0; (at = text.find("column", at)) != std::string::npos; ++at)
          ++columns;
        const std::int64_t height = 11;
        std::mt19937 random(static_cast<unsigned>(width));
        std::vector<T> in(static_cast<std::size_t>(width * height));
        for (T& value : in) value = static_cast<T>(random() % range);
        in[7] = std::numeric_limits<T>::lowest();
        in[static_cast<std::size_t>(5 * width + 20)] = std::numeric_limits<T>::max();
        CAPTURE(width);
        CAPTURE(lanes);
        CAPTURE(jam);
        requireSameRows(*original, rewritten, in, height, {{std::uint64_t(width), 8, 1}});
      }
    }
  }
  return columns;
}

/// A weighted sum over a neighbourhood.
template <class T, class Sum = Int, class Weight>
auto weighted(int radius, Weight weight) {
  return [=](Array<T, 2> out, const Array<T, 2>& in) {
    if_(idx >= radius && idx + radius < szx && idy >= radius && idy + radius < szy) {
      Sum sum = 7;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx)
          if (weight(dy, dx) != 0) sum += in[idy + dy][idx + dx] * weight(dy, dx);
      out[idy][idx] = cast<T>(sum);
    }
  };
}

}  // namespace

TEST_CASE("generations of LIFE sum up columns, the cell itself left out") {
  const auto life = [](auto out, const auto& in) {
    Int alive = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (dy == 0 && dx == 0) continue;
        Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
        if_(y >= 0 && y < cast<int>(szy) && x >= 0 && x < cast<int>(szx)) {
          alive += in[y][x];
        }
      }
    }
    out[idy][idx] = alive == 3 || (in[idy][idx] != 0 && alive == 2);
  };
  CHECK(columnsOf<int>([&](Array<int, 2> out, const Array<int, 2>& in) { life(out, in); }, 2) > 0);
  CHECK(columnsOf<unsigned char>(
            [&](Array<unsigned char, 2> out, const Array<unsigned char, 2>& in) { life(out, in); },
            2) > 0);
}

TEST_CASE("boxes, separable and symmetric weights and differences are made of columns") {
  const auto box = [](int, int) { return 1; };
  const auto binomial = [](int dy, int dx) { return (2 - std::abs(dy)) * (2 - std::abs(dx)); };
  const auto slope = [](int dy, int dx) { return dx * (2 - std::abs(dy)); };
  const auto ring = [](int dy, int dx) { return dy * dy + 3 * dx * dx; };
  CHECK(columnsOf<int>(weighted<int>(1, box)) > 0);
  CHECK(columnsOf<int>(weighted<int>(2, box)) > 0);
  CHECK(columnsOf<unsigned char>(weighted<unsigned char>(2, box)) > 0);
  CHECK(columnsOf<short>(weighted<short>(1, binomial)) > 0);
  CHECK(columnsOf<int>(weighted<int>(1, slope)) > 0);
  CHECK(columnsOf<unsigned>(weighted<unsigned, Uint>(2, ring)) > 0);
  CHECK(columnsOf<long>(weighted<long, Long>(1, binomial)) > 0);
}

TEST_CASE("sums that wrap around are the same, however they are grouped") {
  const auto box = [](int, int) { return 1; };
  const auto large = [](int dy, int) { return dy == 0 ? 1 << 30 : 3; };
  CHECK(columnsOf<unsigned>(weighted<unsigned, Uint>(1, box), 0xffffffffu) > 0);
  CHECK(columnsOf<unsigned>(weighted<unsigned, Uint>(1, large), 0xffffffffu) > 0);
}

TEST_CASE("sums of floating-point numbers keep their order") {
  const auto box = [](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      Float sum = 0.0f;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += in[idy + dy][idx + dx];
      out[idy][idx] = sum;
    }
  };
  CHECK(columnsOf<float>(box) == 0);
}

TEST_CASE("stars, whose columns differ, and sums of few terms stay as they are") {
  CHECK(columnsOf<int>(weighted<int>(1, [](int dy, int dx) { return dx == 0 || dy == 0; })) == 0);
  CHECK(columnsOf<int>([](Array<int, 2> out, const Array<int, 2>& in) {
          if_(idx > 0) {
            out[idy][idx] = in[idy][idx - 1] - in[idy][idx];
          }
        }) == 0);
}

TEST_CASE("sums among other values: taken twice, changed in between, of rounded numbers") {
  CHECK(columnsOf<int>([](Array<int, 2> out, const Array<int, 2>& in) {
          if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
            Float scale = 0.5f;
            Int sum = 0, half = 0;
            for (int dx = -1; dx <= 1; ++dx) {
              for (int dy = -1; dy <= 1; ++dy) sum += in[idy + dy][idx + dx];
              half = sum / 2;
              scale += cast<float>(half);
              sum += cast<int>(scale);
              scale = scale * 0.25f;
            }
            out[idy][idx] = sum - (half ^ sum) + in[idy][idx] - in[idy][idx] + 5;
          }
        }) >= 0);
  CHECK(columnsOf<int>([](Array<int, 2> out, const Array<int, 2>& in) {
          if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
            Int left = in[idy - 1][idx - 1] + in[idy][idx - 1] + in[idy + 1][idx - 1];
            Int here = in[idy - 1][idx] + in[idy][idx] + in[idy + 1][idx];
            Int right = in[idy - 1][idx + 1] + in[idy][idx + 1] + in[idy + 1][idx + 1];
            Int all = left + here + right;
            out[idy][idx] = where(all > 9 * in[idy][idx], all - 2 * here, left * right + all);
          }
        }) >= 0);
}

TEST_CASE("random sums of integers are the same ones") {
  std::mt19937 random(20261122);
  std::size_t found = 0;
  for (int i = 0; i < 24; ++i) {
    // Few different weights, so that columns repeat.
    std::array<int, 25> weights{};
    for (int dx = 0; dx < 5; ++dx) {
      const bool repeats = dx > 0 && random() % 3 != 0;
      const int factor = static_cast<int>(random() % 5) - 2;
      for (int dy = 0; dy < 5; ++dy)
        weights[static_cast<std::size_t>(5 * dy + dx)] =
            repeats ? factor * weights[static_cast<std::size_t>(5 * dy)]
                    : static_cast<int>(random() % 3) - 1;
    }
    weights[random() % 25] += static_cast<int>(random() % 2);
    found += columnsOf<int>(weighted<int>(2, [weights](int dy, int dx) {
               return weights[static_cast<std::size_t>(5 * (dy + 2) + dx + 2)];
             })) > 0;
  }
  CHECK(found > 8);
}

TEST_CASE("tests of one number against several ones become a table, whatever the number is") {
  const auto kernel = [](Array<int, 2> out, const Array<int, 2>& in) {
    Int n = in[idy][idx] - 1;
    Int a = cast<int>(n == 3 || (in[idy][idx] > 2 && n == 2));
    Int b = cast<int>(!(n == 1 || n == 30) && n != 5);
    Int c = where((n == 0 && in[idy][idx] < 2) || n == 4, 7, 8);
    Int d = cast<int>(in[idy][idx] < 3 || n == 30 || n == 31);
    out[idy][idx] = a + 10 * b + 100 * c + 1000 * d;
  };
  columnsOf<int>(kernel, 40);
}

TEST_CASE("what columns have in common is summed up once") {
  using namespace hpl::strategies::detail;
  ColumnPatterns patterns(16, [](int, std::int64_t) { return true; });
  std::vector<SumPlan> plans;
  for (int row = 0; row < 4; ++row) {
    std::vector<Term> terms;
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dy != 1 || dx != 0) terms.push_back({row + dy, dx, 1});
    plans.push_back(patterns.plan(terms));
    CHECK(plans.back().groups);
    // u(x - 1) + u(x) + u(x + 1) less the cell itself.
    CHECK(plans.back().columns.size() == 4);
  }
  REQUIRE(patterns.patterns().size() == 4);
  std::vector<Pattern> columns(patterns.patterns().begin(), patterns.patterns().end());
  CHECK(pairUp(columns) == std::vector<SymbolPair>{{1, 2, false}, {3, 4, false}});
  for (const Pattern& column : columns) CHECK(column.size() == 2);
}

TEST_CASE("columns that are multiples of one are that one, times a number") {
  using namespace hpl::strategies::detail;
  ColumnPatterns patterns(16, [](int, std::int64_t) { return true; });
  const SumPlan plan = patterns.plan(
      {{1, -1, -1}, {2, -1, -2}, {1, 0, 3}, {2, 0, 6}, {1, 1, 2}, {2, 1, 4}, {3, 1, 1}});
  REQUIRE(patterns.patterns().size() == 1);
  CHECK(*patterns.patterns().begin() == Pattern{{1, 1}, {2, 2}});
  std::int64_t times = 0;
  for (const Column& column : plan.columns)
    if (column.pattern != nullptr) times += column.term.times;
  CHECK(times == 4);
  CHECK(plan.columns.size() == 4);
  // A pattern whose values do not exist somewhere is not used there.
  ColumnPatterns partly(16, [](int kind, std::int64_t shift) { return kind != 2 || shift != 0; });
  CHECK(partly.plan({{1, -1, 1}, {2, -1, 1}, {1, 0, 1}, {3, 0, 1}, {1, 1, 1}, {2, 1, 1}})
            .columns.size() == 4);
}

// --- Masks of real numbers

namespace {

/// exp(-x^2 / 8) for both axes, as one mask; `odd` is added to one weight.
auto gauss(int radius, double odd = 0) {
  return [=](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idx >= radius && idx + radius < szx && idy >= radius && idy + radius < szy) {
      Float sum = 0.0f;
      for (int y = -radius; y <= radius; ++y)
        for (int x = -radius; x <= radius; ++x) {
          const double weight =
              std::exp(-y * y / 8.0) * std::exp(-x * x / 8.0) + (y == 1 && x == 0 ? odd : 0);
          sum += static_cast<float>(weight) * in[idy + y][idx + x];
        }
      out[idy][idx] = sum * 0.25f + 1.0f;
    }
    else_ { out[idy][idx] = in[idy][idx]; }
  };
}

template <class F>
Rows realRows(const std::shared_ptr<const ir::Kernel>& original, const F& change) {
  RowsOptions options;
  options.dims = 2;
  options.lanes = 8;
  options.jam = 4;
  options.vectors = 1;
  change(options);
  const Rows rewritten = rows(*original, ir::analyze(*original), options);
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  return rewritten;
}

bool hasColumns(const Rows& rewritten) {
  return ir::print(*rewritten.kernel).find("column") != std::string::npos;
}

std::vector<float> reals(std::size_t count) {
  std::mt19937 random(3);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 1000) * 1e-3f - 0.3f;
  return values;
}

constexpr auto kAsIs = [](RowsOptions&) {};
constexpr auto kExact = [](RowsOptions& options) { options.exact = true; };

}  // namespace

TEST_CASE("a mask that is the product of a column and a row is added column by column") {
  for (const int radius : {2, 3, 5}) {
    CAPTURE(radius);
    const auto original = captured(gauss(radius));
    // A vector hands on what the next one needs: masks are not wider.
    const Rows rewritten =
        realRows(original, [&](RowsOptions& options) { options.lanes = radius > 3 ? 16 : 8; });
    CHECK(hasColumns(rewritten));
    const std::int64_t width = 67, height = 19;
    std::vector<float> in = reals(static_cast<std::size_t>(width * height));
    std::vector<float> expected(in.size()), got(in.size());
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
    const auto arguments = [&](std::vector<float>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, width}),
                                       ir::arrayArgument(in.data(), {height, width})};
    };
    runOriginal(*original, ids, arguments(expected));
    runRows(rewritten, ids, {std::uint64_t(width), 8, 1}, arguments(got));
    // The sum of the magnitudes is below 30; a few roundings of that.
    for (std::size_t i = 0; i < in.size(); ++i)
      REQUIRE(std::abs(got[i] - expected[i]) <= 30 * 4e-7f);
  }
}

TEST_CASE("sums of real numbers keep their order under strict, and where a weight is another one") {
  const auto mask = captured(gauss(3));
  const Rows strict = realRows(mask, kExact);
  CHECK(!hasColumns(strict));
  const auto other = captured(gauss(3, 1e-5));
  const Rows asWritten = realRows(other, kAsIs);
  CHECK(!hasColumns(asWritten));
  requireSameRows(*other, asWritten, reals(67 * 19), 19, {{67, 8, 1}});
  requireSameRows(*mask, strict, reals(67 * 19), 19, {{67, 8, 1}});
}

TEST_CASE("a sum beside a mask keeps its order, so that the mask does, too") {
  const auto both = captured([](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idx >= 2 && idx + 2 < szx && idy >= 2 && idy + 2 < szy) {
      Float sum = 0.0f, other = 0.0f;
      for (int y = -2; y <= 2; ++y)
        for (int x = -2; x <= 2; ++x) {
          sum += in[idy + y][idx + x];
          other += static_cast<float>(y * 3 + x * x + 1) * in[idy + y][idx + x];
        }
      out[idy][idx] = sum * other;
    }
  });
  const Rows rewritten = realRows(both, kAsIs);
  CHECK(!hasColumns(rewritten));
  requireSameRows(*both, rewritten, reals(67 * 19), 19, {{67, 8, 1}});
}

TEST_CASE("weights that are a column's times a row's make one pattern, others none") {
  using strategies::detail::SeparablePatterns;
  const auto termsOf = [](int rows, int columns, double odd) {
    std::vector<strategies::detail::TermOf<double>> terms;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        terms.push_back({y + 1, x, (y - 1.5) * (x + 0.25) + (y == 2 && x == 1 ? odd : 0)});
    return terms;
  };
  SeparablePatterns patterns;
  const auto plan = patterns.plan(termsOf(5, 6, 0), 1e-12);
  REQUIRE(plan.groups);
  REQUIRE(plan.columns.size() == 6);
  CHECK(patterns.patterns().size() == 1);
  for (const auto& column : plan.columns)
    for (const auto& [kind, weight] : *column.pattern)
      CHECK(weight * column.term.times ==
            doctest::Approx((kind - 2.5) * (static_cast<double>(column.term.shift) + 0.25)));
  CHECK(!patterns.plan(termsOf(5, 6, 1e-6), 4e-7).groups);
  CHECK(!patterns.plan(termsOf(4, 6, 0), 1e-12).groups);
  auto incomplete = termsOf(6, 6, 0);
  incomplete.pop_back();
  CHECK(!patterns.plan(incomplete, 1e-12).groups);
}

}  // namespace column_sums_tests
