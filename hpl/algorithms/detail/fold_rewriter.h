// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "hpl/algorithms/detail/fold_kernels.h"
#include "hpl/layout/rewriter.h"

namespace hpl::algorithms {

/// Lays out the form for lanes in vectors on CPUs, and the others as they are written.
class FoldRewriter final : public layout::KernelRewriter {
 public:
  explicit FoldRewriter(Form form) : form_(form) {}
  void adjust(ir::AccessSummary& summary) const override;
  layout::RewriteResult rewrite(const layout::RewriteRequest& request) const override;
  /// The kernel cannot be written in vectors: launches had better have one lane.
  bool isScalar() const { return isScalar_; }

 private:
  Form form_;
  mutable std::atomic<bool> isScalar_ = false;
};

}  // namespace hpl::algorithms
