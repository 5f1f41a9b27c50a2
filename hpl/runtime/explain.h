// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hpl::runtime {

/// HPL_EXPLAIN: writes "hpl: <line>" to stderr, each line once. Without the setting: nothing.
void explainOnce(const std::string& line);

/// HPL_EXPLAIN: writes "hpl: <line>" to stderr. Without the setting the line is a message of level
/// info.
void explainOrLog(const std::string& line);

}  // namespace hpl::runtime
