// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

/// Pure index geometry: boxes, sets of boxes, splits, ownership cuts. Nothing here knows about
/// devices, buffers or arrays; everything is a value that can be printed, compared and tested.
namespace hpl::geometry {

/// Position or length along one dimension, in cells.
using Index = std::int64_t;

/// Highest number of dimensions of a box.
inline constexpr int kMaxDims = 8;

namespace detail {
[[noreturn]] void throwRankTooLarge(std::size_t rank);
}  // namespace detail

/// Up to kMaxDims indices with their number (the rank). Never allocates, and copies no more than
/// there is.
/// Dimension 0 is the slowest one (rows of a row-major array), as in `a(i, j)`.
class IndexVector {
 public:
  /// Rank 0.
  constexpr IndexVector() noexcept { clearIfConstant(); }
  constexpr IndexVector(const IndexVector& other) noexcept {
    clearIfConstant();
    take(other);
  }
  constexpr IndexVector& operator=(const IndexVector& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~IndexVector() = default;

  /// The listed values, one per dimension; throws ShapeError beyond kMaxDims.
  constexpr IndexVector(std::initializer_list<Index> values) {
    if (values.size() > kMaxDims) detail::throwRankTooLarge(values.size());
    for (Index v : values) values_[rank_++] = v;
  }

  /// `rank` copies of `value`; throws ShapeError beyond kMaxDims.
  static constexpr IndexVector filled(int rank, Index value) {
    IndexVector result;
    if (rank < 0 || rank > kMaxDims) detail::throwRankTooLarge(static_cast<std::size_t>(rank));
    result.rank_ = rank;
    for (int d = 0; d < rank; ++d) result.values_[d] = value;
    return result;
  }

  constexpr int rank() const noexcept { return rank_; }
  constexpr Index operator[](int d) const noexcept { return values_[d]; }
  constexpr Index& operator[](int d) noexcept { return values_[d]; }
  constexpr const Index* begin() const noexcept { return values_; }
  constexpr const Index* end() const noexcept { return values_ + rank_; }

  /// Adds one dimension at the end; throws ShapeError beyond kMaxDims.
  constexpr void append(Index value) {
    if (rank_ == kMaxDims) detail::throwRankTooLarge(kMaxDims + 1);
    values_[rank_++] = value;
  }

  friend constexpr bool operator==(const IndexVector& a, const IndexVector& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (int d = 0; d < a.rank_; ++d) {
      if (a.values_[d] != b.values_[d]) return false;
    }
    return true;
  }

  friend constexpr std::strong_ordering operator<=>(const IndexVector& a,
                                                    const IndexVector& b) noexcept {
    if (a.rank_ != b.rank_) return a.rank_ <=> b.rank_;
    for (int d = 0; d < a.rank_; ++d)
      if (a.values_[d] != b.values_[d]) return a.values_[d] <=> b.values_[d];
    return std::strong_ordering::equal;
  }

  /// "(3, 4)".
  std::string toString() const;

 private:
  constexpr void take(const IndexVector& other) noexcept {
    rank_ = other.rank_;
    // Few are the rule, and a loop would become a call.
    for (int d = 0; d < rank_; d += 2) {
      values_[d] = other.values_[d];
      if (d + 1 < rank_) values_[d + 1] = other.values_[d + 1];
    }
  }

  // The values beyond the rank mean nothing, but a constant has to have some.
  constexpr void clearIfConstant() noexcept {
    if (!__builtin_is_constant_evaluated()) return;
    for (Index& value : values_) value = 0;
  }

  int rank_ = 0;
  Index values_[kMaxDims];
};

/// A cell.
using Point = IndexVector;
/// Lengths per dimension.
using Extents = IndexVector;

}  // namespace hpl::geometry
