// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "hpl/error.h"
#include "hpl/ranks/window.h"

namespace hpl::ranks {
namespace {

// Powers of two. Cells: two chunks of a large message, so that both ends copy at once.
constexpr std::array<std::size_t, kChannels> kCapacity{
    std::size_t{256} << 10, std::size_t{64} << 10, std::size_t{64} << 10, std::size_t{16} << 10};

constexpr std::size_t kPage = 4096;

constexpr std::size_t sizeOfPair() {
  std::size_t bytes = kPage;  // the ring's counters, of all channels
  for (const std::size_t capacity : kCapacity) bytes += capacity;
  return bytes;
}

static_assert(sizeof(Ring) * kChannels <= kPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace

std::size_t RingEnd::write(std::span<const std::byte> from) noexcept {
  const std::uint64_t written = ring_->written.load(std::memory_order_relaxed);
  const std::uint64_t read = ring_->read.load(std::memory_order_acquire);
  const std::size_t count = std::min<std::size_t>(from.size(), capacity_ - (written - read));
  const std::size_t at = written & (capacity_ - 1);
  const std::size_t first = std::min(count, capacity_ - at);
  if (count == 0) return 0;
  std::memcpy(bytes_ + at, from.data(), first);
  std::memcpy(bytes_, from.data() + first, count - first);
  ring_->written.store(written + count, std::memory_order_release);
  return count;
}

std::size_t RingEnd::read(std::span<std::byte> into) noexcept {
  const std::uint64_t read = ring_->read.load(std::memory_order_relaxed);
  const std::uint64_t written = ring_->written.load(std::memory_order_acquire);
  const std::size_t count = std::min<std::size_t>(into.size(), written - read);
  const std::size_t at = read & (capacity_ - 1);
  const std::size_t first = std::min(count, capacity_ - at);
  if (count == 0) return 0;
  std::memcpy(into.data(), bytes_ + at, first);
  std::memcpy(into.data() + first, bytes_, count - first);
  ring_->read.store(read + count, std::memory_order_release);
  return count;
}

std::size_t RingEnd::skip(std::size_t most) noexcept {
  const std::uint64_t read = ring_->read.load(std::memory_order_relaxed);
  const std::uint64_t written = ring_->written.load(std::memory_order_acquire);
  const std::size_t count = std::min<std::size_t>(most, written - read);
  ring_->read.store(read + count, std::memory_order_release);
  return count;
}

Arena::Arena(int ranks)
    : ranks_(ranks),
      bytes_(kPage +
             static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks) * sizeOfPair()),
      windowBytes_(Window::bytesFor(ranks)) {
  static_assert(sizeof(Header) <= kPage);
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw RankError(fmt::format("{} ranks need {} MiB of shared memory, which the system refuses "
                                "({}): start fewer ranks with HPL_RANKS",
                                ranks, bytes_ >> 20, std::strerror(errno)),
                    0, "start of the ranks");
  }
  memory_ = static_cast<std::byte*>(memory);
  // Ranks can do without.
  void* window = mmap(nullptr, windowBytes_, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (window != MAP_FAILED) window_ = static_cast<std::byte*>(window);
  auto* header = new (memory_) Header;
  for (auto& status : header->statuses) status.store(kAlive);
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      std::byte* pair =
          memory_ + kPage + static_cast<std::size_t>(from * ranks + to) * sizeOfPair();
      for (int channel = 0; channel < kChannels; ++channel)
        new (pair + static_cast<std::size_t>(channel) * sizeof(Ring)) Ring;
    }
  }
}

Arena::~Arena() {
  munmap(memory_, bytes_);
  if (window_ != nullptr) munmap(window_, windowBytes_);
}

RingEnd Arena::ring(int from, int to, Channel channel) const noexcept {
  std::byte* pair = memory_ + kPage + static_cast<std::size_t>(from * ranks_ + to) * sizeOfPair();
  const auto number = static_cast<std::size_t>(channel);
  std::byte* bytes = pair + kPage;
  for (std::size_t before = 0; before < number; ++before) bytes += kCapacity[before];
  return {std::launder(reinterpret_cast<Ring*>(pair + number * sizeof(Ring))), bytes,
          kCapacity[number]};
}

std::atomic<int>& Arena::status(int rank) const noexcept {
  return std::launder(reinterpret_cast<Header*>(memory_))->statuses[static_cast<std::size_t>(rank)];
}

}  // namespace hpl::ranks
