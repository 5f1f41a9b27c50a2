// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/iteration_bench.h"

#include "hpl/memory/contents.h"
#include "stencil_templates/detail/program_cells.h"

namespace hpl::stencils {
IterationBench::IterationBench(StencilState& state, std::shared_ptr<const StencilKernel> kernel,
                               const TimeWish& wish, const launch::LaunchOptions& options,
                               std::vector<StencilArgument> arguments)
    : TileBench(wish, state.timeKernelFor(*kernel, {})->recipe, options,
                gridOf(arguments.front().argument.view->extents)),
      state_(state),
      kernel_(std::move(kernel)),
      options_(options),
      arguments_(std::move(arguments)) {}

/// The outputs are stood in for by arrays that lie as they do.
void IterationBench::makeScratch() {
  const PointSignature& signature = state_.signature();
  for (std::size_t k = 0; k < signature.outputs.size(); ++k) {
    launch::Argument& output = arguments_[signature.inputs.size() + k].argument;
    memory::Root& root = output.view->root();
    scratch_.push_back(memory::scratchLike(root, root.whole().extents));
    memory::Root& copy = *scratch_.back();
    output.view = output.view == &root.whole() ? &copy.whole() : &copy.view(output.view->box());
  }
}

FRunner IterationBench::launch(const TimeTile& tile, int steps) {
  if (scratch_.empty()) makeScratch();
  if (tile.depth == 1) return launchKernel(*kernel_, options_, arguments_.data());
  std::shared_ptr<const TimeKernel>& kernel = kernels_[tile];
  if (kernel == nullptr) kernel = state_.makeTimeKernel(*kernel_, tile);
  return launchSteps(*kernel, options_, state_.signature(), arguments_, steps);
}

}  // namespace hpl::stencils
