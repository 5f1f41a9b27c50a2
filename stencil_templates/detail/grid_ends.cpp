// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/grid_ends.h"

#include <algorithm>

#include "hpl/memory/root.h"
#include "hpl/runtime/global_list.h"
#include "stencil_templates/detail/time_choice.h"

namespace hpl::stencils {
namespace {

/// Ranks do not see each other's memory, and have to decide alike.
bool areInHostMemory(const std::vector<Device>& devices) {
  return !runtime::hasRanks() &&
         std::all_of(devices.begin(), devices.end(),
                     [](const Device& device) { return device.getProperties().sharesHostMemory; });
}

bool isWhole(memory::View* view) { return view == &view->root().whole(); }

}  // namespace

GridEnds endsOf(const launch::LaunchOptions& options, const std::vector<memory::View*>& arrays,
                int dims) {
  GridEnds ends;
  if (!isForSeveralDevices(options) || areInHostMemory(devicesOf(options))) return ends;
  if (!std::all_of(arrays.begin(), arrays.end(), isWhole)) {
    ends.whyNotTiled =
        "the slowest dimension is periodic, and on devices with memory of their own only whole "
        "arrays have the cells of the other end as ghosts, but views are passed";
    return ends;
  }
  ends.joined[0] = true;
  const Domain& blocks = options.shares->blocks;
  for (int d = 0; d < dims && blocks.dims > 0; ++d) {
    const int axis = dims - 1 - d;
    ends.joined[static_cast<std::size_t>(d)] = axis < blocks.dims && blocks.size[axis] > 1;
  }
  return ends;
}

launch::Argument withGhosts(const launch::Argument& array, const EndCells& before,
                            const EndCells& after) {
  geometry::Box box = array.view->box();
  for (int d = 0; d < box.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    box = box.withRange(d, box.lo(d) - before[at], box.hi(d) + after[at]);
  }
  launch::Argument around = array;
  around.view = &array.view->root().view(box);
  return around;
}

}  // namespace hpl::stencils
