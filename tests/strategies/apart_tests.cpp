// SPDX-License-Identifier: Apache-2.0
// Large bodies of loops become functions of their own: the same bits in the interpreter and on the
// device.
#include <doctest/doctest.h>

#include <random>

#include "hpl/ir/access.h"
#include "hpl/runtime/settings.h"
#include "tests/strategies/support.h"

namespace apart_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

const char* const kApart = "in a function of their own";

/// The weighted sum of (2 * radius + 1) squared neighbours; the threshold and the weights of rows
/// come from outside of the loop over vectors.
struct Weighted {
  int radius;

  void operator()(Array<int, 2> out, const Array<int, 2>& in, const Array<int, 1>& weights,
                  Int most) const {
    Int sum = 0;
    if_(idx >= radius && idx + radius < szx && idy >= radius && idy + radius < szy) {
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx)
          sum += (7 * dy + dx + 3) * in[idy + dy][idx + dx] * weights[dy + radius];
      sum = where(sum > most, most, sum);
    }
    out[idy][idx] = sum;
  }
};

std::vector<int> someNumbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> values(count);
  for (int& value : values) value = static_cast<int>(random() % 200) - 100;
  return values;
}

/// As the formula says.
std::vector<int> weighted(const std::vector<int>& in, const std::vector<int>& weights, int height,
                          int width, int radius, int most) {
  std::vector<int> out(in.size());
  for (int y = radius; y + radius < height; ++y)
    for (int x = radius; x + radius < width; ++x) {
      int sum = 0;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx)
          sum += (7 * dy + dx + 3) * in[static_cast<std::size_t>((y + dy) * width + x + dx)] *
                 weights[static_cast<std::size_t>(dy + radius)];
      out[static_cast<std::size_t>(y * width + x)] = std::min(sum, most);
    }
  return out;
}

Rows laidOut(const std::shared_ptr<const ir::Kernel>& original, int jam) {
  RowsOptions options;
  options.dims = 2;
  options.lanes = 8;
  options.jam = jam;
  options.size = {61, 23, 1};
  const Rows result = rows(*original, ir::analyze(*original), options);
  REQUIRE_MESSAGE(result.kernel != nullptr, result.reason);
  return result;
}

}  // namespace

TEST_CASE("a large body is set apart, a small one is not") {
  const auto isApart = [](const auto& kernel, int jam) {
    return laidOut(captured(kernel), jam).reason.find(kApart) != std::string::npos;
  };
  CHECK(isApart(Weighted{3}, 1));
  CHECK(isApart(Weighted{1}, 4));
  CHECK_FALSE(isApart(Weighted{1}, 1));
}

TEST_CASE("a body that is set apart computes the same bits, in the interpreter and on devices") {
  constexpr int kHeight = 23, kWidth = 61, kRadius = 3, kMost = 5000;
  const Weighted kernel{kRadius};
  const std::vector<int> in = someNumbers(kHeight * kWidth, 3), weights = someNumbers(7, 4);
  const std::vector<int> expected = weighted(in, weights, kHeight, kWidth, kRadius, kMost);

  const auto original = captured(kernel);
  const Rows rewritten = laidOut(original, 4);
  std::vector<int> input = in, factors = weights, got(in.size(), -1);
  runRows(rewritten, {2, {0, 0, 0}, {kWidth, kHeight, 1}}, {kWidth, 8, 1},
          {ir::arrayArgument(got.data(), {kHeight, kWidth}),
           ir::arrayArgument(input.data(), {kHeight, kWidth}),
           ir::arrayArgument(factors.data(), {7}), ir::scalarArgument(kMost)});
  CHECK(got == expected);

  const runtime::Settings before = runtime::settings();
  runtime::Settings changed = before;
  changed.strategy = runtime::Strategy::Rows;
  runtime::overrideSettings(changed);
  Array<int, 2> a(kHeight, kWidth, input.data()), out(kHeight, kWidth);
  Array<int, 1> w(7, factors.data());
  // A view of rows begins inside of its array.
  Array<int, 2> tall(kHeight + 4, kWidth);
  tall = -1;
  eval(kernel)(out, a, w, kMost);
  eval(kernel)(tall(Range(2, kHeight + 1), Range(0, kWidth - 1)), a, w, kMost);
  runtime::overrideSettings(before);
  std::vector<int> onDevice(in.size()), inView(tall.size());
  out.copyTo(onDevice.data());
  tall.copyTo(inView.data());
  CHECK(onDevice == expected);
  CHECK(std::vector<int>(inView.begin() + 2 * kWidth, inView.end() - 2 * kWidth) == expected);
  CHECK(inView.front() == -1);
  CHECK(inView.back() == -1);
}

}  // namespace apart_tests
