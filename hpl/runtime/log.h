// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "hpl/runtime/settings.h"

/// Messages to the user on stderr, as verbose as HPL_LOG says (default: warnings and errors).
namespace hpl::runtime::log {

/// True if messages of `level` are shown. Ask before building an expensive message.
bool shows(LogLevel level);

void error(std::string_view message);
void warn(std::string_view message);
void info(std::string_view message);
void debug(std::string_view message);

}  // namespace hpl::runtime::log
