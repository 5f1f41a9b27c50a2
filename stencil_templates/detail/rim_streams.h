// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hpl/memory/peer_relay.h"
#include "stencil_templates/detail/peer_array.h"
#include "stencil_templates/detail/spinners.h"
#include "stencil_templates/detail/time_recipe.h"

namespace hpl::stencils {

/// Whether the devices are of several nodes.
bool spanNodes(const Spinners& on);

/// The groups of a persistent kernel on several devices, and the arrays through which they exchange
/// cells (PersistentSpaces).
struct RimExchange {
  const Spinners& on;
  const TimeRecipe& recipe;
  Sizes deviceGrid;
  Sizes extents;
  Sizes groups;
  const PeerArray& flags;
  const std::vector<std::unique_ptr<PeerArray>>& between;
  /// Null: there are no looks.
  const PeerArray* looks;
};

/// The streams between this rank and the ranks of other nodes: the flags of groups next to one
/// there, and the cells of their tiles that devices there read; the results of groups' looks, by
/// which all others judge; and the news that a group has given up. On each node the first of the
/// devices' ranks stores what arrives. All ranks list alike.
memory::PeerStreams rimStreamsOf(const RimExchange& exchange);

}  // namespace hpl::stencils
