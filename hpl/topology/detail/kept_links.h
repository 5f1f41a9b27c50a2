// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpl/topology/links.h"

namespace hpl::topology {

/// The links that keepLinks() kept for these devices, drivers, node and version of the library;
/// nothing if there is no such file. Reports a damaged file.
std::optional<NodeLinks> keptLinks(const std::vector<DeviceProperties>& devices,
                                   const std::string& node);

}  // namespace hpl::topology
