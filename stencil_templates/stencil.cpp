// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/stencil.h"

#include <fmt/format.h>

#include "hpl/error.h"
#include "stencil_templates/detail/stencil_state.h"

namespace hpl {

Stencil& Stencil::label(const std::string& name) {
  state_->setLabel(name);
  return *this;
}

Stencil& Stencil::boundary(const Boundary& boundary) {
  state_->setBoundary(0, {}, boundary);
  return *this;
}

Stencil& Stencil::boundary(Face face, const Boundary& boundary) {
  state_->setBoundary(0, face, boundary);
  return *this;
}

Stencil& Stencil::boundary(int input, const Boundary& boundary) {
  state_->checkInput(input);
  state_->setBoundary(input, {}, boundary);
  return *this;
}

Stencil& Stencil::boundary(int input, Face face, const Boundary& boundary) {
  state_->checkInput(input);
  state_->setBoundary(input, face, boundary);
  return *this;
}

std::int64_t Stencil::reach(Face face) const { return state_->reach(0, face); }

std::int64_t Stencil::reach(int input, Face face) const {
  state_->checkInput(input);
  return state_->reach(input, face);
}

namespace stencils {
namespace {

launch::ShareOptions& share(launch::LaunchOptions& options) {
  // Copies of a launcher do not share their choices.
  options.shares = options.shares ? std::make_shared<launch::ShareOptions>(*options.shares)
                                  : std::make_shared<launch::ShareOptions>();
  return *options.shares;
}

}  // namespace

void chooseDevice(launch::LaunchOptions& options, const Device& device) {
  options.device = &device.state();
}

void chooseDevices(launch::LaunchOptions& options, const std::vector<Device>& list) {
  if (list.empty())
    throw LaunchError("Stencil::devices(...): the list of devices is empty; name at least one");
  std::vector<runtime::DeviceState*> states;
  for (const Device& device : list) {
    for (const runtime::DeviceState* other : states)
      if (other == &device.state())
        throw LaunchError(
            fmt::format("Stencil::devices(...): device {} is named twice; give it a larger weight "
                        "instead",
                        device.name()));
    states.push_back(&device.state());
  }
  share(options).devices = std::move(states);
}

void chooseDevices(launch::LaunchOptions& options, DeviceType type, int n) {
  if (n < 1) throw LaunchError(fmt::format("Stencil::devices({}): ask for at least one device", n));
  std::vector<Device> list = hpl::devices(type);
  if (static_cast<int>(list.size()) < n)
    throw DeviceError(fmt::format(
        "Stencil::devices({}): there are {} such devices; HPL_DEVICES=\"cpu:0*{}\" opens one "
        "device several times",
        n, list.size(), n));
  list.erase(list.begin() + n, list.end());
  chooseDevices(options, list);
}

void chooseAllDevices(launch::LaunchOptions& options) { share(options).devices.clear(); }

void chooseWeights(launch::LaunchOptions& options, const std::vector<double>& shares) {
  launch::ShareOptions& chosen = share(options);
  chosen.weights = shares;
  chosen.measured = false;
}

void chooseMeasuredWeights(launch::LaunchOptions& options) { share(options).measured = true; }

void chooseBlocks(launch::LaunchOptions& options, const Domain& grid) {
  share(options).blocks = grid;
}

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
