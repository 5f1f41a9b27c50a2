// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "stencil_templates/detail/stencil_state.h"

namespace hpl::stencils {

/// Throws ArgumentError when values of output 1 have no residual of the given kind (null: the
/// absolute difference).
void checkResidual(const std::string& stencil, const ir::Type& type,
                   const ResidualFunction* function);

/// Looks at how much an iteration still changes, without stopping it: launch() enqueues the
/// reduction on the devices of the stencil, value() waits for one that was launched before. Two may
/// be under way.
class ResidualLooks {
 public:
  /// `output`: output 1; both arrays of the looks have its type and shape.
  static std::unique_ptr<ResidualLooks> make(const launch::LaunchOptions& options,
                                             const StencilArgument& output,
                                             std::shared_ptr<const ResidualFunction> function);
  virtual ~ResidualLooks() = default;
  ResidualLooks(const ResidualLooks&) = delete;
  ResidualLooks& operator=(const ResidualLooks&) = delete;

  /// Number `look` (from 0) compares these two arrays.
  virtual void launch(std::int64_t look, const StencilArgument& now,
                      const StencilArgument& before) = 0;
  /// The largest residual of all cells at one of the last two looks; NaN if one of them is.
  virtual double value(std::int64_t look) = 0;

 protected:
  ResidualLooks() = default;
};

}  // namespace hpl::stencils
