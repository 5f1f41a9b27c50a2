// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/freshness.h"
#include "hpl/launch/detail/origin.h"
#include "hpl/launch/detail/shares.h"

namespace hpl::launch {

namespace {

/// The dimensions of which the argument is only a part.
std::vector<int> splitDims(const memory::detail::RootState& state, const geometry::Box& cells) {
  std::vector<int> dims;
  const geometry::Box whole = state.wholeBox();
  for (int d = 0; d < whole.rank(); ++d)
    if (cells.extent(d) < whole.extent(d)) dims.push_back(d);
  return dims;
}

ir::PartRoles rolesOf(const Plan& plan) {
  ir::PartRoles roles(plan.version->params.size());
  std::size_t array = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (!plan.version->params[i].isBuffer()) continue;
    const memory::detail::DeviceUse& use = plan.uses[array++];
    for (const int dim : splitDims(use.view->root().state(), use.cells()))
      roles[i].split |= 1U << dim;
  }
  return roles;
}

}  // namespace

// Explicit subarrays become parts as the program goes along, so what a launch on them needs is
// found out at each launch; HPL_CHECK=ghosts is not meant to be fast.
std::vector<ghosts::PartUse> explicitParts(const Plan& plan) {
  std::vector<ghosts::PartUse> uses;
  ir::PartSummary summary;
  const bool isKnown = plan.version->kernel != nullptr && plan.version->rewriter == nullptr;
  if (isKnown) summary = ir::analyzeParts(*plan.version->kernel, rolesOf(plan), alignedAxes(plan));
  std::size_t array = 0;
  for (std::size_t i = 0; i < plan.version->params.size(); ++i) {
    if (!plan.version->params[i].isBuffer()) continue;
    const memory::detail::DeviceUse& use = plan.uses[array++];
    memory::detail::RootState& state = use.view->root().state();
    const memory::detail::Distribution* active = state.active.get();
    if (!use.mayBePart || active == nullptr ||
        active->origin != memory::detail::Distribution::Origin::Explicit)
      continue;
    ghosts::PartUse part;
    part.part = active->partOn(*plan.device, use.cells());
    if (part.part == nullptr) continue;
    part.state = &state;
    part.number = static_cast<int>(part.part - active->parts.data());
    part.reads = use.read;
    part.writes = use.write;
    if (isKnown) {
      const auto parameter = static_cast<int>(i);
      describeAccess(part, summary, parameter, splitDims(state, part.part->full));
      const bool coversPart = plan.options.global.dims == 0 && part.part->full == use.cells() &&
                              use.view->extents == plan.views.front()->extents;
      if (coversPart) part.outcome = ghosts::outcomeOf(summary, parameter);
    }
    uses.push_back(part);
  }
  ghosts::computeNeeds(uses);
  return uses;
}

}  // namespace hpl::launch
