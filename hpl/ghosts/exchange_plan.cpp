// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/exchange_plan.h"

#include <fmt/format.h>

#include "hpl/memory/detail/exchange.h"
#include "hpl/memory/root.h"

namespace hpl {

std::vector<ghosts::GhostTransfer> ghosts::transfersOf(memory::View& view) {
  const memory::detail::Lock lock(memory::detail::coherenceMutex());
  memory::Root& root = view.root();
  std::vector<GhostTransfer> transfers;
  if (root.state().active == nullptr) return transfers;
  for (const auto& exchange : memory::detail::exchangesOf(*root.state().active)) {
    const auto cells = static_cast<std::size_t>(exchange.box.volume());
    transfers.push_back({Device(*exchange.owner), Device(*exchange.mirror), exchange.box,
                         cells * root.elementSize(),
                         exchange.owner->sharesContextWith(*exchange.mirror)});
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
