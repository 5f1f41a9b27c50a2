// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/lost_cells.h"

#include <fmt/format.h>

#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/launch_memory.h"

namespace hpl::memory::detail {

Region RootState::spoil(Storage& storage, const Box& box, const std::string& why) {
  if (&storage == &host) closeHostViews(box);
  Region gone = intersectionOf(onlyIn(storage), Region(box));
  storage.current.subtract(box);
  storage.forgetKept(Region(box));
  // Nobody goes on with older values of them either.
  forEachStorage([&](Storage& other) { other.forgetKept(gone); });
  if (!gone.empty()) lost.push_back({gone, why});
  changeLayout();
  return gone;
}

void RootState::throwIfLost(const Region& cells) const {
  for (const LostCells& entry : lost) {
    const Region gone = intersectionOf(entry.cells, cells);
    if (gone.empty()) continue;
    throw DeviceError(
        fmt::format("{}: cells {} have no value, because {}; assign to them, or launch a kernel "
                    "that writes all of them, before they are read",
                    root.describe(), gone.boundingBox().toString(), entry.why));
  }
}

void RootState::noteRecovered(const Region& cells) {
  for (LostCells& entry : lost) entry.cells.subtract(cells);
  std::erase_if(lost, [](const LostCells& entry) { return entry.cells.empty(); });
  changeLayout();
}

Region RootState::withoutLost(const Box& box) const {
  Region cells(box);
  for (const LostCells& entry : lost) cells.subtract(entry.cells);
  return cells;
}

Replica& Transaction::replicaOf(std::span<const DeviceLaunch> launches, std::size_t launch,
                                std::size_t use) const {
  std::size_t before = 0;
  for (std::size_t i = 0; i < launch; ++i) before += launches[i].uses.size();
  if (!used_.empty()) return *used_[before + use];
  if (known_ != nullptr) return *known_->used[before + use];
  return *launches[launch].tickets[use].replica;
}

std::string Transaction::abandonAll(std::span<DeviceLaunch> launches, const std::string& why) {
  const bool isNoted = used_.empty() && known_ == nullptr;
  std::string lost;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    DeviceLaunch& launch = launches[i];
    if (!launch.launched) continue;
    const Stamp stamp = isNoted ? 0 : record(*launch.device, std::move(launch.event));
    for (std::size_t u = 0; u < launch.uses.size(); ++u) {
      const DeviceUse& use = launch.uses[u];
      Replica& replica = replicaOf(launches, i, u);
      RootState& state = use.view->root().state();
      // Whoever uses the cells waits for the kernel, as ever.
      if (!isNoted) slotFor(replica, use.cells(), use.write).stamp = stamp;
      if (replica.zeroCopy) state.noteAliasUser(*launch.device);
      if (!use.write) {
        state.forbidHostWrites(use.cells());
        continue;
      }
      const Region gone = state.spoil(replica.storage(), use.cells(), why);
      if (gone.empty()) continue;
      lost += fmt::format("{}{} of {}", lost.empty() ? "" : ", ", gone.boundingBox().toString(),
                          state.root.describe());
    }
  }
  return lost;
}

void Transaction::spoilUse(DeviceLaunch& launch, std::size_t use, const std::string& why) {
  const DeviceUse& written = launch.uses[use];
  Replica& replica = replicaOf({&launch, 1}, 0, use);
  written.view->root().state().spoil(replica.storage(), written.cells(), why);
}

}  // namespace hpl::memory::detail
