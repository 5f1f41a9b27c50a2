// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/layout/arguments.h"

namespace hpl::layout {
namespace {

std::string placeOf(const ir::GroupDemand& demand) {
  if (demand.where.file == nullptr) return demand.by;
  return fmt::format("{} at {}:{}", demand.by, demand.where.file, demand.where.line);
}

void checkScratch(const std::string& kernel, const ir::GroupDemand& demand, std::size_t group,
                  Arguments arguments) {
  const int parameter = demand.scratch->paramIndex;
  if (parameter < 0 || static_cast<std::size_t>(parameter) >= arguments.size()) return;
  const Argument& argument = arguments[parameter];
  if (argument.kind != Argument::Kind::LocalArray) return;
  const auto elements = static_cast<std::size_t>((*argument.localExtents)[0]);
  if (elements < group)
    throw LaunchError(fmt::format(
        "kernel '{}': {} has a local array of {} elements (argument {}) for a group of {} "
        "work-items; pass one of {}, or use .localMem(n) with a number of elements",
        kernel, placeOf(demand), elements, parameter + 1, group, group));
}

}  // namespace

void checkGroupDemands(const KernelVersion& version, const std::size_t* local,
                       Arguments arguments) {
  if (version.kernel == nullptr) return;
  const std::size_t group = local[0] * local[1] * local[2];
  for (const ir::GroupDemand& demand : version.kernel->groupDemands) {
    const auto refuse = [&](const std::string& modifier, const char* advice) {
      throw LaunchError(fmt::format(
          "kernel '{}': {} says {}, and the groups of this launch are {} x {} x {} "
          "work-items; {}",
          version.name, placeOf(demand), modifier, local[0], local[1], local[2], advice));
    };
    for (int d = demand.dims; d < 3; ++d)
      if (local[d] != 1)
        refuse(fmt::format(".ndims({})", demand.dims),
               "raise ndims, or give .local(...) of fewer dimensions");
    if (demand.size != 0 && demand.size != group)
      refuse(fmt::format(".groupSize({})", demand.size), "give .local(...) of that size");
    if (group % demand.teams != 0)
      refuse(fmt::format(".nTeams({})", demand.teams),
             "give .local(...) of a size that the number of teams divides");
    if (demand.scratch != nullptr) checkScratch(version.name, demand, group, arguments);
  }
}

}  // namespace hpl::layout
