// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpl/runtime/device.h"
#include "stencil_templates/detail/spinners.h"

/// Kernels whose groups wait for each other: OpenCL does not promise that groups run at the same
/// time, so nothing is launched before it is known that they do, and no wait is without end.
namespace hpl::stencils {

/// The reason why `groups` groups of `items` work-items on each of the devices cannot wait for each
/// other; empty: they can. Where the kinds of the devices say nothing against it, kernels of as
/// many groups are launched, once per device, driver and size: each group counts itself and waits,
/// not for ever, until it has seen all (the census). Groups on several devices count in the memory
/// that persistent kernels would exchange cells through (PeerArray). The result is kept with the
/// findings of tuning, unless a group was missing: the machine may have been busy, and a later
/// process looks again. Several ranks keep nothing. All ranks get the same answer, unless one asks
/// for itself alone.
std::string whyNotSpinning(const Spinners& on, std::int64_t groups, std::int64_t items);
std::string whyNotSpinning(const Device& device, std::int64_t groups, std::int64_t items);

/// How many groups of each of the devices may run at once: of parts and copies of one physical
/// device only as many as it has units in all; on several nodes one less, where that leaves one for
/// each device: the courier needs a core. At least 1.
unsigned unitsOfEach(const Spinners& on);

/// Looks at a flag before a group gives up: for about a second, or as HPL_PATIENCE says.
int patienceOn(const Device& device);

/// Notes that groups have waited in vain on the devices; false if that was known of all. An
/// observation of one rank is unknown to the others: it does not count where all decide alike.
bool noteGivenUp(const Spinners& on);
/// Whether they have on one of them.
bool hasGivenUp(const Spinners& on);
inline bool hasGivenUp(const Device& device) { return hasGivenUp(std::vector<Device>{device}); }

/// For tests: what the census of such groups is to find from now on; nothing: what is true. Forgets
/// what this process has found, and who has given up.
void plantCensus(std::optional<bool> result);

}  // namespace hpl::stencils
