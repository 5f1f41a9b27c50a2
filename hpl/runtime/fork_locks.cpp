// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/fork_locks.h"

#include <pthread.h>

#include <array>
#include <chrono>
#include <thread>

namespace hpl::runtime {

namespace {

using detail::ForkLock;

// Lists without a lock of their own, which a fork() would have to wait for as well.
std::array<std::atomic<ForkLock*>, 2> lists{};

template <class F>
void forEachLock(F&& f) {
  for (const auto& list : lists)
    for (ForkLock* lock = list.load(); lock != nullptr; lock = lock->next) f(*lock);
}

// Longer than a compilation takes, as a rule.
constexpr auto kLongestWait = std::chrono::seconds(5);

bool tryUntil(std::chrono::steady_clock::time_point end, const ForkLock& lock) {
  while (!lock.tryLock(lock.mutex)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

thread_local int compiling = 0;  // its address tells threads apart

void beforeFork() {
  // A driver's own fork() in the midst of a compilation: the child becomes another program.
  if (compiling > 0) return;
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  forEachLock([&](ForkLock& lock) {
    if (tryUntil(end, lock)) lock.forking.store(&compiling);
  });
}

void inParent() {
  forEachLock([](ForkLock& lock) {
    if (lock.forking.load() != &compiling) return;
    lock.forking.store(nullptr);
    lock.unlock(lock.mutex);
  });
}

// A lock that knows its thread by a number cannot be given back by the child, whose number is new.
void inChild() {
  forEachLock([](ForkLock& lock) {
#ifdef __SANITIZE_THREAD__
    // It has an account of its own, in which a renewed lock is still held.
    if (lock.forking.load() == &compiling) lock.unlock(lock.mutex);
#endif
    lock.forking.store(nullptr);
    lock.renew(lock.mutex);
  });
}

std::shared_mutex& compilations() {
  static auto& instance = newForkSafeMutex<std::shared_mutex>(ForkOrder::Inner);
  return instance;
}
[[maybe_unused]] const auto& earlyCompilations = compilations();

}  // namespace

void detail::addForkLock(ForkOrder order, ForkLock& lock) noexcept {
  static const int watchesForks = pthread_atfork(beforeFork, inParent, inChild);
  static_cast<void>(watchesForks);
  auto& list = lists[static_cast<std::size_t>(order)];
  lock.next = list.load();
  while (!list.compare_exchange_weak(lock.next, &lock)) {
  }
}

CompilingScope::CompilingScope() : lock_(compilations()) { ++compiling; }
CompilingScope::~CompilingScope() { --compiling; }

}  // namespace hpl::runtime
