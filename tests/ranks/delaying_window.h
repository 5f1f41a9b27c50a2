// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "hpl/ranks/window.h"
#include "tests/ranks/delaying_fabric.h"

namespace hpl_tests {

/// A fabric whose window is as late as its messages. A rank sees the first page of each lane to it,
/// where words and counts are, in memory of its own, to which the fabric brings each word after a
/// random time: messages overtake each other, also in one lane. The sender learns as late that the
/// rank has read a message. The mishap counts the words that come in, too. All ranks are on one
/// node.
class DelayingWindow final : public DelayingFabric {
 public:
  using DelayingFabric::DelayingFabric;

  std::shared_ptr<std::byte> shareOnNode(std::size_t bytes) override {
    shared_ = inner().shareOnNode(bytes);
    if (shared_ == nullptr) return nullptr;
    // A second mapping of the same pages.
    void* const seen = mremap(shared_.get(), 0, bytes, MREMAP_MAYMOVE);
    if (seen == MAP_FAILED) throw std::bad_alloc();
    std::shared_ptr<std::byte> memory(static_cast<std::byte*>(seen),
                                      [bytes](std::byte* begin) { munmap(begin, bytes); });
    const auto ranks = static_cast<std::size_t>(size());
    const std::size_t bells = ranks * hpl::ranks::WindowBell::kBytes;
    const std::size_t peers = hpl::ranks::Window::kPeerBytes + hpl::ranks::Window::kPeerAlignment;
    const std::size_t lane = (bytes - bells - peers) / (ranks * ranks);
    for (std::size_t from = 0; from < ranks; ++from) {
      const auto own = static_cast<std::size_t>(rank());
      if (from == own) continue;
      const std::size_t at = page() + (from * ranks + own) * lane;
      if (mmap(memory.get() + at, page(), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        throw std::bad_alloc();
      lanes_.push_back({shared_.get() + at, memory.get() + at, {}, {}, 0});
    }
    // The bells end with the first page, so that each lane begins with one: all ranks see it so.
    if (bells > page() || lane % page() != 0) throw std::bad_alloc();
    return {memory, memory.get() + page() - bells};
  }

  bool poll(std::vector<Completion>& ended) override {
    bool moved = DelayingFabric::poll(ended);
    // After the messages: a rank that has said farewell has sent what it has counted.
    for (Lane& lane : lanes_) moved |= relay(lane);
    return moved;
  }

 private:
  using Header = hpl::ranks::WindowLane::Header;
  using Due = std::optional<Clock::time_point>;
  /// From another rank: its first page as the sender sees it, and as this rank does.
  struct Lane {
    std::byte* sender;
    std::byte* own;
    std::array<Due, hpl::ranks::WindowLane::kMost> words;
    Due read;
    std::uint64_t told;
  };

  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  bool isDue(Due& due) {
    if (!due) due = someTimeFromNow();
    if (*due > Clock::now()) return false;
    due.reset();
    return true;
  }

  /// Also over messages that a device still reads, with the values that they have: the window of
  /// the library is written by other processes, which ThreadSanitizer does not see either.
  [[gnu::no_sanitize_thread]] static void copyAgain(std::byte* to, const std::byte* from,
                                                    std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }

  bool relay(Lane& lane) {
    Header& theirs = *reinterpret_cast<Header*>(lane.sender);
    Header& own = *reinterpret_cast<Header*>(lane.own);
    own.sent.store(theirs.sent.load());
    theirs.expected.store(own.expected.load());
    bool moved = false;
    for (std::size_t i = 0; i < lane.words.size(); ++i) {
      const std::uint64_t word = theirs.words[i].load();
      if (word == own.words[i].load() || !isDue(lane.words[i])) continue;
      countMessage();
      // Messages that lie on this page; one that is not yet there comes again with its word.
      copyAgain(lane.own + sizeof(Header), lane.sender + sizeof(Header), page() - sizeof(Header));
      own.words[i].store(word);
      moved = true;
    }
    // The courier must not sleep until the next message.
    for (const Due& due : lane.words) moved = moved || due.has_value();
    if (const std::uint64_t read = own.read.load(); read != lane.told && isDue(lane.read)) {
      theirs.read.store(read);
      lane.told = read;
      moved = true;
    }
    return moved || lane.read.has_value();
  }

  std::shared_ptr<std::byte> shared_;
  std::vector<Lane> lanes_;
};

}  // namespace hpl_tests
