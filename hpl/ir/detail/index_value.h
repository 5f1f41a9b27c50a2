// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "hpl/error.h"
#include "hpl/ir/access.h"
#include "hpl/ir/detail/index_flat.h"

/// Abstract values of integer expressions, as the access analysis follows them.
namespace hpl::ir::detail {

/// The knowledge about an integer.
///
/// A form is a congruence: the value of the expression equals it modulo 2^32 (2^64 where only
/// 64-bit types are involved). That is what lets `idx + (size_t)dy` with dy = -1 be idx - 1.
/// Offsets stay within +-2^30, so for an index that is inside its extents congruent means equal
/// (access.h states the bound on ids and extents).
struct Value {
  IndexForm form;
  /// A Constant whose range holds the mathematical value itself, as a number of the expression's
  /// type; comparisons, divisions and conversions to narrow types need that.
  bool exact = false;
  /// Bit k: the value is the global size along axis k, plus `sizeOffset`. Several bits: the sizes
  /// along these axes are equal.
  unsigned sizeOf = 0;
  std::int64_t sizeOffset = 0;
  /// The value of an Affine or bounded form is that of the expression, for ids that are not too
  /// large (IndexForm::lastBoundedId): nothing wrapped. Divisions and choices need that.
  bool plain = false;
  /// The expression's value equals a number, an Affine form, a size, or `beyond` modulo the range
  /// of its own type: what wrapped may wrap back.
  bool wrapsInType = false;
  /// Where this is Affine, the value is that plus the size along its axis, which `form` says less
  /// well. Remainders need that.
  IndexForm beyond = {};
  /// The value modulo 2^32, where it is no simpler one; `form` is its index then.
  std::optional<SumOfProducts> products = {};

  bool isUnknown() const { return form.isUnknown() && form.times == 0 && sizeOf == 0 && !products; }
  static Value ofProducts(const SumOfProducts& sum) {
    Value value;
    value.form = IndexForm::inVector(sum.toIndex());
    value.products = sum;
    return value;
  }
  static Value size(unsigned axes, std::int64_t offset = 0) {
    Value value;
    value.sizeOf = axes;
    value.sizeOffset = offset;
    value.wrapsInType = true;
    return value;
  }
  static Value constant(std::int64_t lo, std::int64_t hi) {
    return {IndexForm::constant(lo, hi), true};
  }
  /// Nothing wrapped on the way to the value.
  bool isItself() const { return exact || plain; }
  bool isItselfInType() const { return isItself() || wrapsInType; }
  /// The value when it is one exact number.
  std::optional<std::int64_t> number() const {
    if (exact && form.isExact()) return form.range.lo;
    return std::nullopt;
  }
  /// The one number that the value is in its type, as (size_t)-1 is -1.
  std::optional<std::int64_t> residue() const {
    if (form.isConstant() && form.isExact() && isItselfInType()) return form.range.lo;
    return std::nullopt;
  }
};

Value join(const Value& a, const Value& b);

/// Known values of private integer scalars; whatever is absent is Unknown.
using Values = std::map<const Variable*, Value>;

/// The variables whose values can be followed: private integer scalars.
bool isTracked(const Variable* variable);

/// Numbers that an integer type represents; unsigned 64-bit ones are cut at the signed maximum.
Interval rangeOf(const Type& type);
inline bool contains(const Interval& outer, const Interval& inner) {
  return outer.lo <= inner.lo && inner.hi <= outer.hi;
}

/// Limits the effort spent on kernels whose expressions share subtrees exponentially often.
struct Budget {
  std::int64_t left;
  /// Thrown when the effort is spent; the giver of the budget catches it.
  struct Exceeded : Error {
    Exceeded() : Error("the indices of a kernel are too long to be followed") {}
  };
  void spend() {
    if (--left < 0) throw Exceeded{};
  }
};

/// Offsets beyond this are not followed.
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 30;
inline bool isSmall(const Interval& offsets) {
  return contains({-kMaxOffset, kMaxOffset}, offsets);
}
/// Arithmetic on these types wraps modulo 2^32 or 2^64.
inline bool isWide(const Type& type) { return type.scalar >= Scalar::Int; }

/// Value of an expression (Unknown unless it is an integer scalar that can be followed).
Value valueOf(const Expr* expr, const Values& values, Budget& budget);

/// a + b and a - b in `type`.
Value add(const Value& a, const Value& b, const Type& type);
Value subtract(const Value& a, const Value& b, const Type& type);

/// The condition holds for every value that its operands may have; null is true.
bool provablyTrue(const Expr* condition, const Values& values, Budget& budget);

}  // namespace hpl::ir::detail
