// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stencil_templates/detail/recipe.h"
#include "stencil_templates/detail/stencil_argument.h"
#include "stencil_templates/stencil.h"

namespace hpl::stencils {

class StepProgram;

/// A recipe and what was captured from it.
struct StencilKernel {
  StencilRecipe recipe;
  launch::EntryHandle entry;
  /// TimeFunction::perStep.
  std::vector<bool> perStep;
  /// The program of iterations with it; made by StencilState::iterationWith.
  mutable std::shared_ptr<StepProgram> iteration;

  /// Whether some scalar is another one in each step.
  bool changes() const { return std::find(perStep.begin(), perStep.end(), true) != perStep.end(); }
};

/// The state of a Stencil, and of its copies. Its functions may be called from several threads.
class StencilState {
 public:
  explicit StencilState(std::shared_ptr<const PointFunction> point);
  /// With the same function, label and boundaries, nothing captured yet.
  explicit StencilState(const StencilState& other);
  StencilState& operator=(const StencilState&) = delete;

  void setLabel(const std::string& label);
  /// Throws ArgumentError when there is no such input; counted from 1.
  void checkInput(int input) const;
  /// Input 0: all; no face: all.
  void setBoundary(int input, std::optional<Face> face, const Boundary& boundary);
  /// Input 0: all.
  std::int64_t reach(int input, Face face);

  /// Checks the arguments and finds the kernel for them. `keepsRims`: see StencilRecipe.
  std::shared_ptr<const StencilKernel> kernelFor(const launch::LaunchOptions& options,
                                                 const StencilArgument* arguments,
                                                 std::size_t count, bool keepsRims = false);
  /// Checks the arguments of a function of a program, whose outputs may be inputs, and gives its
  /// recipe. `name` is the function's in messages.
  StencilRecipe recipeFor(const std::string& name, const StencilArgument* arguments,
                          std::size_t count);
  PointCost cost();
  /// The program of an iteration with this kernel.
  std::shared_ptr<StepProgram> iterationWith(const StencilKernel& kernel);
  const PointSignature& signature() const { return point_->signature(); }
  /// "stencil 'heat'", or "a stencil".
  std::string describe() const;

 private:
  using Key =
      std::tuple<std::string, bool, bool, std::array<bool, 3>, std::string, std::vector<bool>>;

  StencilRecipe makeRecipe(const std::string& name, const std::vector<ir::Type>& outputs,
                           const GridEnds& ends, bool slices);
  /// Throws KernelError for a point function that is none; `name` is the stencil's in messages.
  const PointFacts& facts(const std::string& name);
  void checkFace(Face face) const;

  std::shared_ptr<const PointFunction> point_;
  std::string label_;
  std::vector<FaceBoundaries> boundaries_;
  mutable std::mutex mutex_;
  std::optional<PointFacts> facts_;
  /// By the types of the outputs, by whether slices are arguments and whether rims are kept, by the
  /// ends of the grid, and by the scalars that change from step to step.
  std::map<Key, std::shared_ptr<const StencilKernel>> kernels_;
};

/// Throws ArgumentError or ShapeError, in the user's terms, for arguments that do not fit the point
/// function: number, kind, type, dimensions, shape, outputs that overlap inputs or each other.
/// `mayUpdate`: an output may be an input.
void checkStencilArguments(const std::string& stencil, const PointSignature& signature,
                           const StencilArgument* arguments, std::size_t count,
                           bool mayUpdate = false);
/// Throws ArgumentError for boundaries that are missing or do not fit the inputs.
void checkBoundaries(const std::string& stencil, const StencilRecipe& recipe);
/// Throws ShapeError when the stencil reaches further than the arrays are long.
void checkReach(const std::string& stencil, const StencilRecipe& recipe,
                const StencilArgument* arguments);

/// "input 2 (pressure)", "output 1 (an array)", "parameter 3".
std::string nameOfArgument(const PointSignature& signature, const StencilArgument* arguments,
                           std::size_t number);

/// A work-item for each cell of arrays with these extents.
Domain domainOf(const geometry::Extents& extents);

/// Launches the kernel; the arguments have been checked.
FRunner launchKernel(const StencilKernel& kernel, const launch::LaunchOptions& options,
                     const StencilArgument* arguments);

}  // namespace hpl::stencils
