// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/local_writes.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "hpl/error.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/memory/detail/transfer.h"
#include "hpl/memory/local_access.h"

namespace hpl::memory {

namespace detail {
namespace {

struct LocalWrite {
  RootState* state;
  SpaceId space;
  Box cells;
};

std::vector<LocalWrite>& localWrites() {
  static auto* writes = new std::vector<LocalWrite>;
  return *writes;
}

void noteCount() noexcept {
  hasLocalWrites.store(!localWrites().empty(), std::memory_order_relaxed);
}

// The buffer may have had to make room since the cells were opened.
Replica& placed(Lock& lock, const LocalWrite& write) {
  for (;;) {
    Replica* const replica =
        placeOwn(lock, *write.state, memoryOf(write.space), write.cells, Fit::Loose);
    if (replica != nullptr) return *replica;
  }
}

// The device has the cells now, and the host's are of no use. Waits for the transfer, which is not
// worth it for a few.
void giveBackPages(Lock& lock, RootState& state, const Box& cells) {
  constexpr std::size_t kWorthWaiting = std::size_t{1} << 20;
  const Box whole = state.wholeBox();
  const std::size_t size = state.root.elementSize();
  const bool isUsed = state.copiesOf(kHosts).current.intersects(cells);
  if (isUsed || static_cast<std::size_t>(cells.volume()) * size < kWorthWaiting) return;
  std::size_t row = size;
  for (int d = 1; d < whole.rank(); ++d) {
    if (cells.lo(d) != whole.lo(d) || cells.hi(d) != whole.hi(d)) return;
    row *= static_cast<std::size_t>(whole.extent(d));
  }
  waitOnHost(lock, state, cells, true);
  state.ownHost.release(static_cast<std::size_t>(cells.lo(0) - whole.lo(0)) * row,
                        static_cast<std::size_t>(cells.hi(0) - whole.lo(0)) * row);
}

void send(Lock& lock, const LocalWrite& write) {
  RootState* const roots[] = {write.state};
  Hold hold;
  hold.take(lock, roots);
  Replica& replica = placed(lock, write);
  const Pin pin(replica);
  show(lock, replica, write.cells, Value::OfArray);
  const End from{write.state, nullptr, write.cells}, to{write.state, &replica, write.cells};
  while (transfer(lock, from, to) == Moved::Blocked) {
  }
  forgetShelved(replica, write.cells);
  giveBackPages(lock, *write.state, write.cells);
}

const View*& workedOn() noexcept {
  static thread_local const View* view = nullptr;
  return view;
}

}  // namespace

void noteLocalWrite(RootState& state, SpaceId space, const Box& cells) {
  localWrites().push_back({&state, space, cells});
  noteCount();
}

void sendLocalWrites() {
  Lock lock(coherenceMutex());
  const std::vector<LocalWrite> all = std::exchange(localWrites(), {});
  noteCount();
  for (const LocalWrite& write : all) send(lock, write);
}

void sendLocalWrites(Lock& lock, RootState& state) {
  std::vector<LocalWrite> own;
  for (const LocalWrite& write : localWrites())
    if (write.state == &state) own.push_back(write);
  forgetLocalWrites(state);
  for (const LocalWrite& write : own) send(lock, write);
}

void forgetLocalWrites(const RootState& state) noexcept {
  std::erase_if(localWrites(), [&](const LocalWrite& write) { return write.state == &state; });
  noteCount();
}

void refuseInLocalWork(const char* what) {
  const View* view = workedOn();
  if (view == nullptr) return;
  throw LaunchError(
      fmt::format("{} inside of forEachLocal() over {}: each rank calls the function as often as "
                  "it has parts, but all ranks have to do the same operations; do it before or "
                  "after, and open other arrays with local() before",
                  what, view->root().describe()));
}

}  // namespace detail

LocalWork::LocalWork(const View& view) noexcept
    : outer_(std::exchange(detail::workedOn(), &view)) {}

LocalWork::~LocalWork() { detail::workedOn() = outer_; }

}  // namespace hpl::memory
