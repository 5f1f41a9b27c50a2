// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/peer_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "hpl/error.h"
#include "hpl/memory/detail/host_memory.h"
#include "hpl/memory/detail/session.h"
#include "hpl/ranks/window.h"

namespace hpl::memory {
namespace {

using namespace detail;

constexpr std::size_t kPage = 4096;

std::size_t inPages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// This process's books of the memory that the ranks of a node share.
class PeerHeap {
 public:
  static PeerHeap& get() {
    static auto* heap = new PeerHeap;
    return *heap;
  }

  /// The first free place from `begin` on; kPeerBytes: none is as large.
  std::size_t freeFrom(std::size_t begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (const auto& [first, size] : used_) {
      if (first + size <= begin) continue;
      if (begin + bytes <= first) break;
      begin = first + size;
    }
    return begin + bytes <= ranks::Window::kPeerBytes ? begin : ranks::Window::kPeerBytes;
  }
  void take(std::size_t begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_[begin] = bytes;
  }
  void giveBack(std::size_t begin) {
    const std::lock_guard lock(mutex_);
    used_.erase(begin);
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> used_;
};

ranks::Window* windowOf(ranks::World& world) noexcept {
  return world.sharesOnNode() ? world.courier().window() : nullptr;
}

/// The first place that is free on all ranks of a node. Ranks forget at times of their own what
/// they no longer use, so they ask each other until all that have a heap say the same.
std::size_t agreedPlace(bool hasHeap, std::size_t bytes, const std::string& owner) {
  std::size_t place = 0;
  for (bool isAgreed = false; !isAgreed;) {
    std::vector<double> own;
    if (hasHeap) own.push_back(static_cast<double>(PeerHeap::get().freeFrom(place, bytes)));
    isAgreed = true;
    bool isFirst = true;
    for (const std::vector<double>& said : tellRanks("place of " + owner, std::move(own))) {
      if (said.empty()) continue;
      const auto other = static_cast<std::size_t>(said.front());
      isAgreed = isAgreed && (isFirst || other == place);
      place = isFirst ? other : std::max(place, other);
      isFirst = false;
    }
  }
  return place;
}

}  // namespace

bool sharesPeerMemory() noexcept {
  ranks::World* world = otherRanks();
  return world == nullptr || windowOf(*world) != nullptr;
}

std::shared_ptr<std::byte> ownPeerMemory(std::size_t bytes, const std::string& owner) {
  const PlacedMemory memory = allocatePlaced(bytes);
  if (memory.data == nullptr)
    throw AllocationError(fmt::format("{}: the host has no {} bytes", owner, bytes), 0, {});
  std::memset(memory.data, 0, bytes);
  return {memory.data, [allocated = memory.allocated](std::byte*) { std::free(allocated); }};
}

std::shared_ptr<std::byte> peerMemory(std::size_t bytes, const std::string& owner) {
  ranks::World* world = otherRanks();
  if (world == nullptr) return ownPeerMemory(bytes, owner);
  ranks::Window* window = windowOf(*world);
  const std::size_t whole = inPages(bytes);
  const std::size_t place = agreedPlace(window != nullptr, whole, owner);
  if (place == ranks::Window::kPeerBytes)
    throw AllocationError(
        fmt::format("{}: {} bytes do not fit into the {} MiB that the ranks of a node share", owner,
                    bytes, ranks::Window::kPeerBytes >> 20),
        0, {});
  std::shared_ptr<std::byte> memory;
  if (window == nullptr) {
    memory = ownPeerMemory(bytes, owner);
  } else {
    PeerHeap::get().take(place, whole);
    memory = {window->peerMemory() + place,
              [place](std::byte*) { PeerHeap::get().giveBack(place); }};
    std::memset(memory.get(), 0, bytes);
  }
  // No rank uses it before all have cleared it.
  tellRanks("clearing of " + owner, {});
  return memory;
}

}  // namespace hpl::memory
