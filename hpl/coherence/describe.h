// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "hpl/coherence/machine.h"
#include "hpl/coherence/step.h"

namespace hpl::coherence {

/// Bytes that a transfer moves; `roots` are those of the operands.
std::size_t bytesOf(const Transfer& transfer, std::span<const Root> roots);

/// One line per transfer, in the order in which they are listed:
/// `array "u": device 1 -> device 2: [3:4, 0:16), 64 bytes, exchange`. A source with other
/// coordinates stands before the arrow.
std::string describe(const TransferList& transfers, const Machine& machine,
                     std::span<const Root> roots);

/// Describes an array: one line per space that has some of it, then its parts.
std::string describe(const State& state, const Machine& machine);

}  // namespace hpl::coherence
