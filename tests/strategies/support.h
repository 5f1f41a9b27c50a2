// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/ir/interpreter.h"
#include "hpl/ir/own_scalars.h"
#include "hpl/lang/capture_state.h"
#include "hpl/strategies/rows.h"

/// Runs kernels and what strategies make of them in the interpreter.
namespace hpl::strategies::test {

/// A kernel as `eval` would capture it.
template <class F>
std::shared_ptr<const ir::Kernel> captured(const F& f) {
  using S = hpl::detail::Signature<F>;
  hpl::detail::Capture capture({});
  hpl::detail::invokeWithSymbols(f, static_cast<typename S::Params*>(nullptr));
  return ir::withOwnScalars(capture.finish("kernel"));
}

/// From -100 on, below 100.
std::vector<int> numbers(std::size_t count, unsigned seed);
/// The same as numbers of any type.
template <class T>
std::vector<T> someNumbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(static_cast<int>(random() % 200) - 100);
  return values;
}

/// The ids of a launch: those of a slice of a larger domain, along each axis.
struct Ids {
  int dims = 1;
  std::array<std::uint64_t, 3> first{0, 0, 0};
  std::array<std::uint64_t, 3> count{1, 1, 1};
  /// Sizes of the domain that they are a box of; 0: they are all of it.
  std::array<std::uint64_t, 3> whole{0, 0, 0};
};

/// Appends the values of the parameters that a strategy has added.
void appendHidden(const std::vector<Hidden>& hidden, const Ids& ids,
                  const std::array<std::uint64_t, 3>& block, std::vector<ir::Argument>& arguments);

/// Runs the original over 0..count.
void runOriginal(const ir::Kernel& kernel, const Ids& ids, std::vector<ir::Argument> arguments);

/// Runs the rewritten kernel with blocks of the given size, with bounds and races checked.
void runRows(const Rows& rows, const Ids& ids, const std::array<std::uint64_t, 3>& block,
             std::vector<ir::Argument> arguments);

/// Runs a kernel of (out, in) both ways, the rewritten one in blocks of each of these sizes, and
/// requires the same bits.
template <class T>
void requireSameRows(const ir::Kernel& original, const Rows& rewritten, std::vector<T> in,
                     std::int64_t height, const std::vector<std::array<std::uint64_t, 3>>& blocks) {
  const std::int64_t width = static_cast<std::int64_t>(in.size()) / height;
  const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
  const auto arguments = [&](std::vector<T>& out) {
    return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, width}),
                                     ir::arrayArgument(in.data(), {height, width})};
  };
  const std::vector<T> before(in.size(), T{3});
  std::vector<T> expected = before;
  runOriginal(original, ids, arguments(expected));
  for (const auto& block : blocks) {
    std::vector<T> got = before;
    runRows(rewritten, ids, block, arguments(got));
    REQUIRE(got == expected);
  }
}

}  // namespace hpl::strategies::test
