// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "hpl/coherence/detail/interner.h"
#include "hpl/coherence/state.h"

/// How states are kept: packed, in blocks, each once.
namespace hpl::coherence::detail {

/// Copies of one space as bare coordinates: a tenth of the memory that Regions take.
class PackedCopies {
 public:
  /// Cuts the regions canonically, so that equal sets are equal values.
  explicit PackedCopies(const Copies& copies);

  Copies unpack() const;
  /// Whether some cells lie outside of the root.
  bool hasImages(const geometry::Box& root) const;
  std::size_t hash() const noexcept { return hash_; }
  friend bool operator==(const PackedCopies& a, const PackedCopies& b) {
    return a.counts_ == b.counts_ && a.coordinates_ == b.coordinates_;
  }

 private:
  void append(const geometry::Region& cells, std::size_t part);
  geometry::Region regionAt(std::size_t& at, std::size_t part) const;

  std::array<std::uint32_t, 3> counts_{};  // boxes that are current, kept, trusted
  int rank_ = 0;
  std::vector<geometry::Index> coordinates_;
  std::size_t hash_ = 0;
};

/// Copies that neighbouring spaces have; null: none.
struct Block {
  static constexpr int kSpaces = 32;

  std::array<std::shared_ptr<const PackedCopies>, kSpaces> spaces{};
  bool hasImages = false;
  std::size_t sum = 0;

  std::size_t hash() const noexcept { return sum; }
  friend bool operator==(const Block& a, const Block& b) { return a.spaces == b.spaces; }
};

/// Everything of one root that exists once.
struct Books {
  explicit Books(Root r) : root(std::move(r)), box(root.box()) {}

  Root root;
  geometry::Box box;
  Interner<PackedCopies> copies;
  Interner<Block> blocks;
  Interner<Distribution> distributions;
  Interner<ExplicitParts> parts;
  Interner<State> states;
};

}  // namespace hpl::coherence::detail
