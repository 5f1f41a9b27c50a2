// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/exchange_plan.h"

#include <fmt/format.h>

#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/root.h"

namespace hpl {

std::vector<ghosts::GhostTransfer> ghosts::transfersOf(memory::View& view) {
  namespace memory = hpl::memory::detail;
  const memory::Lock lock(memory::coherenceMutex());
  hpl::memory::Root& root = view.root();
  std::vector<GhostTransfer> transfers;
  const coherence::DistributionPtr& active = root.state().known->active();
  if (active == nullptr) return transfers;
  for (int mirror = 0; mirror < active->partCount(); ++mirror) {
    for (const coherence::GhostLink& link : active->ghostLinks(mirror)) {
      runtime::DeviceState& owner = memory::memoryOf(active->spaceOf(link.owner)).device;
      runtime::DeviceState& own = memory::memoryOf(active->spaceOf(mirror)).device;
      const auto cells = static_cast<std::size_t>(link.cells.volume());
      transfers.push_back({Device(owner), Device(own), link.cells, cells * root.elementSize(),
                           owner.sharesContextWith(own)});
    }
  }
  return transfers;
}

std::string describeGhosts(const std::vector<ghosts::GhostTransfer>& transfers) {
  std::string text;
  for (const ghosts::GhostTransfer& transfer : transfers) {
    text += fmt::format("{} -> {}: {}, {} bytes, {}\n", transfer.owner.state().name(),
                        transfer.mirror.state().name(), transfer.cells.toString(), transfer.bytes,
                        transfer.direct ? "direct" : "through the host");
  }
  return text;
}

}  // namespace hpl
