// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/choices.h"

#include "hpl/ir/detail/fold_branches.h"
#include "hpl/ir/detail/remainders.h"
#include "hpl/ir/detail/rewrite.h"

namespace hpl::ir {

std::shared_ptr<const Kernel> withChoices(std::shared_ptr<const Kernel> kernel) {
  const Block* body = detail::foldBranches(*kernel->entry, *kernel->arena);
  if (body != kernel->entry->body) kernel = detail::withBody(*kernel, body);
  return detail::chooseRemainders(std::move(kernel));
}

}  // namespace hpl::ir
