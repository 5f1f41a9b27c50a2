// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/kernel_writer.h"

#include "hpl/strategies/detail/drop_unused.h"

namespace hpl::strategies::detail {

KernelWriter::KernelWriter(const ir::Kernel& kernel, const ir::AccessSummary& summary, int dims)
    : rewritten_(std::make_shared<ir::Kernel>()),
      builder_(*rewritten_->arena),
      source_(kernel, summary, builder_),
      hidden_(builder_, *kernel.entry, dims),
      hoister_(
          source_, builder_,
          [this](const ir::Variable* array, int d) { return hidden_.extent(array, d); },
          [this](int axis) { return hidden_.size(axis); }) {}

BodyContext KernelWriter::contextOf(const Interior& interior, int lanes, int axis, bool exact) {
  return BodyContext{source_,
                     builder_,
                     hoister_,
                     interior,
                     [this](const ir::Variable* array, int d) { return hidden_.extent(array, d); },
                     [this](int axisOfSize) { return hidden_.size(axisOfSize); },
                     lanes,
                     axis,
                     exact,
                     {}};
}

std::shared_ptr<const ir::Kernel> KernelWriter::withBody(ir::Block& body) {
  dropUnused(body);
  ir::Function entry = *source_.kernel().entry;
  hidden_.append(entry);
  entry.body = &body;
  rewritten_->entry = builder_.arena().add(std::move(entry));
  return rewritten_;
}

}  // namespace hpl::strategies::detail
