// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "hpl/strategies/detail/forms.h"

namespace hpl::strategies::detail {

/// The cost of a body where values are handed on along the row: additions and multiplications of
/// integers, or of real numbers, and shuffles.
std::size_t costOfRow(const Source& source, const ir::Block& body, const Neighbours& neighbours,
                      bool ofReals);

}  // namespace hpl::strategies::detail
