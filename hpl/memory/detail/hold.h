// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <span>

namespace hpl::memory::detail {

struct RootState;

/// An operation's roots: no other operation on them may begin while it waits without the lock.
/// Roots are held all at once, so operations never wait for each other in a circle.
class Hold {
 public:
  Hold() = default;
  ~Hold() { release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  /// Waits, without the lock, until no other operation holds any of them. The caller keeps the
  /// list.
  void take(std::unique_lock<std::mutex>& lock, std::span<RootState* const> roots);
  /// False if another operation holds one of them.
  bool tryTake(std::span<RootState* const> roots) noexcept;
  void release() noexcept;

 private:
  std::span<RootState* const> roots_;
  bool isHeld_ = false;
};

}  // namespace hpl::memory::detail
