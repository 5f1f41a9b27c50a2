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

launch::ShareOptions& StencilLauncher::share() {
  // Copies of a launcher do not share their choices.
  options_.shares = options_.shares ? std::make_shared<launch::ShareOptions>(*options_.shares)
                                    : std::make_shared<launch::ShareOptions>();
  return *options_.shares;
}

StencilLauncher& StencilLauncher::devices(const std::vector<Device>& list) {
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
  share().devices = std::move(states);
  return *this;
}

StencilLauncher& StencilLauncher::devices(DeviceType type, int n) {
  if (n < 1) throw LaunchError(fmt::format("Stencil::devices({}): ask for at least one device", n));
  std::vector<Device> list = hpl::devices(type);
  if (static_cast<int>(list.size()) < n)
    throw DeviceError(fmt::format(
        "Stencil::devices({}): there are {} such devices; HPL_DEVICES=\"cpu:0*{}\" opens one "
        "device several times",
        n, list.size(), n));
  list.erase(list.begin() + n, list.end());
  return devices(list);
}

StencilLauncher& StencilLauncher::devices() {
  share().devices.clear();
  return *this;
}

StencilLauncher& StencilLauncher::devices(int n) { return devices(defaultDevice().type(), n); }

StencilLauncher& StencilLauncher::weights(const std::vector<double>& shares) {
  launch::ShareOptions& options = share();
  options.weights = shares;
  options.measured = false;
  return *this;
}

StencilLauncher& StencilLauncher::weights(MeasuredWeights) {
  share().measured = true;
  return *this;
}

StencilLauncher& StencilLauncher::timeTile(int steps) {
  if (steps < 1)
    throw ArgumentError(
        fmt::format("Stencil::timeTile({}): the number of steps per pass must be positive", steps));
  timeTile_ = steps;
  tile_ = {};
  return *this;
}

StencilLauncher& StencilLauncher::timeTile(int steps, const Domain& tile) {
  timeTile(steps);
  for (int d = 0; d < tile.dims; ++d)
    if (tile.size[d] == 0)
      throw ArgumentError(
          fmt::format("Stencil::timeTile({}, tile): the tile is empty in dimension {}; every size "
                      "must be at least 1",
                      steps, d + 1));
  tile_ = tile;
  return *this;
}

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
  return {state_, options_, {0, {bound, every, std::move(residual)}, timeTile_, tile_}};
}

}  // namespace hpl
