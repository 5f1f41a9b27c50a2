// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "hpl/layout/rewriter.h"
#include "hpl/strategies/overlapped.h"
#include "stencil_templates/detail/recipe.h"
#include "stencil_templates/detail/residual_function.h"

/// The data from which a kernel that does several time steps is generated.
namespace hpl::stencils {

struct TileEstimate;

/// By dimension, from slow to fast.
using Sizes = std::array<std::int64_t, 3>;

/// Where a function that only records puts its input's cells: into an array whose first dimension
/// is the step, which is the function's one scalar and changes from step to step, and whose others
/// are some dimensions of the grid.
struct Recording {
  ir::Type type;
  /// From slow to fast; cells lie at their position minus `first`.
  std::vector<std::size_t> dims;
  Sizes first{};
};

/// A stencil function of a time step.
struct TimeFunction {
  std::shared_ptr<const PointFunction> point;
  std::vector<InputPlan> inputs;
  /// The fields that its inputs and its outputs are.
  std::vector<int> reads;
  std::vector<int> writes;
  /// It is applied to the cells that are so far away from the faces, dimensions from slow to fast.
  std::array<std::int64_t, 3> low{};
  std::array<std::int64_t, 3> high{};
  PointCost cost;
  /// The most cells along each dimension; 0: any number.
  std::array<std::int64_t, 3> most{};
  /// By scalar parameter of the point function: whether it changes from step to step. May be
  /// shorter: the others do not.
  std::vector<bool> perStep;
  std::optional<Recording> recording;

  bool isPerStep(std::size_t scalar) const { return scalar < perStep.size() && perStep[scalar]; }
};

/// How a pass does several steps: on whole boxes one after another (strategies::overlapped), or on
/// planes that follow each other (strategies::stream), or on boxes of which work-items keep columns
/// in registers (strategies::registers); one step also function after function on
/// rows that follow each other (strategies::chain); all steps of an iteration on tiles that groups
/// keep (strategies::persistent).
enum class TimeForm : std::uint8_t { Any, Boxes, Stream, Chain, Persistent, Registers };

/// The steps per pass (persistent: between exchanges) that were chosen, and the cells that a group
/// computes in a pass; 0: not chosen. Depth 0: not even the functions of one step share a pass.
struct TimeTile {
  int depth = 1;
  std::array<std::int64_t, 3> cells{};
  TimeForm form = TimeForm::Any;
  /// Persistent: groups along each dimension, on all devices together; 0: as many as cover the
  /// grid.
  Sizes groups{};
  /// Persistent: groups look at how much the steps still change (TimeLooks).
  bool looks = false;
  /// Persistent: see OverlappedOptions.
  strategies::BorderTiles border = {};
  bool waitsForAll = false;

  friend auto operator<=>(const TimeTile&, const TimeTile&) = default;
};
/// A launch for each function of each step.
constexpr TimeTile kByFunction{0, {}, TimeForm::Any};

/// As a kernel its parameters are: the fields, the new fields where they are written, if it is
/// persistent for each of those an array between, then the flags, and as ints the patience, what
/// the flags are raised to, and the device's first group along each dimension; if there are looks,
/// the old values, the residuals, the groups' values, the steps between looks (int) and the bound;
/// the number of steps (int), if scalars change from step to step the numbers of the first step and
/// of the last value (ints), the scalars of all functions, each that changes followed by its
/// values, and after those of a function that records the array that it writes. Parameters that it
/// does not access are arrays of any shape: fields that are not read before they are written, and
/// temporary ones.
class TimeRecipe final : public layout::KernelRewriter {
 public:
  /// `lifetimes`: of the fields; none: what is written goes from step to step.
  TimeRecipe(int dims, std::vector<ir::Type> fields, std::vector<TimeFunction> functions,
             const TimeTile& tile, const std::vector<strategies::Lifetime>& lifetimes = {},
             const GridEnds& ends = {}, std::shared_ptr<const ResidualFunction> residual = nullptr);

  int dims() const { return program_.dims; }
  const strategies::TimeProgram& program() const { return program_; }
  const TimeTile& tile() const { return tile_; }
  /// The cost of all functions together, and of each.
  const PointCost& cost() const { return cost_; }
  std::vector<PointCost> costs() const;
  std::vector<std::size_t> bytesOfFields() const;
  bool isPeriodic(int dim) const;
  bool hasComputedFaces() const;
  const GridEnds& ends() const { return ends_; }
  /// The comparison of looks; null: the absolute difference.
  const ResidualFunction* residual() const { return residual_.get(); }
  bool hasStepScalars() const { return !program_.stepScalars.empty(); }
  /// The argument that the kernel sees as an old field.
  launch::Argument shown(const launch::Argument& array) const;
  /// The reason why passes of `depth` steps reach too far beyond joined ends of a grid: an array
  /// has the cells of the other end once. Empty: they do not.
  std::string whyTooFar(int depth, const std::array<std::int64_t, 3>& extents) const;

  /// Records the functions, each in a branch of its own, and the values beyond faces likewise.
  void record() const;
  void adjust(ir::AccessSummary& summary) const override;
  layout::RewriteResult rewrite(const layout::RewriteRequest& request) const override;

 private:
  strategies::Overlapped write(const layout::RewriteRequest& request, const TileEstimate& tile,
                               bool isAlone) const;
  void addFunction(const TimeFunction& function, int& branches);
  void addScalars(int parameter);
  std::array<std::int64_t, 3> groupsOf(const layout::RewriteRequest& request,
                                       const TimeTile& tile) const;
  void adjustShared(ir::AccessSummary& summary) const;
  void adjustTables(ir::AccessSummary& summary) const;
  void adjustRecords(ir::AccessSummary& summary) const;
  ir::OwnCells cellsOfRecord(const TimeFunction& function) const;
  void adjustLooks(ir::AccessSummary& summary) const;
  void recordFunction(const TimeFunction& function, const std::vector<Symbol>& current,
                      const std::vector<Symbol>& next, Symbol firstStep) const;
  void recordLooks(const std::vector<Symbol>& current, Symbol old, Symbol residual) const;
  bool coversGrid(int field) const;
  bool isPersistent() const { return tile_.form == TimeForm::Persistent; }

  std::vector<ir::Type> fields_;
  std::vector<TimeFunction> functions_;
  TimeTile tile_;
  GridEnds ends_;
  PointCost cost_;
  EndCells ghostsAfter_{};
  /// By parameter, the functions that record there.
  std::map<int, std::size_t> records_;
  strategies::TimeProgram program_;
  std::shared_ptr<const ResidualFunction> residual_;
};

}  // namespace hpl::stencils
