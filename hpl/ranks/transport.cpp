// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/transport.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace hpl::ranks {

// ---- memory ----------------------------------------------------------------------------------

namespace {

constexpr std::align_val_t kPoolAlignment{128};

using Memory = std::shared_ptr<std::byte>;

Memory plainMemory(std::size_t bytes) {
  return {static_cast<std::byte*>(::operator new(bytes, kPoolAlignment)),
          [](std::byte* memory) { ::operator delete(memory, kPoolAlignment); }};
}

/// Free memory by size. Never destroyed: messages end on other threads.
class Pool {
 public:
  static Pool& get() {
    static auto* pool = new Pool;
    return *pool;
  }

  Memory lend(std::size_t bytes) {
    const std::size_t size = std::bit_ceil(std::max(bytes, std::size_t{4096}));
    Memory block = taken(size);
    if (block == nullptr) block = fresh(size);
    std::byte* const memory = block.get();
    return {memory, [block = std::move(block), size](std::byte*) mutable {
              get().giveBack(std::move(block), size);
            }};
  }

  void takeFrom(MessageSource source) {
    clear();
    const std::lock_guard lock(mutex_);
    source_ = std::move(source);
  }

  void clear() {
    std::map<std::size_t, std::vector<Memory>> free;
    const std::lock_guard lock(mutex_);
    free.swap(free_);
    kept_ = 0;
  }

 private:
  Memory taken(std::size_t size) {
    const std::lock_guard lock(mutex_);
    std::vector<Memory>& free = free_[size];
    if (free.empty()) return nullptr;
    Memory block = std::move(free.back());
    free.pop_back();
    kept_ -= size;
    return block;
  }

  Memory fresh(std::size_t size) {
    MessageSource source;
    {
      const std::lock_guard lock(mutex_);
      source = source_;
    }
    Memory block = source ? source(size) : nullptr;
    return block != nullptr ? block : plainMemory(size);
  }

  void giveBack(Memory block, std::size_t size) {
    constexpr std::size_t kMostKept = std::size_t{256} << 20;
    const std::lock_guard lock(mutex_);
    if (kept_ + size > kMostKept) return;
    free_[size].push_back(std::move(block));
    kept_ += size;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<Memory>> free_;
  std::size_t kept_ = 0;
  MessageSource source_;
};

}  // namespace

std::shared_ptr<std::byte> messageMemory(std::size_t bytes) { return Pool::get().lend(bytes); }

void takeMessageMemoryFrom(MessageSource source) { Pool::get().takeFrom(std::move(source)); }

void clearMessageMemory() { Pool::get().clear(); }

// ---- messages of the fabric ------------------------------------------------------------------

namespace {

/// The places elsewhere, and the rest of the message's own memory around them.
template <class Byte>
Parts<Byte> partsOf(const Transport::Paper& paper) {
  std::byte* const own = paper.memory.get();
  if (paper.elsewhere.empty()) return Parts<Byte>(own, paper.bytes);
  auto list = std::make_shared<typename Parts<Byte>::List>();
  list->reserve(2 * paper.elsewhere.size() + 1);
  const auto add = [&](std::byte* begin, std::size_t bytes) {
    if (bytes == 0) return;
    if (!list->empty() && list->back().data() + list->back().size() == begin) {
      list->back() = {list->back().data(), list->back().size() + bytes};
    } else {
      list->emplace_back(begin, bytes);
    }
  };
  std::size_t at = 0;
  for (const Elsewhere& some : paper.elsewhere) {
    add(own + at, some.offset - at);
    add(some.place.data(), some.place.size());
    at = some.offset + some.place.size();
  }
  add(own + at, paper.bytes - at);
  return Parts<Byte>(std::shared_ptr<const typename Parts<Byte>::List>(std::move(list)));
}

class Messages final : public Transport {
 public:
  Messages(Courier& courier, int peer) : courier_(courier), peer_(peer) {}

  std::string_view name() const noexcept override { return "message"; }
  std::size_t most() const noexcept override { return std::numeric_limits<std::size_t>::max(); }
  bool hasPlaces() const noexcept override { return false; }

  Paper toSend(std::size_t bytes, std::size_t, const std::function<void()>&) override {
    return {messageMemory(bytes), bytes};
  }
  void send(const Paper& paper, Done done) override {
    courier_.send(peer_, partsOf<const std::byte>(paper), std::move(done));
  }
  Paper toReceive(std::size_t bytes, std::size_t) override { return {messageMemory(bytes), bytes}; }
  void receive(const Paper& paper, Done done) override {
    courier_.receive(peer_, partsOf<std::byte>(paper), std::move(done));
  }

 private:
  Courier& courier_;
  int peer_;
};

// ---- shared memory ---------------------------------------------------------------------------

class Shared final : public Transport {
 public:
  Shared(Courier& courier, Window& window, int peer)
      : courier_(courier),
        to_(*window.to(peer)),
        from_(*window.from(peer)),
        bell_(window.bellOf(peer)),
        most_(window.most()),
        peer_(peer) {}

  std::string_view name() const noexcept override { return "window"; }
  std::size_t most() const noexcept override { return most_; }
  bool hasPlaces() const noexcept override { return true; }

  Paper toSend(std::size_t bytes, std::size_t together,
               const std::function<void()>& waitMore) override {
    const WindowLane::Place place = to_.next(bytes, together);
    while (!to_.isFree(place)) waitMore();
    // The memory is the receiver's to give back.
    return {std::shared_ptr<std::byte>(place.memory, [](std::byte*) {}), bytes, place};
  }
  void send(const Paper& paper, Done done) override {
    to_.publish(paper.place);
    bell_.ring();
    done(nullptr, paper.bytes);
  }
  Paper toReceive(std::size_t bytes, std::size_t together) override {
    const WindowLane::Place place = from_.next(bytes, together);
    from_.expect();
    return {{place.memory, [this, place](std::byte*) { from_.noteRead(place); }}, bytes, place};
  }
  void receive(const Paper& paper, Done done) override {
    courier_.awaitWord(
        peer_, from_.wordOf(paper.place), paper.place.number + 1,
        [done = std::move(done), bytes = paper.bytes](const std::exception_ptr& failure) {
          done(failure, failure ? 0 : bytes);
        });
  }

 private:
  Courier& courier_;
  WindowLane& to_;
  WindowLane& from_;
  WindowBell& bell_;
  std::size_t most_;
  int peer_;
};

}  // namespace

std::unique_ptr<Transport> messagesWith(Courier& courier, int peer) {
  return std::make_unique<Messages>(courier, peer);
}

std::unique_ptr<Transport> windowWith(Courier& courier, Window& window, int peer) {
  return std::make_unique<Shared>(courier, window, peer);
}

}  // namespace hpl::ranks
