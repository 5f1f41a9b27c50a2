// SPDX-License-Identifier: Apache-2.0
// Kernels that count by atomics, each work-item on its own.
#include <random>

#include "tests/strategies/support.h"

namespace counters_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

using Values = Array<int, 2>;
using Counts = Array<int, 1>;

std::vector<int> numbersBelow(std::size_t count, int below, unsigned seed = 9) {
  std::mt19937 random(seed);
  std::vector<int> values(count);
  for (int& value : values) value = static_cast<int>(random() % static_cast<unsigned>(below));
  return values;
}

RowsOptions optionsFor(std::map<int, std::vector<std::int64_t>> counters) {
  RowsOptions options;
  options.dims = 2;
  options.lanes = 4;
  options.counters = std::move(counters);
  return options;
}

std::string refusal(const ir::Kernel& kernel, const RowsOptions& options) {
  const Rows result = rows(kernel, ir::analyze(kernel), options);
  REQUIRE(result.kernel == nullptr);
  return result.reason;
}

/// Runs a kernel of (counts, in) both ways.
template <class F>
void compareCounts(const F& kernel, std::vector<std::int64_t> extents, int below) {
  const auto original = captured(kernel);
  const Rows rewritten = rows(*original, ir::analyze(*original), optionsFor({{0, extents}}));
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  std::size_t elements = 1;
  for (const std::int64_t extent : extents) elements *= static_cast<std::size_t>(extent);
  for (const auto& [height, width] :
       {std::pair<std::int64_t, std::int64_t>{1, 3}, {7, 29}, {5, 16}}) {
    std::vector<int> in = numbersBelow(static_cast<std::size_t>(height * width), below);
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
    std::vector<int> expected(elements, 100), got(elements, 100);
    const auto arguments = [&](std::vector<int>& counts) {
      return std::vector<ir::Argument>{ir::arrayArgument(counts.data(), extents),
                                       ir::arrayArgument(in.data(), {height, width})};
    };
    runOriginal(*original, ids, arguments(expected));
    runRows(rewritten, ids, {10, 3, 1}, arguments(got));
    CHECK(got == expected);
  }
}

}  // namespace

TEST_CASE("a histogram by atomics is counted by each work-item on its own") {
  compareCounts([](Counts counts, const Values& in) { atomic_inc(counts[in[idy][idx]]); }, {9}, 9);
}

TEST_CASE("amounts, and those taken away, are counted") {
  compareCounts(
      [](Counts counts, const Values& in) {
        atomic_add(counts[in[idy][idx]], cast<int>(idx) * 3);
        atomic_sub(counts[1], in[idy][idx]);
        atomic_dec(counts[0]);
      },
      {40}, 40);
}

TEST_CASE("only the work-items that a condition chooses count, and their bins only exist") {
  compareCounts(
      [](Counts counts, const Values& in) {
        Int bin = in[idy][idx] - 20;
        if_(bin >= 0 && bin < 9) {
          atomic_inc(counts[bin]);
        }
        else_ {
          for_(Int k = 0, k < (bin & 3), k++) {
            atomic_add(counts[k], k + 1);
          }
        }
      },
      {9}, 60);
}

TEST_CASE("counters of two dimensions, too many for several copies, are counted") {
  compareCounts([](Array<int, 2> counts,
                   const Values& in) { atomic_inc(counts[in[idy][idx]][cast<int>(idx) & 31]); },
                {60, 32}, 60);
}

TEST_CASE("a kernel that counts and writes its own elements does both") {
  const auto kernel = captured([](Counts counts, const Values& in, Values out) {
    Int value = in[idy][idx];
    out[idy][idx] = 2 * value;
    atomic_inc(counts[value]);
  });
  const Rows rewritten = rows(*kernel, ir::analyze(*kernel), optionsFor({{0, {9}}}));
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  std::vector<int> in = numbersBelow(5 * 23, 9), out(5 * 23), counts(9);
  runRows(rewritten, {2, {0, 0, 0}, {23, 5, 1}}, {23, 2, 1},
          {ir::arrayArgument(counts.data(), {9}), ir::arrayArgument(in.data(), {5, 23}),
           ir::arrayArgument(out.data(), {5, 23})});
  std::vector<int> expected(9);
  for (std::size_t i = 0; i < in.size(); ++i) {
    ++expected[static_cast<std::size_t>(in[i])];
    REQUIRE(out[i] == 2 * in[i]);
  }
  CHECK(counts == expected);
}

TEST_CASE("atomics that do more than count are left as they are, with the reason") {
  const auto asks = captured([](Counts counts, const Values& in, Values out) {
    Int before = atomic_inc(counts[in[idy][idx]]);
    out[idy][idx] = before;
  });
  CHECK(refusal(*asks, optionsFor({{0, {9}}})).find("it uses atomics (counters_tests.cpp:") == 0);
  const auto reads = captured([](Counts counts, const Values& in, Values out) {
    out[idy][idx] = counts[0];
    atomic_inc(counts[in[idy][idx]]);
  });
  CHECK(refusal(*reads, optionsFor({{0, {9}}})).find("and does more with it") != std::string::npos);
  const auto greatest = captured(
      [](Counts counts, const Values& in) { atomic_max(counts[in[idy][idx]], cast<int>(idx)); });
  CHECK(refusal(*greatest, optionsFor({{0, {9}}})).find("it uses atomics") == 0);
  const auto large =
      captured([](Counts counts, const Values& in) { atomic_inc(counts[in[idy][idx]]); });
  CHECK(refusal(*large, optionsFor({})).find("it uses atomics") == 0);
  const auto real = captured(
      [](Array<float, 1> sums, const Values& in) { atomic_add(sums[in[idy][idx]], 0.5f); });
  RowsOptions strict = optionsFor({{0, {9}}});
  strict.exact = true;
  CHECK(refusal(*real, strict).find("HPL_FP=strict keeps their order") != std::string::npos);
  CHECK(rows(*real, ir::analyze(*real), optionsFor({{0, {9}}})).kernel != nullptr);
}

TEST_CASE("histograms on a device are those of the host, whatever counts them") {
  for (const int bins : {3, 256, 5000}) {
    for (const int n : {100, 1 << 20}) {
      CAPTURE(bins);
      CAPTURE(n);
      Counts counts(bins);
      Array<int, 1> values(n);
      const std::vector<int> in = numbersBelow(static_cast<std::size_t>(n), bins);
      values.copyFrom(in.data());
      counts = 5;
      eval([](Counts c, const Array<int, 1>& v) {
        atomic_inc(c[v[idx]]);
      }).global(n)(counts, values);
      std::vector<int> expected(static_cast<std::size_t>(bins), 5);
      for (const int value : in) ++expected[static_cast<std::size_t>(value)];
      const int* got = counts.data(HPL_RD);
      CHECK(std::equal(expected.begin(), expected.end(), got));
    }
  }
}

}  // namespace counters_tests
