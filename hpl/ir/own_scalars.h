// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "hpl/ir/kernel.h"

namespace hpl::ir {

/// A kernel with variables of its own, which begin as the arguments, in the place of the scalar
/// parameters that it changes; itself where it changes none. A parameter is the work-item's own,
/// but what is made of a kernel may compute several work-items in one.
std::shared_ptr<const Kernel> withOwnScalars(std::shared_ptr<const Kernel> kernel);

/// The same for a part of a kernel. `copyOf` makes a variable that looks like the parameter.
const Block* withOwnScalars(const Block* block, Arena& arena,
                            const std::function<const Variable*(const Variable&)>& copyOf);

}  // namespace hpl::ir
