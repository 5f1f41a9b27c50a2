// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/index_flat.h"

#include <algorithm>
#include <utility>

#include "hpl/ir/detail/index_value.h"

namespace hpl::ir::detail {
namespace {

using Term = SumOfProducts::Term;

/// Offsets beyond this are not followed.
constexpr Interval kOffsets{-(1 << 10), 1 << 10};

SumOfProducts termAlone(const Term& term) {
  SumOfProducts sum;
  sum.terms[0] = term;
  return sum;
}

/// A value as such a sum.
std::optional<SumOfProducts> sumOf(const Value& value) {
  if (value.products) return value.products;
  SumOfProducts sum;
  if (value.sizeOf != 0) {
    sum.degree = 1;
    sum.terms[0].offset = {value.sizeOffset, value.sizeOffset};
    sum.terms[1].offset = {1, 1};
    sum.sizes[0] = value.sizeOf;
    return sum;
  }
  if (value.form.isAffine()) return termAlone({value.form.axis, value.form.range});
  if (value.form.isConstant()) return termAlone({-1, value.form.range});
  // An id and the size of its own axis.
  if (!value.beyond.isAffine()) return std::nullopt;
  sum = termAlone({value.beyond.axis, value.beyond.range});
  sum.degree = 1;
  sum.terms[1].offset = {1, 1};
  sum.sizes[0] = 1U << value.beyond.axis;
  return sum;
}

/// The factors of a product alone may be taken in the other order.
SumOfProducts withFactorsSwapped(SumOfProducts sum) {
  if (sum.degree == 2 && sum.terms[1].isZero()) std::swap(sum.sizes[0], sum.sizes[1]);
  return sum;
}

std::optional<SumOfProducts> fit(SumOfProducts sum) {
  for (std::size_t k = 0; k < sum.terms.size(); ++k) {
    const bool isKnown = contains(kOffsets, sum.terms[k].offset);
    if (!isKnown) return std::nullopt;
    if (!sum.terms[k].isZero()) sum.degree = std::max(sum.degree, static_cast<int>(k));
  }
  return sum;
}

/// The axes along which the k-th size of both may be; 0: there is none.
unsigned commonSizes(const SumOfProducts& a, const SumOfProducts& b, std::size_t k) {
  if (a.degree <= static_cast<int>(k)) return b.sizes[k];
  if (b.degree <= static_cast<int>(k)) return a.sizes[k];
  return a.sizes[k] & b.sizes[k];
}

bool haveCommonSizes(const SumOfProducts& a, const SumOfProducts& b) {
  const int degree = std::max(a.degree, b.degree);
  for (int k = 0; k < degree; ++k)
    if (commonSizes(a, b, static_cast<std::size_t>(k)) == 0) return false;
  return true;
}

/// a + b, or a - b.
std::optional<SumOfProducts> combine(const Value& first, const Value& second, bool isSum) {
  std::optional<SumOfProducts> a = sumOf(first), b = sumOf(second);
  if (!a || !b) return std::nullopt;
  if (!haveCommonSizes(*a, *b)) b = withFactorsSwapped(*b);
  if (!haveCommonSizes(*a, *b)) a = withFactorsSwapped(*a);
  if (!haveCommonSizes(*a, *b)) return std::nullopt;
  SumOfProducts sum;
  sum.degree = std::max(a->degree, b->degree);
  for (std::size_t k = 0; k < sum.sizes.size(); ++k) sum.sizes[k] = commonSizes(*a, *b, k);
  for (std::size_t k = 0; k < sum.terms.size(); ++k) {
    const Term &x = a->terms[k], &y = b->terms[k];
    if (y.axis >= 0 && (x.axis >= 0 || !isSum)) return std::nullopt;
    if (!isSmall(x.offset) || !isSmall(y.offset)) return std::nullopt;
    sum.terms[k].axis = std::max(x.axis, y.axis);
    sum.terms[k].offset = isSum ? Interval{x.offset.lo + y.offset.lo, x.offset.hi + y.offset.hi}
                                : Interval{x.offset.lo - y.offset.hi, x.offset.hi - y.offset.lo};
  }
  return fit(sum);
}

bool isSize(const SumOfProducts& sum) {
  return sum.degree == 1 && sum.terms[0].isZero() && sum.terms[1] == Term{-1, {1, 1}};
}

}  // namespace

std::optional<SumOfProducts> addProducts(const Value& a, const Value& b) {
  return combine(a, b, true);
}

std::optional<SumOfProducts> subtractProducts(const Value& a, const Value& b) {
  return combine(a, b, false);
}

std::optional<SumOfProducts> multiplyProducts(const Value& a, const Value& b) {
  std::optional<SumOfProducts> sum = sumOf(a), size = sumOf(b);
  if (!sum || !size) return std::nullopt;
  if (!isSize(*size)) std::swap(sum, size);
  if (!isSize(*size) || sum->degree > 1) return std::nullopt;
  SumOfProducts product;
  product.terms[1] = sum->terms[0];
  product.terms[2] = sum->terms[1];
  product.sizes = {size->sizes[0], sum->sizes[0]};
  product.degree = sum->degree + 1;
  return fit(product);
}

std::optional<SumOfProducts> join(const SumOfProducts& a, const SumOfProducts& b) {
  if (a.degree != b.degree) return std::nullopt;
  SumOfProducts joined = a;
  for (std::size_t k = 0; k < joined.sizes.size(); ++k) {
    joined.sizes[k] &= b.sizes[k];
    if (static_cast<int>(k) < a.degree && joined.sizes[k] == 0) return std::nullopt;
  }
  for (std::size_t k = 0; k < joined.terms.size(); ++k) {
    if (a.terms[k].axis != b.terms[k].axis) return std::nullopt;
    joined.terms[k].offset = hull(a.terms[k].offset, b.terms[k].offset);
  }
  return joined;
}

FlatIndex SumOfProducts::toIndex() const {
  FlatIndex index;
  unsigned seen = 0;
  for (int k = 0; k <= degree; ++k) {
    const auto term = static_cast<std::size_t>(k);
    const int axis = terms[term].axis;
    if (axis < 0 || (seen >> axis & 1U) != 0) return {};
    // The size by which the terms that follow are multiplied is that along this one's axis.
    if (k < degree && (sizes[term] >> axis & 1U) == 0) return {};
    seen |= 1U << axis;
    index.axes[term] = axis;
    index.offsets[term] = terms[term].offset;
  }
  index.terms = degree > 0 ? degree + 1 : 0;
  return index;
}

}  // namespace hpl::ir::detail
