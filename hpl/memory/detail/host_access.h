// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hpl/memory/view.h"

namespace hpl::memory::detail {

enum class HostUse : std::uint8_t { Read, Write, Overwrite };

/// Makes the view's cells current on the host and sets its hostState; blocks until nothing that is
/// in flight conflicts with the use.
void openOnHost(View& view, HostUse use);

struct RootState;

/// The end of a root: user memory becomes current, what still touches the host's storage finishes,
/// the replicas go. They go also when it throws (a device failed; values may be lost).
void retire(RootState& state);

}  // namespace hpl::memory::detail
