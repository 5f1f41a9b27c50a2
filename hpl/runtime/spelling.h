// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hpl::runtime {

/// Levenshtein distance: how many letters to insert, remove or replace.
std::size_t editDistance(std::string_view a, std::string_view b);

/// The candidate that was probably meant: the one with the fewest edits, up to half of the letters
/// or two. Empty: none is that near.
std::string_view nearestWord(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace hpl::runtime
