// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/coherence/machine.h"
#include "hpl/coherence/step.h"

namespace coherence_model {

/// The defect of the messages of a step that one process planned as `here`, the others as `there`;
/// empty: none. `ranks`: some of them may own no device.
std::string defectOfParcels(const hpl::coherence::Step& here, const hpl::coherence::Step& there,
                            const hpl::coherence::Machine& machine, int ranks);

}  // namespace coherence_model
