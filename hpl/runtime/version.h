// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace hpl {

/// The library's version, "major.minor.patch"; part of the key of cached programs.
inline constexpr std::string_view version = "0.1.0";

}  // namespace hpl
