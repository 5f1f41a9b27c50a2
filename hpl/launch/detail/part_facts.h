// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "hpl/coherence/trust.h"
#include "hpl/ir/parts.h"

/// Results of the analyses of kernels about arguments that are parts of arrays (coherence/trust.h).
namespace hpl::launch {

struct DevicePlan;

/// How a kernel indexes an argument that is split along `dims`: `dimOf`, `reach`, `writers`. Known
/// when one axis plus constants is all that indexes each of them; dimensions that are not split
/// never matter.
void noteAccess(coherence::PartFacts& facts, const ir::ArrayAccess& access,
                std::span<const int> dims);
/// The same for the parameter at this position of an analysed kernel.
void noteAccess(coherence::PartFacts& facts, const ir::PartSummary& summary, int parameter,
                std::span<const int> dims);

/// The outcome of a launch whose domain is the part. `parameter`: the array's position.
coherence::Outcome outcomeOf(const ir::PartSummary& summary, int parameter);

/// Notes the facts of arguments that may be explicit parts of their arrays.
void noteExplicitFacts(DevicePlan& plan);

}  // namespace hpl::launch
