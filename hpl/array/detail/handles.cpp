// SPDX-License-Identifier: Apache-2.0
#include "hpl/array/detail/handles.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

#include "hpl/array/detail/array_base.h"
#include "hpl/runtime/fork_locks.h"

namespace hpl::detail {

namespace {

// The state of a handle whose view was dropped.
class Dropped : public ArrayBase {
 public:
  Dropped() { keepCells(memory::View::dropped); }
};
static_assert(sizeof(Dropped) <= kHandleBytes);

std::mutex& placesMutex() {
  static auto& mutex = runtime::newForkSafeMutex(runtime::ForkOrder::Inner);
  return mutex;
}
[[maybe_unused]] const auto& earlyPlacesMutex = placesMutex();

class Places {
 public:
  /// To be called under the lock, as all that it has.
  static Places& get() {
    static auto& instance = *new Places;  // static arrays may die after any static of ours
    return instance;
  }

  void* take() {
    if (next_ == end_ && !map()) return ::operator new(kHandleBytes);
    std::byte* const place = next_;
    next_ += kHandleBytes;
    if (reinterpret_cast<std::uintptr_t>(place) % kPage == 0)
      left_[place] = static_cast<int>(kPage / kHandleBytes);
    return place;
  }

  void drop(void* place) noexcept {
    std::memcpy(place, image_, kHandleBytes);
    auto* const page =
        static_cast<std::byte*>(place) - reinterpret_cast<std::uintptr_t>(place) % kPage;
    const auto found = left_.find(page);
    if (found == left_.end() || --found->second > 0) return;
    left_.erase(found);
    // The page shows the file again.
    (void)madvise(page, kPage, MADV_DONTNEED);
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kChunk = std::size_t{1} << 20;

  Places() {
    const Dropped dropped;
    std::memcpy(image_, static_cast<const void*>(&dropped), sizeof dropped);
    if (sysconf(_SC_PAGESIZE) != static_cast<long>(kPage)) return;
    file_ = memfd_create("dropped views", MFD_CLOEXEC);
    if (file_ < 0) return;
    std::byte page[kPage];
    for (std::size_t at = 0; at < kPage; at += kHandleBytes)
      std::memcpy(page + at, image_, kHandleBytes);
    for (std::size_t at = 0; at < kChunk && file_ >= 0; at += kPage)
      if (write(file_, page, kPage) != static_cast<ssize_t>(kPage)) giveUp();
  }
  ~Places() = default;

  void giveUp() noexcept {
    close(file_);
    file_ = -1;
  }

  // A copy of the file whose pages are its own once they are written; false: the system gives none.
  bool map() noexcept {
    if (file_ < 0) return false;
    void* const chunk = mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_, 0);
    if (chunk == MAP_FAILED) return false;
    next_ = static_cast<std::byte*>(chunk);
    end_ = next_ + kChunk;
    return true;
  }

  alignas(std::max_align_t) std::byte image_[kHandleBytes] = {};
  int file_ = -1;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::unordered_map<std::byte*, int> left_;  // by page: places that are not dropped yet
};

}  // namespace

void* takeHandlePlace() {
  const std::lock_guard lock(placesMutex());
  return Places::get().take();
}

void dropHandlePlace(void* place) noexcept {
  const std::lock_guard lock(placesMutex());
  Places::get().drop(place);
}

}  // namespace hpl::detail
