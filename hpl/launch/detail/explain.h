// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hpl::launch {

/// HPL_EXPLAIN: writes "hpl: <line>" to stderr, each line once. Without the setting: nothing.
void explainOnce(const std::string& line);

}  // namespace hpl::launch
