// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/exchange_plan.h"

#include <fmt/format.h>

#include "hpl/memory/exchange.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"

namespace hpl {

std::vector<ghosts::GhostTransfer> ghosts::transfersOf(memory::View& view) {
  std::vector<GhostTransfer> transfers;
  for (const memory::GhostCells& ghosts : memory::ghostsOf(view)) {
    const std::size_t bytes =
        static_cast<std::size_t>(ghosts.cells.volume()) * view.root().elementSize();
    transfers.push_back({Device(*ghosts.owner), Device(*ghosts.mirror), ghosts.cells, bytes,
                         ghosts.owner->sharesContextWith(*ghosts.mirror)});
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
