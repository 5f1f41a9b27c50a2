// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hpl/coherence/detail/books.h"
#include "hpl/coherence/detail/canonical.h"
#include "hpl/coherence/detail/draft.h"
#include "hpl/coherence/detail/hash.h"
#include "hpl/error.h"

namespace hpl::coherence {

using geometry::Box;
using geometry::Index;
using geometry::Region;

// ---- packed copies ---------------------------------------------------------------------------

namespace detail {

PackedCopies::PackedCopies(const Copies& copies) {
  const Region& some = copies.current.empty() ? copies.kept : copies.current;
  coordinates_.reserve(
      2 * static_cast<std::size_t>(some.rank()) *
      (copies.current.boxCount() + copies.kept.boxCount() + copies.trusted.boxCount()));
  append(copies.current, 0);
  append(copies.kept, 1);
  append(copies.trusted, 2);
  coordinates_.shrink_to_fit();
  Hasher hasher;
  for (const std::uint32_t count : counts_) hasher.add(count);
  for (const Index coordinate : coordinates_) hasher.add(static_cast<std::uint64_t>(coordinate));
  hash_ = hasher.value();
}

void PackedCopies::append(const Region& cells, std::size_t part) {
  if (cells.empty()) return;
  rank_ = cells.rank();
  counts_[part] = static_cast<std::uint32_t>(cells.boxCount());
  if (cells.boxCount() == 1) {
    const Box& box = *cells.begin();
    coordinates_.insert(coordinates_.end(), box.lo().begin(), box.lo().end());
    coordinates_.insert(coordinates_.end(), box.hi().begin(), box.hi().end());
    return;
  }
  const std::vector<Box> boxes = canonicalBoxes(cells);
  counts_[part] = static_cast<std::uint32_t>(boxes.size());
  for (const Box& box : boxes) {
    coordinates_.insert(coordinates_.end(), box.lo().begin(), box.lo().end());
    coordinates_.insert(coordinates_.end(), box.hi().begin(), box.hi().end());
  }
}

Region PackedCopies::regionAt(std::size_t& at, std::size_t part) const {
  std::vector<Box> boxes;
  for (std::uint32_t i = 0; i < counts_[part]; ++i) {
    geometry::Point lo, hi;
    for (int d = 0; d < rank_; ++d) lo.append(coordinates_[at++]);
    for (int d = 0; d < rank_; ++d) hi.append(coordinates_[at++]);
    if (counts_[part] == 1) return Box(lo, hi);
    boxes.emplace_back(lo, hi);
  }
  return Region::ofDisjoint(std::move(boxes));
}

Copies PackedCopies::unpack() const {
  Copies copies;
  std::size_t at = 0;
  copies.current = regionAt(at, 0);
  copies.kept = regionAt(at, 1);
  copies.trusted = regionAt(at, 2);
  return copies;
}

bool PackedCopies::hasImages(const Box& root) const {
  const auto rank = static_cast<std::size_t>(rank_);
  for (std::size_t at = 0; at < coordinates_.size(); at += 2 * rank) {
    for (std::size_t d = 0; d < rank; ++d) {
      const int dim = static_cast<int>(d);
      if (coordinates_[at + d] < root.lo(dim) || coordinates_[at + rank + d] > root.hi(dim))
        return true;
    }
  }
  return false;
}

}  // namespace detail

// ---- states ----------------------------------------------------------------------------------

std::string Root::describe() const {
  return label.empty() ? fmt::format("array {}", number) : fmt::format("array \"{}\"", label);
}

const Root& State::root() const noexcept { return books_->root; }

Copies State::copiesOf(SpaceId space) const {
  const auto number = static_cast<std::size_t>(space);
  const std::size_t block = number / detail::Block::kSpaces;
  if (space < 0 || block >= blocks_.size() || blocks_[block] == nullptr) return {};
  const auto& packed = blocks_[block]->spaces[number % detail::Block::kSpaces];
  return packed == nullptr ? Copies() : packed->unpack();
}

bool State::mayHaveImages() const noexcept {
  return std::any_of(blocks_.begin(), blocks_.end(),
                     [](const auto& block) { return block != nullptr && block->hasImages; });
}

bool operator==(const State& a, const State& b) {
  const auto same = [](const LostCells& x, const LostCells& y) {
    return x.cells == y.cells && x.why == y.why;
  };
  // All of these exist once per root.
  return a.books_ == b.books_ && a.spaceCount_ == b.spaceCount_ && a.blocks_ == b.blocks_ &&
         a.active_ == b.active_ && a.explicit_ == b.explicit_ && a.partsEnded_ == b.partsEnded_ &&
         std::equal(a.lost_.begin(), a.lost_.end(), b.lost_.begin(), b.lost_.end(), same);
}

RootStates::RootStates(Root root, int spaceCount) : spaceCount_(spaceCount) {
  if (root.extents.rank() == 0 || root.box().empty())
    throw ShapeError(
        fmt::format("{} has extents {}, so no cells: give it at least one in each "
                    "dimension",
                    root.describe(), root.extents.toString()));
  if (root.elementSize == 0)
    throw ArgumentError(
        fmt::format("{} has elements of 0 bytes: give the size of an element", root.describe()));
  if (spaceCount < 1)
    throw ArgumentError(fmt::format("{} is to be in {} memory spaces: the hosts' is always there",
                                    root.describe(), spaceCount));
  books_ = std::make_shared<detail::Books>(std::move(root));
}

const Root& RootStates::root() const noexcept { return books_->root; }

void RootStates::setLabel(std::string label) { books_->root.label = std::move(label); }

StatePtr RootStates::undefined() const {
  const auto nothing = std::make_shared<State>();
  nothing->books_ = books_;
  nothing->spaceCount_ = spaceCount_;
  nothing->blocks_.resize((static_cast<std::size_t>(spaceCount_) + detail::Block::kSpaces - 1) /
                          detail::Block::kSpaces);
  return detail::Draft(nothing).finish();
}

StatePtr RootStates::onHosts() const {
  detail::Draft draft(undefined());
  draft.change(kHosts).current = books_->box;
  return draft.finish();
}

std::size_t RootStates::stateCount() const noexcept { return books_->states.size(); }
std::size_t RootStates::copiesCount() const noexcept { return books_->copies.size(); }

}  // namespace hpl::coherence
