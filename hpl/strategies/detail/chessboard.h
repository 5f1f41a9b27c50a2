// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/detail/interior.h"

/// Kernels of one colour of a chessboard: `if_((idx + idy) % 2 == colour) { ... }`, as Gauss-Seidel
/// relaxation and the Ising model in place have them.
namespace hpl::strategies::detail {

/// The comparison that chooses every second id along an axis, and without which the kernel does
/// nothing; null: there is none. It is true for every second id, or for all or none of a row.
const ir::Expr* chessboardOf(const Source& source, int axis);

}  // namespace hpl::strategies::detail
