// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/runtime/global_list.h"

namespace hpl::runtime {

/// The devices of the machine file that HPL_DRY_RUN names, none of which is this process's; begins
/// the books of the dry run. Each node is a rank. Throws SettingsError for a wrong file.
GlobalList listOfDryRun(const Inventory& inventory);

/// Prints the report on stderr, and writes it as JSON where HPL_DRY_RUN_REPORT says so; nothing
/// unless this is a dry run. Throws hpl::Error when the file cannot be written.
void reportDryRun();

}  // namespace hpl::runtime
