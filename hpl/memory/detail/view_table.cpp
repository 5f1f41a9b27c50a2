// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/view_table.h"

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "hpl/memory/root.h"
#include "hpl/runtime/fork_locks.h"

namespace hpl::memory::detail {

/// A thread that asks for views. Never freed, but used again by a later thread, which counts on.
struct Asker {
  std::atomic<std::uint64_t> made{0};
  std::atomic<bool> isOver{false};
};

namespace {

// Of the lists in this file.
std::mutex& listMutex() {
  static auto& mutex = runtime::newForkSafeMutex(runtime::ForkOrder::Inner);
  return mutex;
}
[[maybe_unused]] const auto& earlyListMutex = listMutex();

class ThisThread {
 public:
  ThisThread() {
    const std::lock_guard lock(listMutex());
    std::vector<Asker*>& idle = idleOnes();
    if (idle.empty()) {
      asker_ = new Asker;
      return;
    }
    asker_ = idle.back();
    idle.pop_back();
    asker_->isOver = false;
  }
  ~ThisThread() {
    asker_->isOver = true;
    const std::lock_guard lock(listMutex());
    idleOnes().push_back(asker_);
  }
  ThisThread(const ThisThread&) = delete;
  ThisThread& operator=(const ThisThread&) = delete;

  static Asker& asker() {
    static thread_local const ThisThread own;
    return *own.asker_;
  }

 private:
  // Never destroyed: static arrays may die after any static of ours.
  static std::vector<Asker*>& idleOnes() {
    static auto& instance = *new std::vector<Asker*>;
    return instance;
  }

  Asker* asker_ = nullptr;
};

}  // namespace

const geometry::IndexMap& keptMap(const geometry::IndexMap& map) {
  const std::lock_guard lock(listMutex());
  static auto& kept = *new std::set<geometry::IndexMap>;
  return *kept.insert(map).first;
}

ViewTable::~ViewTable() {
  for (const auto& [key, view] : views_) view->endHandle();
  for (const auto& [key, view] : views_) view->release();
}

ViewTable::Key ViewTable::keyOf(const View& view) {
  const bool isBox = view.map() == nullptr;
  return {view.parent(), view.box(), view.map(),
          isBox ? geometry::Box() : geometry::Box::ofExtents(view.extents)};
}

View& ViewTable::intern(Root& root, View* parent, const geometry::Box& box, const ViewCells* cells,
                        For whom, bool& isNew) {
  Key key{parent, box, nullptr, {}};
  if (cells != nullptr) {
    key.map = cells->map;
    key.cells = geometry::Box::ofExtents(cells->extents);
  }
  const auto [place, isAdded] = views_.try_emplace(key, nullptr);
  isNew = isAdded;
  if (!isAdded) {
    View& known = *place->second;
    if (known.isDroppable()) {
      if (newest_ != &known) {
        unlink(known);
        link(known);
      }
      known.asker_ = &ThisThread::asker();
      known.askedAt_ = made_;
      known.askedInThread_ = known.asker_->made.load(std::memory_order_relaxed);
    }
    return known;
  }
  try {
    place->second = new View(root, parent, box, cells, views_.size() > 1);
  } catch (...) {
    views_.erase(place);
    throw;
  }
  View& view = *place->second;
  if (!view.isDroppable()) return view;
  view.asker_ = &ThisThread::asker();
  if (whom == For::Program) {
    ++made_;
    view.asker_->made.fetch_add(1, std::memory_order_relaxed);
  }
  view.askedAt_ = made_;
  view.askedInThread_ = view.asker_->made.load(std::memory_order_relaxed);
  link(view);
  return view;
}

View* ViewTable::nextToDrop() const noexcept {
  return oldest_ != nullptr && made_ - oldest_->askedAt_ > kViewsKept ? oldest_ : nullptr;
}

bool ViewTable::mayDrop(const View& view) noexcept {
  if (view.isHeld()) return false;
  const std::uint64_t made = view.asker_->made.load(std::memory_order_relaxed);
  return view.asker_->isOver.load(std::memory_order_relaxed) ||
         made - view.askedInThread_ > kViewsKept;
}

void ViewTable::drop(View& view) {
  unlink(view);
  views_.erase(keyOf(view));
  view.endHandle();
  view.release();
}

// To be looked at again when all others have been.
void ViewTable::renew(View& view) noexcept {
  unlink(view);
  link(view);
}

void ViewTable::link(View& view) noexcept {
  view.older_ = newest_;
  view.newer_ = nullptr;
  (newest_ != nullptr ? newest_->newer_ : oldest_) = &view;
  newest_ = &view;
}

void ViewTable::unlink(View& view) noexcept {
  (view.older_ != nullptr ? view.older_->newer_ : oldest_) = view.newer_;
  (view.newer_ != nullptr ? view.newer_->older_ : newest_) = view.older_;
}

}  // namespace hpl::memory::detail
