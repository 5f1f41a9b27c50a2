// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hpl/runtime/settings.h"

namespace hpl::ranks {

/// The values that have to be the same on all ranks: name and value of each.
using Terms = std::vector<std::pair<std::string, std::string>>;

/// The settings that shape plans, which every rank makes by itself, and the library's version.
Terms termsOf(const runtime::Settings& settings);

/// A sentence that names the first term that differs, its values and the ranks that have them;
/// empty: all agree. `all`: the terms of each rank.
std::string disagreement(std::span<const Terms> all);

/// Terms as a message, and back.
std::string pack(const Terms& terms);
Terms unpackTerms(const std::string& packed);

}  // namespace hpl::ranks
