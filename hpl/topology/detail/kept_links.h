// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpl/topology/links.h"

namespace hpl::topology {

/// Names everything that the bandwidths between these devices of a node hold for.
std::string subjectOf(const std::vector<DeviceProperties>& devices, const std::string& node);
/// Names everything that the bandwidths between these nodes hold for.
std::string subjectOf(const std::vector<std::string>& nodes);

/// The links that keepLinks() kept for this subject and version of the library; nothing if there is
/// no such file. Reports a damaged file, and one with another number of nodes.
std::optional<NodeLinks> keptLinks(const std::string& subject, std::size_t size);
/// Keeps them for later processes (HPL_CACHE, HPL_CACHE_DIR).
void keepLinks(const std::string& subject, const NodeLinks& links);

}  // namespace hpl::topology
