// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/shwa/state.h"

namespace samples::shwa {

/// The water after `steps` time steps, computed on the host face by face and cell by cell: what the
/// kernels are checked against. Rounds as they do under HPL_FP=strict. `courant` as in Options.
State referenceRun(const Input& input, int steps, float courant);

}  // namespace samples::shwa
