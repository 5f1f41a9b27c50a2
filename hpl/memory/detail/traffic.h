// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace hpl::memory::detail {

/// How many messages are under way.
class Traffic {
 public:
  static Traffic& get() {
    static auto* traffic = new Traffic;
    return *traffic;
  }
  void begin() {
    const std::lock_guard lock(mutex_);
    ++underWay_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--underWay_ <= wanted_) changed_.notify_all();
  }
  /// Waits, if more than `most` are under way, until only `few` are: a thread that waits for each
  /// of many is woken as often.
  void waitIfAbove(int most, int few) {
    std::unique_lock lock(mutex_);
    if (underWay_ <= most) return;
    ++waiting_;
    wanted_ = std::max(wanted_, few);
    changed_.wait(lock, [&] { return underWay_ <= few; });
    if (--waiting_ == 0) wanted_ = kNobodyWaits;
  }

 private:
  static constexpr int kNobodyWaits = -1;

  std::mutex mutex_;
  std::condition_variable changed_;
  int underWay_ = 0;
  int waiting_ = 0;
  int wanted_ = kNobodyWaits;  // the most that one of those who wait asks for
};

}  // namespace hpl::memory::detail
