// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/interpreter/turns.h"

#include <algorithm>
#include <thread>

namespace hpl::ir::detail {

void Turns::wait(std::unique_lock<std::mutex>& lock, std::size_t group) {
  changed_.wait(lock, [&] { return now_ == group || error_ != nullptr; });
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void Turns::next() {
  const std::size_t groups = isLive_.size();
  for (std::size_t k = 1; k <= groups; ++k) {
    const std::size_t group = (now_ + k) % groups;
    if (!isLive_[group]) continue;
    now_ = group;
    break;
  }
  changed_.notify_all();
}

void Turns::pass() {
  std::unique_lock lock(mutex_);
  const std::size_t own = now_;
  next();
  wait(lock, own);
}

void Turns::run(const std::function<void(std::size_t)>& run) {
  const auto work = [&](std::size_t group) {
    try {
      {
        std::unique_lock lock(mutex_);
        wait(lock, group);
      }
      run(group);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    isLive_[group] = false;
    next();
  };
  std::vector<std::thread> threads;
  for (std::size_t group = 0; group < isLive_.size(); ++group) threads.emplace_back(work, group);
  for (std::thread& thread : threads) thread.join();
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void Knowledge::store(const std::byte* cell, std::uint64_t group, bool releases) {
  if (!releases) {
    released_.erase(cell);
    return;
  }
  released_[cell] = clocks_[group];
  ++clocks_[group][group];
}

void Knowledge::acquire(const std::byte* cell, std::uint64_t group) {
  const auto found = released_.find(cell);
  if (found == released_.end()) return;
  std::vector<std::uint64_t>& own = clocks_[group];
  for (std::size_t g = 0; g < own.size(); ++g) own[g] = std::max(own[g], found->second[g]);
}

}  // namespace hpl::ir::detail
