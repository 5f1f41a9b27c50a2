// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/freshness.h"
#include "hpl/launch/detail/shares.h"

namespace hpl::launch {

// Explicit subarrays become parts as the program goes along, so what a launch on them needs is
// found out at each launch; HPL_CHECK=ghosts is not meant to be fast.
std::vector<ghosts::PartUse> explicitParts(const Plan& plan) {
  std::vector<ghosts::PartUse> uses;
  std::size_t array = 0;
  for (const Parameter& parameter : plan.version->params) {
    if (!parameter.isBuffer()) continue;
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
    if (parameter.access != nullptr) {
      std::vector<int> dims;
      const geometry::Box whole = state.wholeBox();
      for (int d = 0; d < whole.rank(); ++d)
        if (part.part->full.extent(d) < whole.extent(d)) dims.push_back(d);
      if (dims.size() == 1) part.dim = dims.front();
      part.reach = ghosts::reachOf(*parameter.access, dims);
      const bool coversPart = plan.options.global.dims == 0 && part.part->full == use.cells() &&
                              use.view->extents == plan.views.front()->extents &&
                              isNaturalOrder(*parameter.access);
      if (coversPart) part.rim = ghosts::rimOf(*parameter.access, dims);
    }
    uses.push_back(part);
  }
  ghosts::computeNeeds(uses);
  return uses;
}

}  // namespace hpl::launch
