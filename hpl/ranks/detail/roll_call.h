// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ranks/detail/cpu_share.h"
#include "hpl/ranks/world.h"
#include "hpl/runtime/global_list.h"

namespace hpl::ranks {

/// Deals the devices of this rank's node to the ranks there, opens those of this rank, and lists
/// all devices of all ranks. Collective. Throws RankError, and DeviceError with the same message on
/// all ranks when a rank cannot open its devices.
runtime::GlobalList rollCall(World& world, CpuShare& share, const runtime::Inventory& inventory);

}  // namespace hpl::ranks
