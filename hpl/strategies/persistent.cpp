// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/persistent.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/strategies/detail/persistent_builder.h"

namespace hpl::strategies {

std::string whyNotPersistent(const TimeProgram& program) {
  const bool goesOn =
      std::any_of(program.fields.begin(), program.fields.end(), [](const TimeField& field) {
        return field.isWritten() && field.lifetime == Lifetime::Steps;
      });
  if (!goesOn) return "no step sees what the one before it has written";
  return whyNotOverlapped(program);
}

std::string whyNotTiles(const TimeProgram& program, const OverlappedOptions& options,
                        const std::array<std::int64_t, 3>& extents) {
  const Growth halo = haloOf(program, options.depth);
  const detail::OverlappedPlan plan = detail::planOverlapped(program, options);
  for (std::size_t d = 0; d < static_cast<std::size_t>(program.dims); ++d) {
    const std::int64_t tile = options.tile[d];
    if (tile >= extents[d]) continue;
    const std::int64_t reach = std::max(halo.before[d], halo.after[d]);
    const std::int64_t last = extents[d] - (extents[d] - 1) / tile * tile;
    // Beyond the last tile of a periodic grid comes the first one.
    std::int64_t shortest = plan.isPeriodic[d] ? last : tile;
    if (const BorderTiles& border = options.border; d == 0 && border.cells > 0) {
      const std::int64_t between = extents[0] - 2 * border.cells - (border.groups - 3) * tile;
      shortest = std::min({border.cells, tile, between});
      if (border.cells > tile || between > tile)
        return fmt::format(
            "border groups of {} rows leave {} groups more than the {} rows of a tile",
            border.cells, border.groups - 2, tile);
    }
    if (shortest >= std::max<std::int64_t>(1, reach)) continue;
    return fmt::format(
        "tiles of {} cells along dimension {} are thinner than the {} cells that {} "
        "steps reach, and groups exchange with those next to them only",
        shortest, d, reach, options.depth);
  }
  return "";
}

Overlapped persistent(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                      const TimeProgram& program, const OverlappedOptions& options,
                      const std::array<std::int64_t, 3>& groups) {
  Overlapped result;
  try {
    if (std::string why = whyNotPersistent(program); !why.empty())
      throw detail::Refused{std::move(why)};
    if (summary.sharesWithinGroups() || summary.usesLocalIdOrGroup)
      throw detail::Refused{"its functions ask for groups or share local memory"};
    result.bytes = boxBytes(program, detail::bytesOf(kernel, program), options);
    if (options.localMemory > 0 && result.bytes > options.localMemory)
      throw detail::Refused{"its tiles would need " + std::to_string(result.bytes) +
                            " bytes of local memory, and the device has " +
                            std::to_string(options.localMemory)};
    return detail::PersistentBuilder(kernel, summary, program, options, groups).build();
  } catch (const detail::Refused& refused) {
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
