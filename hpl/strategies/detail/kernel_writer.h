// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "hpl/strategies/detail/body_writer.h"
#include "hpl/strategies/detail/hidden_params.h"

namespace hpl::strategies::detail {

/// The parts of all strategies' writers: a kernel that they read, one that they write, and the
/// parameters that it gets in addition.
class KernelWriter {
 public:
  KernelWriter(const KernelWriter&) = delete;
  KernelWriter& operator=(const KernelWriter&) = delete;

 protected:
  /// `dims`: of the launch. Throws Refused for kernels that no strategy rewrites.
  KernelWriter(const ir::Kernel& kernel, const ir::AccessSummary& summary, int dims);
  ~KernelWriter() = default;

  /// For copies of the body, `lanes` at once along an axis; `exact` as in BodyContext.
  BodyContext contextOf(const Interior& interior, int lanes, int axis, bool exact);
  const ir::Expr* query(ir::Query query, int axis) {
    return builder_.make(kUlong, ir::WorkItem{query, static_cast<std::uint8_t>(axis)});
  }
  /// Null stands for true.
  const ir::Expr* both(const ir::Expr* a, const ir::Expr* b) {
    return a == nullptr ? b : b == nullptr ? a : builder_.binary(ir::BinaryOp::LogicalAnd, a, b);
  }
  /// The kernel with this body, less what it declares in vain.
  std::shared_ptr<const ir::Kernel> withBody(ir::Block& body);

  std::shared_ptr<ir::Kernel> rewritten_;
  Builder builder_;
  Source source_;
  HiddenParams hidden_;
  Hoister hoister_;
};

}  // namespace hpl::strategies::detail
