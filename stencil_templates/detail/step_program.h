// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stencil_templates/detail/persistent_steps.h"
#include "stencil_templates/detail/program_cells.h"
#include "stencil_templates/detail/step_table.h"
#include "stencil_templates/detail/time_choice.h"
#include "stencil_templates/detail/time_kernel.h"

/// The steps that Stencil::iterate and StencilProgram repeat: functions over fields, and the
/// kernels that are made of them. A StepRun does the steps.
namespace hpl::stencils {

class StencilState;

/// A function of a step.
struct StepFunction {
  /// In messages: "stencil 'heat'", "stencil program 'waves', function 1 (stencil 'heat')".
  std::string name;
  /// Lives as long as the program.
  StencilState* stencil = nullptr;
  /// One for each box of cells that it is applied to; all have the same reads and writes.
  std::vector<TimeFunction> parts;
  /// True if the user named no cells to which it is applied.
  bool isEverywhere = true;

  const std::vector<int>& reads() const { return parts.front().reads; }
  const std::vector<int>& writes() const { return parts.front().writes; }
  /// It only records cells of its input.
  bool records() const { return parts.front().recording.has_value(); }
  /// Whether its output k is its input k, for all outputs.
  bool updatesInputs() const;
};

/// Functions that are launched together.
struct StepPass {
  /// The numbers of its functions.
  std::vector<std::size_t> functions;
  /// Null: one function, launched as a stencil by itself.
  std::shared_ptr<const TimeKernel> kernel;
  /// The program's fields that are the kernel's fields.
  std::vector<int> fields;
  /// The functions whose scalars are the kernel's last parameters, as often as they are.
  std::vector<std::size_t> scalarsOf;
  /// By field of the program: new cells go to its other array.
  std::vector<bool> swaps;
  /// For a function that records, launched by itself: its cells, which are the kernel's grid.
  std::optional<geometry::Box> cells;
};

/// The parts of a program.
struct StepContents {
  /// In messages: "stencil 'heat'"; and the names of its kernels, or empty.
  std::string name;
  std::string label;
  int dims = 1;
  /// Extents of the grid. Empty: for an iteration, a program of one function that updates its
  /// inputs everywhere, on arrays of any shape.
  geometry::Extents extents;
  std::vector<StepFunction> functions;
  /// Types of the fields.
  std::vector<ir::Type> types;
  std::vector<bool> areTemporary;
  GridEnds ends;
};

/// Its functions may be called from several threads.
class StepProgram {
 public:
  using Passes = std::shared_ptr<const std::vector<StepPass>>;

  explicit StepProgram(StepContents contents);

  const std::string& name() const { return contents_.name; }
  const std::vector<StepFunction>& functions() const { return contents_.functions; }
  std::size_t fieldCount() const { return contents_.types.size(); }
  int dims() const { return contents_.dims; }
  bool isIteration() const { return contents_.extents.rank() == 0; }
  /// Whether no step sees what the one before it has written.
  bool isChain() const;
  /// Whether some functions record.
  bool records() const;

  /// The passes of launches in these tiles: one with all functions, or one for each function (depth
  /// 0; for iterations, depth 1). Made at the first call. `residual`: the function of looks, if the
  /// tile has looks. Throws LaunchError where no kernel can be made of a function.
  Passes passes(const TimeTile& tile,
                const std::shared_ptr<const ResidualFunction>& residual = nullptr);
  /// One of the caller's own, as passes() has it.
  std::vector<StepPass> makePasses(
      const TimeTile& tile,
      const std::shared_ptr<const ResidualFunction>& residual = nullptr) const;
  /// All functions in one kernel; its tile is not to be looked at.
  const TimeRecipe& recipe() const { return whole_.kernel->recipe; }
  /// The functions as they are where each has a kernel.
  const TimeRecipe& apart() const { return apart_; }

  TimeChoices& choices() { return choices_; }
  PersistentSpaces& spaces() { return spaces_; }
  /// Keeps tables of values per step for the kernels that are under way. Returns, for each, the
  /// kept one with the same values, or itself.
  std::vector<StepTables::Table> keepTables(const std::vector<StepTables::Table>& fresh);

 private:
  /// The parts from which the kernel of a pass is made.
  struct PassContents {
    std::vector<ir::Type> types;
    std::vector<strategies::Lifetime> lifetimes;
    std::vector<TimeFunction> parts;
    /// The function that each part belongs to.
    std::vector<std::size_t> origins;
  };

  PassContents contentsOf(const StepPass& pass) const;
  TimeRecipe recipeApart() const;
  StepPass passOf(std::vector<std::size_t> functions, const TimeTile& tile,
                  const std::shared_ptr<const ResidualFunction>& residual) const;
  StepPass wholePass(const TimeTile& tile,
                     const std::shared_ptr<const ResidualFunction>& residual = nullptr) const;
  StepPass singlePass(std::size_t function) const;
  StepPass stencilPass(std::size_t function) const;
  StepPass recordPass(std::size_t function) const;
  bool isPlainStencil(const StepFunction& function) const;

  StepContents contents_;
  StepPass whole_;
  TimeRecipe apart_;
  TimeChoices choices_;
  PersistentSpaces spaces_;
  std::mutex mutex_;
  /// By tile and residual: of residuals of the user's own only the last one, for the next may be a
  /// new function each time.
  std::map<TimeTile, std::pair<const ResidualFunction*, Passes>> passes_;
  StepTables tables_;
};

}  // namespace hpl::stencils
