// SPDX-License-Identifier: Apache-2.0
// Locks that fork() waits for, so that the forked process finds what they guard whole.
#pragma once

#include <atomic>
#include <mutex>
#include <new>
#include <shared_mutex>

namespace hpl::runtime {

/// Where a lock stands: `Outer` ones may be held by a thread that asks for `Inner` ones.
enum class ForkOrder { Outer, Inner };

namespace detail {

struct ForkLock {
  void* mutex;
  bool (*tryLock)(void* mutex);
  void (*unlock)(void* mutex);
  void (*renew)(void* mutex);
  std::atomic<const void*> forking{nullptr};  ///< the thread that holds it for its fork()
  ForkLock* next = nullptr;
};

/// `lock` is never freed.
void addForkLock(ForkOrder order, ForkLock& lock) noexcept;

}  // namespace detail

/// A mutex, never destroyed, that each fork() of the process takes first and gives back; the child
/// gets a new one. In a forked process there is only the thread that forked: a lock that another
/// one held would be held for ever, and the state that it guards would stay half changed. A fork()
/// waits for five seconds at most, since drivers fork, too, perhaps in a thread that holds the
/// lock. Functions that keep one in a static are best called before main() as well, while there is
/// one thread: a static that another thread makes during a fork() is never made in the child.
template <class Mutex = std::mutex>
Mutex& newForkSafeMutex(ForkOrder order) {
  auto& mutex = *new Mutex;
  detail::addForkLock(order, *new detail::ForkLock{
                                 &mutex, [](void* m) { return static_cast<Mutex*>(m)->try_lock(); },
                                 [](void* m) { static_cast<Mutex*>(m)->unlock(); },
                                 [](void* m) { new (m) Mutex; }});
  return mutex;
}

/// A thread that compiles, for the time of the object. Other threads' fork() waits for it: a forked
/// process that ends would remove the files that the compiler writes (LLVM's exit handlers do).
class CompilingScope {
 public:
  CompilingScope();
  ~CompilingScope();
  CompilingScope(const CompilingScope&) = delete;
  CompilingScope& operator=(const CompilingScope&) = delete;

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

}  // namespace hpl::runtime
