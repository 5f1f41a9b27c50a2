// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ghosts/freshness.h"

/// What the steps of freshness.h share.
namespace hpl::ghosts::detail {

/// The device's copy of the array while the part belongs to the present distribution. Null where
/// the array is distributed otherwise: then nothing that the device has kept concerns the launch,
/// which gets the owners' values.
memory::detail::Replica* replicaOf(const PartUse& use);

/// Cells of one array's part in the coordinates of another array that is split alike: the arrays
/// may differ in what is not split. Rank 0 when they are not split alike.
geometry::Box mapped(const geometry::Box& cells, const PartUse& from, const PartUse& to);

}  // namespace hpl::ghosts::detail
