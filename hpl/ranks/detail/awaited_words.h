// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace hpl::ranks {

/// Words of shared memory that other ranks will set, and whom to call then. For the courier's
/// thread.
class AwaitedWords {
 public:
  using Done = std::function<void(const std::exception_ptr& failure)>;

  void add(const std::atomic<std::uint64_t>& word, std::uint64_t value, Done done) {
    waiting_.push_back({&word, value, std::move(done)});
  }
  std::size_t count() const noexcept { return waiting_.size(); }
  /// Whether poll() would call anybody.
  bool isAnyThere() const noexcept {
    return std::ranges::any_of(waiting_, [](const Awaited& awaited) { return awaited.isThere(); });
  }

  /// Calls who waits for a word that has its value, or a later one. True if there was any.
  bool poll() {
    bool any = false;
    for (std::size_t i = 0; i < waiting_.size();) {
      if (!waiting_[i].isThere()) {
        ++i;
        continue;
      }
      any = true;
      const Done done = std::move(waiting_[i].done);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      done(nullptr);
    }
    return any;
  }

  void failAll(const std::exception_ptr& failure) {
    for (const Awaited& awaited : std::exchange(waiting_, {})) awaited.done(failure);
  }

 private:
  struct Awaited {
    const std::atomic<std::uint64_t>* word;
    std::uint64_t value;
    Done done;

    bool isThere() const noexcept { return word->load(std::memory_order_acquire) >= value; }
  };
  std::vector<Awaited> waiting_;
};

}  // namespace hpl::ranks
