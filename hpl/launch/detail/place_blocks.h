// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/launch/detail/exchange_model.h"
#include "hpl/runtime/device_state.h"

namespace hpl::launch {

/// Gives blocks to devices so that much passes where links are fast (node-aware communication,
/// III-B; topology/links.h): first the blocks of whole nodes to nodes with as many devices of the
/// same weights, then those of each node to its devices. A node keeps its order if its devices have
/// different weights, or if no other order is better. Returns a text for explain; empty if nothing
/// changed. `weights`: empty, if all are equal. Throws as topology::linksOf().
std::string placeBlocks(Cutting& cutting, const ExchangeModel& model,
                        const std::vector<runtime::DeviceState*>& devices,
                        const std::vector<double>& weights);

}  // namespace hpl::launch
