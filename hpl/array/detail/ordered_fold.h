// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "hpl/array/detail/all_cores.h"

namespace hpl::detail {

/// Folds runs of elements, one run after the other, with an associative functor that need not be
/// commutative: the elements keep their order, only the grouping is chosen here.
///
/// Integers are folded from left to right, as their partial sums then are those of a plain loop: no
/// other grouping can overflow where that one does not. All other types are folded pairwise: blocks
/// of 128 elements, then pairs of blocks, pairs of those, and so on. A sum of n floats so has a
/// rounding error that grows with log n, where a plain loop stops growing at 2^24. The grouping
/// depends on the number of elements alone, so results are reproducible; long runs are folded on
/// all cores, grouped as on one.
template <class T, class Op>
class OrderedFold {
 public:
  explicit OrderedFold(Op& op) : op_(op) {}

  /// Takes the next elements.
  void add(const T* run, std::int64_t length) {
    if constexpr (std::is_integral_v<T>) {
      extend(run, length);
      return;
    }
    if (filled_ == 0 && blocks_ == 0 && length >= 2 * kShare) {
      const std::int64_t shares = length / kShare;
      addShares(run, shares);
      run += shares * kShare;
      length -= shares * kShare;
    }
    while (length > 0) {
      std::int64_t taken = kBlock - filled_;
      if (filled_ == 0 && length >= kBlock) {
        push(wholeBlock(run));
      } else {
        if (taken > length) taken = length;
        extend(run, taken);
        if (filled_ == kBlock) {
          push(open_);
          filled_ = 0;
        }
      }
      run += taken;
      length -= taken;
    }
  }

  /// The fold of all elements so far; there must be one.
  T result() {
    T value = open_;
    bool isFirst = filled_ == 0;
    // The lower the level, the later its blocks.
    for (int level = 0; blocks_ >> level != 0; ++level) {
      if ((blocks_ >> level & 1) == 0) continue;
      value = isFirst ? partial_[level] : op_(partial_[level], value);
      isFirst = false;
    }
    return value;
  }

 private:
  static constexpr std::int64_t kBlock = 128;
  /// Runs of a block that are folded side by side, as one addition takes several cycles.
  static constexpr std::int64_t kRuns = 8;
  static constexpr std::int64_t kRunLength = kBlock / kRuns;
  /// Elements that a core folds at a time: 2^kShareLevel blocks.
  static constexpr int kShareLevel = 13;
  static constexpr std::int64_t kShare = kBlock << kShareLevel;

  /// Folds the shares of a run on all cores; each is a subtree of the fold on one core.
  void addShares(const T* run, std::int64_t shares) {
    struct Shares {
      OrderedFold* self;
      const T* run;
      std::unique_ptr<T[]> values;
    } all{this, run, std::make_unique<T[]>(static_cast<std::size_t>(shares))};
    onAllCores(
        shares,
        [](void* context, std::int64_t i) {
          auto& work = *static_cast<Shares*>(context);
          OrderedFold own(work.self->op_);
          const T* first = work.run + i * kShare;
          for (std::int64_t block = 0; block < kShare; block += kBlock)
            own.push(own.wholeBlock(first + block));
          work.values[static_cast<std::size_t>(i)] = own.partial_[kShareLevel];
        },
        &all);
    for (std::int64_t i = 0; i < shares; ++i)
      push(all.values[static_cast<std::size_t>(i)], kShareLevel);
  }

  /// Folds elements into the block that is open, from left to right.
  void extend(const T* run, std::int64_t length) {
    std::int64_t i = 0;
    T value = open_;
    if (filled_ == 0) value = run[i++];
    for (; i < length; ++i) value = op_(value, run[i]);
    open_ = value;
    filled_ += length;
  }

  T wholeBlock(const T* block) {
    T runs[kRuns];
    for (std::int64_t r = 0; r < kRuns; ++r) runs[r] = block[r * kRunLength];
    for (std::int64_t i = 1; i < kRunLength; ++i)
      for (std::int64_t r = 0; r < kRuns; ++r) runs[r] = op_(runs[r], block[r * kRunLength + i]);
    for (std::int64_t width = 1; width < kRuns; width *= 2)
      for (std::int64_t r = 0; r < kRuns; r += 2 * width) runs[r] = op_(runs[r], runs[r + width]);
    return runs[0];
  }

  /// Adds a block, or 2^level of them, as a binary counter adds 1: partial_[k] holds 2^k blocks.
  void push(const T& added, int level = 0) {
    T value = added;
    const std::uint64_t blocks = std::uint64_t{1} << level;
    for (; (blocks_ >> level & 1) != 0; ++level) value = op_(partial_[level], value);
    partial_[level] = value;
    blocks_ += blocks;
  }

  Op& op_;
  T open_{};
  std::int64_t filled_ = 0;
  std::uint64_t blocks_ = 0;
  T partial_[57];
};

}  // namespace hpl::detail
