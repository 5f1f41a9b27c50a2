// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "hpl/algorithms/detail/fold.h"
#include "hpl/algorithms/detail/fold_rewriter.h"
#include "hpl/strategies/rows.h"

namespace hpl::algorithms {
namespace {

/// The kernel as it was captured, which the launch's entry keeps.
std::shared_ptr<const ir::Kernel> asCaptured(const ir::Kernel& kernel) {
  return {std::shared_ptr<const void>(), &kernel};
}

}  // namespace

const layout::KernelRewriter& newFoldRewriter(Form form) { return *new FoldRewriter(form); }

void FoldRewriter::adjust(ir::AccessSummary&) const {}

layout::RewriteResult FoldRewriter::rewrite(const layout::RewriteRequest& request) const {
  layout::RewriteResult result;
  result.groups = request.size;
  if (form_ == Form::Groups) {
    result.kernel = asCaptured(request.kernel);
    result.groups[0] = 1;
    const std::size_t most = std::min<std::size_t>(kGroup, request.maxGroupSize);
    result.local[0] = std::bit_floor(std::clamp<std::size_t>(request.size[0], 1, most));
    result.reason = "reduction: a tree in each group";
    return result;
  }
  strategies::Rows rows;
  if (request.size[0] > 1) {
    strategies::RowsOptions options;
    options.dims = 2;
    // More vectors than one would each go through the whole block.
    options.lanes = static_cast<int>(std::min(request.size[0], std::size_t{16}));
    options.vectors = 1;
    options.jam = 1;
    options.exact = request.exact;
    // Each lane takes elements of its own, those that it changes, too.
    options.ownElements = true;
    options.size = {request.size[0], request.size[1], 1};
    rows = strategies::rows(request.kernel, request.summary, options);
    isScalar_ = rows.kernel == nullptr;
  }
  if (rows.kernel == nullptr) {
    result.kernel = asCaptured(request.kernel);
    result.reason = "reduction: scalar; " + rows.reason;
    return result;
  }
  result.kernel = rows.kernel;
  result.hidden = rows.hidden;
  result.groups[0] = 1;
  result.block[0] = request.size[0];
  result.lanes = static_cast<int>(request.size[0]);
  result.reason = "reduction: " + rows.reason;
  return result;
}

}  // namespace hpl::algorithms
