// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/choices.h"

#include "hpl/ir/detail/choose_edges.h"
#include "hpl/ir/detail/fold_branches.h"
#include "hpl/ir/detail/unroll.h"
#include "hpl/ir/rewrite.h"

namespace hpl::ir {

std::shared_ptr<const Kernel> withChoices(std::shared_ptr<const Kernel> kernel,
                                          const SizesInScalars& sizes) {
  for (const auto pass : {detail::unrollNeighbours, detail::foldBranches}) {
    const Block* body = pass(*kernel->entry, *kernel->arena);
    if (body != kernel->entry->body) kernel = withBody(*kernel, body);
  }
  return detail::chooseEdges(std::move(kernel), sizes);
}

std::vector<std::size_t> sizesAskedFor(const Kernel& kernel) {
  return detail::sizesAskedFor(kernel);
}

}  // namespace hpl::ir
