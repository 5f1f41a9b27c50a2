// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace hpl::ranks {

/// The memory of a message: one place, or several whose bytes follow one another in it. The other
/// end need not know which: messages match by their order and their size.
template <class Byte>
class Parts {
 public:
  using Place = std::span<Byte>;
  using List = std::vector<Place>;

  Parts() = default;
  Parts(Place whole) noexcept : whole_(whole), size_(whole.size()) {}
  /// Whatever becomes a span, and lives on.
  template <class Whole>
    requires std::convertible_to<Whole&, Place>
  Parts(Whole& whole) noexcept : Parts(Place(whole)) {}
  Parts(Byte* begin, std::size_t bytes) noexcept : Parts(Place(begin, bytes)) {}
  /// `several` may lie in memory that the caller keeps for more than one message.
  explicit Parts(std::shared_ptr<const List> several) : several_(std::move(several)) {
    for (const Place& place : *several_) size_ += place.size();
  }

  /// Bytes in all.
  std::size_t size() const noexcept { return size_; }
  /// Valid as long as this is.
  std::span<const Place> list() const noexcept {
    return several_ != nullptr ? std::span<const Place>(*several_) : std::span(&whole_, 1);
  }

 private:
  Place whole_ = {};
  std::shared_ptr<const List> several_ = nullptr;
  std::size_t size_ = 0;
};

using PartsOut = Parts<const std::byte>;
using PartsIn = Parts<std::byte>;

/// Calls `move` with the bytes from `begin` to `end` of the message, place by place, as long as it
/// moves all of what it gets; it returns how many it moved. Returns the sum.
template <class Byte, class Move>
std::size_t moveParts(const Parts<Byte>& parts, std::size_t begin, std::size_t end, Move&& move) {
  std::size_t moved = 0;
  std::size_t at = 0;  // where the place begins
  for (const std::span<Byte> place : parts.list()) {
    const std::size_t from = begin + moved;
    if (from >= end) break;
    if (from < at + place.size()) {
      const std::size_t count = std::min(end, at + place.size()) - from;
      const std::size_t some = move(place.subspan(from - at, count));
      moved += some;
      if (some < count) break;
    }
    at += place.size();
  }
  return moved;
}

}  // namespace hpl::ranks
