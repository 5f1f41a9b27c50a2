// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "stencil_templates/detail/stencil_state.h"
#include "stencil_templates/detail/tile_bench.h"

namespace hpl::stencils {

/// Ways to iterate a stencil.
class IterationBench final : public TileBench {
 public:
  /// The arguments, which have been checked, must live as long as the bench.
  IterationBench(StencilState& state, std::shared_ptr<const StencilKernel> kernel,
                 const TimeWish& wish, const launch::LaunchOptions& options,
                 std::vector<StencilArgument> arguments);

 private:
  FRunner launch(const TimeTile& tile, int steps) override;
  void makeScratch();

  StencilState& state_;
  std::shared_ptr<const StencilKernel> kernel_;
  launch::LaunchOptions options_;
  std::vector<StencilArgument> arguments_;
  std::vector<std::shared_ptr<memory::Root>> scratch_;
  std::map<TimeTile, std::shared_ptr<const TimeKernel>> kernels_;
};

}  // namespace hpl::stencils
