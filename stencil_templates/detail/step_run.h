// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "stencil_templates/detail/kept_race.h"
#include "stencil_templates/detail/program_argument.h"
#include "stencil_templates/detail/stencil_state.h"
#include "stencil_templates/detail/step_program.h"
#include "stencil_templates/detail/tile_race.h"
#include "stencil_templates/stencil.h"

/// The one engine of iterations: how the steps of a StepProgram are done on arrays.
namespace hpl::stencils {

/// A field of a program, with its cells.
struct StepField {
  /// The array; of a temporary one without memory until a launch asks for it.
  ProgramArgument array;
  std::shared_ptr<const std::string> temporary;
  /// Takes the new cells of a step where old ones are still read: output k of an iteration, else
  /// made when it is needed.
  ProgramArgument spare;
  /// One cell, for parameters that a kernel does not access.
  ProgramArgument placeholder;
  /// Array and spare are the caller's handles, which may exchange what they name; else new cells
  /// that lie in the spare are copied.
  bool exchanges = false;

  /// "array 'hz'", "temporary 'smooth'".
  std::string describe() const;
};

/// The data on which a program works.
struct StepData {
  std::vector<StepField> fields;
  /// By function.
  std::vector<std::vector<StencilArgument>> scalars;
  geometry::Extents extents;
  /// HostMemory flags of arrays that are made.
  unsigned memory = HPL_NOHOST_MEM;
};

/// Gives scalars that change from step to step their values, for `steps` steps, at least one.
/// Throws what StepTable does.
void makeTables(StepProgram& program, StepData& data, std::int64_t steps);

/// Some steps of a program, from the first on.
class StepRun final : public Stepper {
 public:
  /// The program and the data live as long as the run. `kernels`: of functions that are launched as
  /// stencils, by function, as far as they are known.
  StepRun(StepProgram& program, StepData& data, const launch::LaunchOptions& options,
          std::vector<std::shared_ptr<const StencilKernel>> kernels = {});

  /// To be called before advance(steps): chooses the tiles of that many steps, with looks or
  /// without.
  void choose(const TimeChoice& choice, std::int64_t steps);
  /// Enqueues some steps, in the tiles that were chosen or are being tried.
  void advance(std::int64_t steps);
  /// As many steps per launch as the tile has, and about the same number in all.
  void advance(const TimeTile& tile, std::int64_t steps) override;
  std::int64_t launches() const override { return launches_; }
  void wait() override;
  /// One launch from the fields' arrays, of up to tile.depth steps, after which they have their old
  /// cells: measurements repeat it.
  FRunner launchOnce(const StepPass& pass, std::int64_t steps);

  std::int64_t steps() const { return steps_; }
  /// The array with the present cells of a field, and the one with those of the step before.
  const StencilArgument& now(std::size_t field) const { return present(field, false).argument; }
  const StencilArgument& before(std::size_t field) const { return present(field, true).argument; }

  /// The most steps of a launch whose groups look at the result; 0: there is none.
  std::int64_t mostLooked(const Until& until) const;
  /// Does at most `steps` steps in one launch, with looks; nothing where that did not work out: no
  /// step was done.
  std::optional<PersistentResult> advanceLooking(std::int64_t steps, const Until& until);

  /// Brings the present cells into the fields' arrays.
  void finish();

 private:
  using Swapped = std::vector<bool>;
  /// A launch that comes again.
  struct Launched {
    std::vector<StencilArgument> arguments;
    FRunner runner;
  };

  const ProgramArgument& present(std::size_t field, bool other) const {
    const StepField& own = data_.fields[field];
    return swapped_[field] != other ? own.spare : own.array;
  }
  const std::vector<StepPass>& passesFor(
      const TimeTile& tile, const std::shared_ptr<const ResidualFunction>& residual = nullptr);
  void makeArrays(const StepPass& pass);
  std::vector<launch::Argument> arraysFor(const StepPass& pass) const;
  std::vector<launch::Argument> scalarsFor(const StepPass& pass);
  /// A function's scalars, with their values of the present step.
  const std::vector<StencilArgument>& scalarsOf(std::size_t function);
  std::vector<StencilArgument> argumentsFor(const StepPass& pass);
  void onCellsAlone(const geometry::Box& cells, launch::Argument& field,
                    launch::LaunchOptions& options) const;
  FRunner launchPass(const StepPass& pass, std::int64_t steps);
  void launchStencil(const StepPass& pass, Launched& launched);
  void launch(const StepPass& pass, std::int64_t steps);
  void noteSwaps(const StepPass& pass);
  void copyBack(std::size_t field);
  void stream(const TimeTile& tile, std::int64_t steps);
  std::int64_t launchesOf(std::int64_t steps, std::int64_t most) const;
  std::int64_t persist(const TimeTile& tile, std::int64_t steps);
  std::optional<PersistentResult> persistOnce(const StepPass& pass, std::int64_t steps,
                                              const PersistentLooks& looks = {});

  StepProgram& program_;
  StepData& data_;
  launch::LaunchOptions options_;
  std::vector<std::shared_ptr<const StencilKernel>> kernels_;
  /// The data's own at the beginning: what a program asks between its steps may run it again.
  std::vector<std::vector<StencilArgument>> scalars_;
  TimeTile tile_;
  std::shared_ptr<TileRace> race_;
  std::shared_ptr<KeptRace> keptRace_;
  /// The tile for the steps of one launch where that does not work out.
  TimeTile otherwise_;
  /// The tile of launches whose groups look at the result by themselves.
  std::optional<TimeTile> looked_;
  std::map<TimeTile, StepProgram::Passes> passes_;
  /// By pass, steps, and fields whose present cells are in the spare arrays.
  std::map<std::tuple<const StepPass*, std::int64_t, Swapped>, Launched, std::less<>> launched_;
  /// By field: what copies cells of its stand-in by a kernel, where that has been done before.
  std::map<std::size_t, FRunner> copies_;
  Swapped swapped_;
  std::int64_t launches_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace hpl::stencils
