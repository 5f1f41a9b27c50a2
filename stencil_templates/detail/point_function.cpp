// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/point_function.h"

#include "hpl/ir/own_scalars.h"
#include "hpl/lang/capture_state.h"

namespace hpl::stencils {

void recordWithOwnScalars(const std::function<void()>& record) {
  using hpl::detail::Capture;
  Capture& capture = Capture::current();
  ir::Block* recorded = capture.arena().addBlock();
  capture.pushBlock(recorded);
  record();
  capture.popBlock();
  const ir::Block* own =
      ir::withOwnScalars(recorded, capture.arena(), [&](const ir::Variable& parameter) {
        return capture.newVariable(parameter.type, ir::Space::Private, 0, ir::Role::Declared,
                                   parameter.name.c_str());
      });
  ir::Block* open = capture.popBlock();
  capture.pushBlock(open);
  open->stmts.insert(open->stmts.end(), own->stmts.begin(), own->stmts.end());
}

}  // namespace hpl::stencils
