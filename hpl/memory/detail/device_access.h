// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/memory/transaction.h"

namespace hpl::memory::detail {

/// For tests and messages: the cells that the root's replica on a device holds (the box of rank 0
/// when there is none), which cells are current there and on the host, and which a part there keeps
/// for itself. A device with a buffer of its own and access to the host's memory answers for the
/// buffer.
geometry::Box replicaBox(Root& root, runtime::DeviceState& device);
std::vector<geometry::Box> currentOn(Root& root, runtime::DeviceState& device);
std::vector<geometry::Box> currentOnHost(Root& root);
std::vector<geometry::Box> keptOn(Root& root, runtime::DeviceState& device);

}  // namespace hpl::memory::detail
