// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpl/error.h"
#include "stencil_templates/detail/stencil_argument.h"
#include "stencil_templates/detail/time_recipe.h"

namespace hpl::stencils {

/// A recipe of several steps or functions, and the kernel that is captured from it.
struct TimeKernel {
  TimeRecipe recipe;
  launch::EntryHandle entry;
  /// Tells it from all others that there ever were.
  const std::uint64_t number = nextNumber();
  /// The device's compiler has rejected what was made of the recipe.
  mutable std::atomic<bool> isRejected{false};

  /// `label`: the kernel's name in messages, or empty. `lifetimes`: see TimeRecipe.
  TimeKernel(int dims, std::vector<ir::Type> fields, std::vector<TimeFunction> functions,
             const TimeTile& tile, const std::string& label = {},
             const std::vector<strategies::Lifetime>& lifetimes = {}, const GridEnds& ends = {},
             std::shared_ptr<const ResidualFunction> residual = nullptr);

 private:
  static std::uint64_t nextNumber();
};

/// The arguments of a kernel of several steps behind the number of steps: see TimeRecipe. `first`
/// is the number of its first step.
std::vector<launch::Argument> stepScalars(const TimeRecipe& recipe,
                                          std::span<const StencilArgument> scalars,
                                          std::int64_t first);
/// Notes that the kernel does not compile, which is a defect of the library, and says so: what it
/// would do is done step by step, or function by function.
void reject(const TimeKernel& kernel, const std::string& name, const BuildError& error);

}  // namespace hpl::stencils
