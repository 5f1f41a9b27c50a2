// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/box.h"

#include <algorithm>

#include "hpl/error.h"

namespace hpl::geometry {

namespace detail {

void throwRankTooLarge(std::size_t rank) {
  throw ShapeError("rank " + std::to_string(static_cast<std::int64_t>(rank)) +
                   " is not supported: use between 0 and " + std::to_string(kMaxDims) +
                   " dimensions, for instance by folding the outer ones into one");
}

}  // namespace detail

namespace {

[[noreturn]] void throwRankMismatch(const std::string& a, const std::string& b) {
  throw ShapeError(a + " and " + b + " have different ranks: use as many dimensions in both");
}

Index saturate(Index value, Index limit) { return std::clamp(value, -limit, limit); }

}  // namespace

std::string IndexVector::toString() const {
  std::string text = "(";
  for (int d = 0; d < rank_; ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(values_[d]);
  }
  return text + ")";
}

void Box::throwRange(int d, Index lo, Index hi) {
  const std::string range = "range " + std::to_string(lo) + ":" + std::to_string(hi) +
                            " of dimension " + std::to_string(d);
  if (lo > hi) throw ShapeError(range + " is reversed: give the lower bound first");
  throw ShapeError(range + " is out of reach: keep coordinates within +-2^61");
}

void Box::throwRanks(const Box& a, const Box& b) {
  if (a.lo_.rank() != a.hi_.rank())
    throwRankMismatch("lower corner " + a.lo_.toString(), "upper corner " + a.hi_.toString());
  throwRankMismatch("box " + a.toString(), "box " + b.toString());
}

void Box::throwNoDimension(int d) const {
  throw ShapeError("box " + toString() + " has no dimension " + std::to_string(d) +
                   ": count dimensions from 0");
}

Box Box::ofExtents(const Extents& extents) {
  for (int d = 0; d < extents.rank(); ++d) {
    if (extents[d] < 0) {
      throw ShapeError("extents " + extents.toString() + " are negative in dimension " +
                       std::to_string(d) + ": give lengths of at least 0");
    }
  }
  return Box(Point::filled(extents.rank(), 0), extents);
}

Extents Box::extents() const noexcept {
  Extents result = hi_;
  for (int d = 0; d < rank(); ++d) result[d] -= lo_[d];
  return result;
}

Index Box::volumeOrOverflow() const noexcept {
  if (empty()) return 0;
  Index cells = 1;
  for (int d = 0; d < rank(); ++d) {
    if (__builtin_mul_overflow(cells, extent(d), &cells)) return -1;
  }
  return cells;
}

Index Box::volume() const {
  const Index cells = volumeOrOverflow();
  if (cells < 0) {
    throw ShapeError("box " + toString() +
                     " has more cells than a 63-bit number can count: use smaller extents");
  }
  return cells;
}

bool Box::contains(const Point& p) const {
  if (p.rank() != rank()) throwRankMismatch("box " + toString(), "cell " + p.toString());
  for (int d = 0; d < rank(); ++d) {
    if (p[d] < lo_[d] || p[d] >= hi_[d]) return false;
  }
  return rank() > 0;
}

Box Box::translated(const Point& offset) const {
  if (offset.rank() != rank())
    throwRankMismatch("box " + toString(), "offset " + offset.toString());
  Box result = *this;
  for (int d = 0; d < rank(); ++d) {
    if (__builtin_add_overflow(lo_[d], offset[d], &result.lo_[d]) ||
        __builtin_add_overflow(hi_[d], offset[d], &result.hi_[d])) {
      throw ShapeError("moving box " + toString() + " by " + offset.toString() +
                       " overflows: keep coordinates within +-2^61");
    }
    requireRange(d, result.lo_[d], result.hi_[d]);
  }
  return result;
}

Box Box::translatedBack(const Point& offset) const {
  Point negated = offset;
  // Saturation only spares the undefined negation of the smallest integer; translated() rejects it.
  for (int d = 0; d < offset.rank(); ++d) negated[d] = -std::max(offset[d], -INT64_MAX);
  return translated(negated);
}

Box Box::grown(const Extents& before, const Extents& after) const {
  if (before.rank() != rank() || after.rank() != rank()) {
    throwRankMismatch("box " + toString(), "growth " + before.toString() + after.toString());
  }
  if (empty()) return *this;
  Box result = *this;
  for (int d = 0; d < rank(); ++d) {
    // Twice the limit crosses the whole space and still cannot overflow the sum.
    const Index reach = 2 * kMaxCoordinate;
    result.lo_[d] = saturate(lo_[d] - saturate(before[d], reach), kMaxCoordinate);
    result.hi_[d] = saturate(hi_[d] + saturate(after[d], reach), kMaxCoordinate);
    result.hi_[d] = std::max(result.lo_[d], result.hi_[d]);
  }
  return result;
}

std::strong_ordering operator<=>(const Box& a, const Box& b) noexcept {
  if (const auto order = a.rank() <=> b.rank(); order != 0) return order;
  for (int d = 0; d < a.rank(); ++d) {
    if (const auto order = a.lo_[d] <=> b.lo_[d]; order != 0) return order;
  }
  for (int d = 0; d < a.rank(); ++d) {
    if (const auto order = a.hi_[d] <=> b.hi_[d]; order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::size_t Box::hash() const noexcept {
  std::uint64_t h = static_cast<std::uint64_t>(rank());
  const auto mix = [&h](Index value) {
    // The finaliser of SplitMix64: neighbouring coordinates must not give neighbouring hashes.
    h += 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(value);
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    h ^= h >> 31;
  };
  for (int d = 0; d < rank(); ++d) {
    mix(lo_[d]);
    mix(hi_[d]);
  }
  return static_cast<std::size_t>(h);
}

std::string Box::toString() const {
  std::string text = "[";
  for (int d = 0; d < rank(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(lo_[d]) + ":" + std::to_string(hi_[d]);
  }
  return text + ")";
}

}  // namespace hpl::geometry
