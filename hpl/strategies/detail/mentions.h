// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/node.h"

/// Whether code refers to a variable.
namespace hpl::strategies::detail {

bool mentions(const ir::Expr& expr, const ir::Variable* variable);
bool mentions(const ir::Stmt& stmt, const ir::Variable* variable);
bool mentions(const ir::Block& block, const ir::Variable* variable);

}  // namespace hpl::strategies::detail
