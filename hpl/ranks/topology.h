// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/ranks/world.h"

namespace hpl::ranks {

/// How long messages of two sizes take between two ranks.
struct Link {
  int from = 0;
  int to = 0;
  /// Microseconds of a message of 4 KiB, there.
  double latency = 0;
  /// Bytes a second of a message of 1 MiB.
  double bandwidth = 0;
};

/// Ranks, nodes and devices as text, and how cells pass between each two devices.
std::string describeTopology(const World& world);

/// Measures between every two ranks, one pair after the other. Collective. All ranks get the
/// result.
std::vector<Link> measureLinks(World& world);

/// Links as a table.
std::string describeLinks(const World& world, const std::vector<Link>& links);

}  // namespace hpl::ranks
