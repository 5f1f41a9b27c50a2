// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stencil_templates/detail/stencil_state.h"
#include "stencil_templates/detail/time_choice.h"
#include "stencil_templates/program.h"

namespace hpl::stencils {

/// What the copies of a StencilProgram share.
class ProgramState {
 public:
  void setLabel(const std::string& label) { label_ = label; }
  /// "stencil program 'waves'".
  std::string describe() const;
  void add(const std::shared_ptr<StencilState>& stencil, const std::vector<Range>& region,
           std::vector<ProgramArgument> arguments);
  void checkEvery(std::int64_t steps, std::function<bool(std::int64_t)> isDone);
  StencilRun run(const launch::LaunchOptions& options, const IterationPlan& plan);

 private:
  /// A field with the array that takes its new cells, if it is written.
  struct Field {
    ProgramArgument array;
    ProgramArgument spare;
    bool isWritten = false;
    /// Some function reads it before a function of the same step has written all of it.
    bool needsContents = false;
  };
  /// A function with its region as a box of the grid.
  struct Applied {
    TimeFunction function;
    std::string name;
    geometry::Box region;
    std::vector<ProgramArgument> scalars;
  };

  int fieldOf(const ProgramArgument& array);
  geometry::Box boxOf(const std::string& name, const std::vector<Range>& region) const;
  void checkRegions(const Applied& fresh) const;
  void checkContents() const;
  void makeSpares();
  std::shared_ptr<const TimeKernel> kernelFor(const TimeTile& tile);
  TimeTile chooseTile(const launch::LaunchOptions& options, const IterationPlan& plan);
  void advance(const launch::LaunchOptions& options, std::int64_t steps);
  FRunner launch(const launch::LaunchOptions& options, int steps, bool back) const;

  std::string label_;
  std::vector<Field> fields_;
  std::vector<Applied> functions_;
  geometry::Extents extents_;
  std::int64_t every_ = 0;
  std::function<bool(std::int64_t)> isDone_;
  /// By steps per pass and cells per tile.
  std::map<std::array<std::int64_t, 4>, std::shared_ptr<const TimeKernel>> kernels_;
  std::unique_ptr<TimeChoices> choices_ = std::make_unique<TimeChoices>();
  std::shared_ptr<const TimeKernel> kernel_;
  /// By direction and steps per launch; of `kernel_` and the options of a run.
  std::map<std::pair<bool, std::int64_t>, FRunner> runners_;
};

}  // namespace hpl::stencils
