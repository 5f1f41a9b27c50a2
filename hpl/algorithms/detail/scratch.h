// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>

#include "hpl/ir/type.h"
#include "hpl/launch/eval.h"

/// Arrays for intermediate results, and launches that use them.
namespace hpl::algorithms {

/// A one-dimensional array that is used for a while. The same ones are lent again and again, so
/// that the plans of launches that use them fit. Their contents are unspecified.
class Scratch {
 public:
  /// `cells` elements of a type, for launches with `partner`: like that an array of all ranks, or
  /// of this rank alone. Throws AllocationError when the host's memory is exhausted.
  Scratch(const memory::View& partner, const ir::Type& type, std::size_t elementSize,
          std::size_t cells);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  launch::Argument argument() const;
  /// Element `i` on the host; waits.
  const void* onHost(std::size_t i) const;

 private:
  std::shared_ptr<memory::Root> root_;
};

template <class T>
class ScratchOf : public Scratch {
 public:
  ScratchOf(const memory::View& partner, std::size_t cells)
      : Scratch(partner, irType<T>(), sizeof(T), cells) {}
};

/// An algorithm that runs on one device, in blocks of consecutive elements, one per work-item.
class BlockLaunch {
 public:
  /// For the elements of `view`, on the device that holds the first of them. Each block needs
  /// `cells` cells of scratch: with many of them there are fewer blocks.
  explicit BlockLaunch(memory::View& view, std::size_t cells = 1);

  unsigned long count() const { return count_; }
  unsigned long blocks() const { return blocks_; }
  /// Elements of a block; the last ones may have fewer.
  unsigned long chunk() const { return chunk_; }

  /// Launches a kernel with one work-item per block, or with as many as said.
  template <class K>
  void operator()(const K& kernel, std::initializer_list<launch::Argument> arguments,
                  std::size_t workItems = 0) const {
    run(launch::entryOf(kernel), arguments, workItems > 0 ? workItems : blocks_);
  }

 private:
  void run(const launch::EntryHandle& kernel, std::initializer_list<launch::Argument> arguments,
           std::size_t workItems) const;

  runtime::DeviceState* device_ = nullptr;
  unsigned long count_ = 0;
  unsigned long blocks_ = 1;
  unsigned long chunk_ = 1;
};

/// Throws ShapeError unless `other` has at least as many cells as `view`, or, if asked, as many.
void checkLength(const char* name, const memory::View& other, const memory::View& view,
                 bool exactly);

/// Throws ArgumentError when the views share cells.
void checkDistinct(const char* name, const memory::View& a, const memory::View& b);

/// Throws ArgumentError when there are more keys than 32 bits count.
void checkCount(const char* name, const memory::View& keys);

}  // namespace hpl::algorithms
