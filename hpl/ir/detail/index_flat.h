// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "hpl/ir/access.h"

/// Indices of grids that lie in vectors: sums of ids, numbers, and products of such sums with the
/// sizes of the domain.
namespace hpl::ir::detail {

struct Value;

/// t[0] + t[1] * s[0] + t[2] * s[0] * s[1], each t an id, if any, plus a number in an interval, and
/// each s the size along one of some axes that are equally long.
struct SumOfProducts {
  struct Term {
    int axis = -1;
    Interval offset;
    bool isZero() const { return axis < 0 && offset == Interval{}; }
    friend bool operator==(const Term&, const Term&) = default;
  };
  /// The last term that is not 0.
  int degree = 0;
  std::array<Term, 3> terms{};
  /// The axes (bits).
  std::array<unsigned, 2> sizes{};

  /// The index of a cell of a grid, if it is one.
  FlatIndex toIndex() const;
};

/// The sum, difference or product (of a sum and a size) of two values, where it is of this kind.
std::optional<SumOfProducts> addProducts(const Value& a, const Value& b);
std::optional<SumOfProducts> subtractProducts(const Value& a, const Value& b);
std::optional<SumOfProducts> multiplyProducts(const Value& a, const Value& b);
/// Either of both.
std::optional<SumOfProducts> join(const SumOfProducts& a, const SumOfProducts& b);

}  // namespace hpl::ir::detail
