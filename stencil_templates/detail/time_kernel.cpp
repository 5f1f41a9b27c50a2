// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/time_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hpl/runtime/log.h"
#include "stencil_templates/detail/step_table.h"

namespace hpl::stencils {

std::uint64_t TimeKernel::nextNumber() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

TimeKernel::TimeKernel(int dims, std::vector<ir::Type> fields, std::vector<TimeFunction> functions,
                       const TimeTile& tile, const std::string& label,
                       const std::vector<strategies::Lifetime>& lifetimes, const GridEnds& ends,
                       std::shared_ptr<const ResidualFunction> residual)
    : recipe(dims, std::move(fields), std::move(functions), tile, lifetimes, ends,
             std::move(residual)) {
  const launch::KernelSource source{
      [](const void* made) { static_cast<const TimeRecipe*>(made)->record(); }, &recipe, "stencil",
      &recipe};
  entry.owner = launch::anonymousEntry(source, nullptr, label);
  entry.entry = entry.owner.get();
}

std::vector<launch::Argument> stepScalars(const TimeRecipe& recipe,
                                          std::span<const StencilArgument> scalars,
                                          std::int64_t first) {
  std::vector<launch::Argument> list;
  if (recipe.hasStepScalars()) {
    std::int64_t last = std::numeric_limits<int>::max();
    for (const StencilArgument& scalar : scalars)
      if (scalar.table != nullptr) last = std::min(last, scalar.table->steps() - 1);
    list.push_back(launch::makeArgument(static_cast<int>(first)));
    list.push_back(launch::makeArgument(static_cast<int>(last)));
  }
  for (const StencilArgument& scalar : scalars) {
    list.push_back(scalar.argument);
    if (scalar.table != nullptr) list.push_back(scalar.table->array());
  }
  return list;
}

void reject(const TimeKernel& kernel, const std::string& name, const BuildError& error) {
  if (kernel.isRejected.exchange(true)) return;
  runtime::log::warn(
      fmt::format("{}: the kernel of its time tiles, or of several functions, does not compile, "
                  "which is a defect of HPL; each step is launched by itself (HPL_LOG=info shows "
                  "what the compiler says)",
                  name));
  runtime::log::info(error.what());
}

}  // namespace hpl::stencils
