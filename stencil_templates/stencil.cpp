// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/stencil.h"

#include <fmt/format.h>

#include "hpl/error.h"
#include "stencil_templates/detail/stencil_state.h"

namespace hpl {

Stencil& Stencil::label(const std::string& name) {
  state_.own().setLabel(name);
  return *this;
}

Stencil& Stencil::boundary(const Boundary& boundary) {
  state_.own().setBoundary(0, {}, boundary);
  return *this;
}

Stencil& Stencil::boundary(Face face, const Boundary& boundary) {
  state_.own().setBoundary(0, face, boundary);
  return *this;
}

Stencil& Stencil::boundary(int input, const Boundary& boundary) {
  (*state_).checkInput(input);
  state_.own().setBoundary(input, {}, boundary);
  return *this;
}

Stencil& Stencil::boundary(int input, Face face, const Boundary& boundary) {
  (*state_).checkInput(input);
  state_.own().setBoundary(input, face, boundary);
  return *this;
}

std::int64_t Stencil::reach(Face face) const { return (*state_).reach(0, face); }

std::int64_t Stencil::reach(int input, Face face) const {
  (*state_).checkInput(input);
  return (*state_).reach(input, face);
}

namespace stencils {

void chooseTimeTile(IterationPlan& plan, int steps, const Domain& tile) {
  if (steps < 1)
    throw ArgumentError(
        fmt::format("Stencil::timeTile({}): the number of steps per pass must be positive", steps));
  for (int d = 0; d < tile.dims; ++d)
    if (tile.size[d] == 0)
      throw ArgumentError(
          fmt::format("Stencil::timeTile({}, tile): the tile is empty in dimension {}; every size "
                      "must be at least 1",
                      steps, d + 1));
  plan.timeTile = steps;
  plan.tile = tile;
}

}  // namespace stencils

StencilUntil StencilLauncher::untilWith(
    double bound, std::int64_t every,
    std::shared_ptr<const stencils::ResidualFunction> residual) const {
  if (!(bound > 0))
    throw ArgumentError(fmt::format(
        "Stencil::until({}, {}): the bound of the residual must be positive", bound, every));
  if (every < 1)
    throw ArgumentError(fmt::format(
        "Stencil::until({}, {}): the steps between two looks at the residual must be positive",
        bound, every));
  stencils::IterationPlan plan = plan_;
  plan.until = {bound, every, std::move(residual)};
  return {state_, options_, std::move(plan)};
}

}  // namespace hpl
