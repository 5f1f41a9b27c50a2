// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/host_fill.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "hpl/geometry/rect_copy.h"

namespace hpl::memory::detail {

namespace {

// Runs of this length leave the caches anyway: to write around them saves reading what is
// overwritten.
constexpr std::size_t kStreamed = std::size_t{1} << 20;

// An element, over and over again.
class Pattern {
 public:
  // For runs of at most `longest` bytes.
  Pattern(const void* element, std::size_t size, std::size_t longest)
      : element_(static_cast<const std::byte*>(element)), size_(size) {
    isOneByte_ =
        std::all_of(element_, element_ + size, [&](std::byte b) { return b == *element_; });
    if (!isOneByte_) filled_ = std::min(block_.size(), longest) / size * size;
    repeat(block_.data(), filled_);
  }

  void fill(std::byte* to, std::size_t bytes) const {
    if (isOneByte_) {
      std::memset(to, std::to_integer<int>(*element_), bytes);
    } else if (filled_ == 0) {
      repeat(to, bytes);  // an element larger than the block
    } else {
      if (bytes >= kStreamed) stream(to, bytes);
      for (; bytes > 0; to += std::min(bytes, filled_), bytes -= std::min(bytes, filled_))
        std::memcpy(to, block_.data(), std::min(bytes, filled_));
    }
  }

 private:
  // Writes the element and then doubles what is there.
  void repeat(std::byte* to, std::size_t bytes) const {
    if (bytes == 0) return;
    std::memcpy(to, element_, size_);
    for (std::size_t done = size_; done < bytes; done *= 2)
      std::memcpy(to + done, to, std::min(done, bytes - done));
  }

  // Writes whole lines around the caches; advances over what it wrote, a multiple of the element.
  void stream([[maybe_unused]] std::byte*& to, [[maybe_unused]] std::size_t& bytes) const {
#ifdef __SSE2__
    constexpr std::size_t kLine = 64;
    if (kLine % size_ != 0 || reinterpret_cast<std::uintptr_t>(to) % size_ != 0) return;
    const std::size_t before = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
    std::memcpy(to, block_.data(), before);
    to += before;
    bytes -= before;
    const auto* words = reinterpret_cast<const __m128i*>(block_.data());
    const __m128i line[4] = {_mm_loadu_si128(words), _mm_loadu_si128(words + 1),
                             _mm_loadu_si128(words + 2), _mm_loadu_si128(words + 3)};
    for (; bytes >= kLine; to += kLine, bytes -= kLine) {
      auto* at = reinterpret_cast<__m128i*>(to);
      for (int i = 0; i < 4; ++i) _mm_stream_si128(at + i, line[i]);
    }
    _mm_sfence();
#endif
  }

  const std::byte* element_;
  std::size_t size_;
  bool isOneByte_;
  std::size_t filled_ = 0;             // of the block; a multiple of the element
  std::array<std::byte, 4096> block_;  // its first bytes
};

}  // namespace

void fillHost(std::byte* memory, const geometry::Box& enclosing, const geometry::Box& box,
              const void* element, std::size_t elementSize) {
  const auto runs = geometry::rectCopies(enclosing, box, enclosing, box, elementSize);
  if (runs.empty()) return;
  // All have the same length.
  const Pattern pattern(element, elementSize, runs.front().region[0]);
  for (const geometry::RectCopy& run : runs) {
    for (std::size_t slice = 0; slice < run.region[2]; ++slice) {
      for (std::size_t line = 0; line < run.region[1]; ++line)
        pattern.fill(memory + run.dstOffset() + slice * run.dstSlicePitch + line * run.dstRowPitch,
                     run.region[0]);
    }
  }
}

}  // namespace hpl::memory::detail
