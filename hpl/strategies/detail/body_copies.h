// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

struct CopyOrder {
  /// The axis along which copies lie apart besides the lanes' one; -1: none.
  int jamAxis = -1;
  /// Stores come after all loads: no copy reads what another one writes.
  bool postpones = false;
};

/// Writes a body once for each place, side by side, such that copies which read the same element do
/// so together. Throws Refused for what cannot be written in vectors.
void writeCopies(BodyContext& context, const ir::Block& body, const std::vector<Place>& places,
                 const CopyOrder& order, ir::Block& out);

}  // namespace hpl::strategies::detail
