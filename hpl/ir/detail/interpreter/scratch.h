// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace hpl::ir::detail {

/// 64-byte aligned memory for the values of a batch; what a vector of bytes does not promise.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new(bytes, kAlignment))) {}
  std::byte* get() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

/// Stack of temporaries: expressions allocate, statements release. Addresses stay valid until
/// then, and no statement asks the heap for memory once the stack has grown.
class Scratch {
 public:
  /// Releases on destruction what was allocated since its construction.
  class Scope {
   public:
    explicit Scope(Scratch& scratch)
        : scratch_(scratch), chunk_(scratch.current_), used_(scratch.used_) {}
    ~Scope() {
      scratch_.current_ = chunk_;
      scratch_.used_ = used_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Scratch& scratch_;
    std::size_t chunk_;
    std::size_t used_;
  };

  std::byte* allocate(std::int64_t bytes) {
    const std::size_t wanted = (static_cast<std::size_t>(bytes) + 63) & ~std::size_t{63};
    while (current_ < chunks_.size()) {
      if (chunks_[current_].size - used_ >= wanted) {
        std::byte* result = chunks_[current_].memory.get() + used_;
        used_ += wanted;
        return result;
      }
      ++current_;
      used_ = 0;
    }
    const std::size_t size = wanted > kChunk ? wanted : kChunk;
    chunks_.push_back(Chunk{AlignedBytes(size), size});
    used_ = wanted;
    return chunks_.back().memory.get();
  }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 18;
  struct Chunk {
    AlignedBytes memory;
    std::size_t size;
  };
  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;
};

}  // namespace hpl::ir::detail
