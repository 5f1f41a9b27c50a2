// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "stencil_templates/detail/program_cells.h"
#include "stencil_templates/detail/program_choice.h"
#include "stencil_templates/detail/stencil_state.h"
#include "stencil_templates/detail/time_choice.h"
#include "stencil_templates/program.h"

namespace hpl::stencils {

/// A field of a program.
struct ProgramField {
  /// The array; of a temporary one without memory until a launch asks for it.
  ProgramArgument array;
  std::shared_ptr<const std::string> temporary;
  /// Takes the new cells of a step where old ones are still read; made when it is needed.
  ProgramArgument spare;
  /// One cell, for parameters that a kernel does not access.
  ProgramArgument placeholder;

  /// "array 'hz'", "temporary 'smooth'".
  std::string describe() const;
};

/// A function of a program.
struct ProgramFunction {
  std::string name;
  std::shared_ptr<StencilState> stencil;
  /// One for each box of cells that it is applied to.
  std::vector<TimeFunction> parts;
  /// Nobody has said to which cells it is applied.
  bool isEverywhere = true;
  std::vector<ProgramArgument> scalars;
};

/// Functions that are launched together.
struct ProgramPass {
  /// One function, launched as a stencil by itself.
  const ProgramFunction* stencil = nullptr;
  /// Else: the kernel, the program's fields that are its fields, and its functions.
  std::shared_ptr<const TimeKernel> kernel;
  std::vector<int> fields;
  std::vector<const ProgramFunction*> functions;
  /// The functions whose scalars are the kernel's last parameters, as often as they are.
  std::vector<const ProgramFunction*> scalarsOf;
};

/// What the kernel of a pass is made from.
struct PassContents {
  std::vector<ir::Type> types;
  std::vector<strategies::Lifetime> lifetimes;
  std::vector<TimeFunction> parts;
  /// The function that each part belongs to.
  std::vector<const ProgramFunction*> origins;
};

/// What the copies of a StencilProgram share.
class ProgramState {
 public:
  void setLabel(const std::string& label) { label_ = label; }
  /// "stencil program 'waves'".
  std::string describe() const;
  void add(const std::shared_ptr<StencilState>& stencil, const ProgramCells& cells,
           std::vector<ProgramArgument> arguments);
  void checkEvery(std::int64_t steps, std::function<bool(std::int64_t)> isDone);
  StencilRun run(const launch::LaunchOptions& options, const IterationPlan& plan);
  TuneResult tune(const launch::LaunchOptions& options, const IterationPlan& plan);

 private:
  /// Ways to run the program.
  class Bench;
  /// Runs it in one of them.
  class Stepping;
  /// What is put back where a function is refused.
  struct Former {
    std::vector<ProgramField> fields;
    geometry::Extents extents;
  };

  void addChecked(const std::shared_ptr<StencilState>& stencil, const ProgramCells& cells,
                  std::vector<ProgramArgument> arguments);
  int fieldOf(const ProgramArgument& array);
  void makeTemporaries(std::vector<ProgramArgument>& arguments);
  const ProgramField& field(int number) const { return fields_[static_cast<std::size_t>(number)]; }
  geometry::Box boxOf(const std::string& name, const std::vector<Range>& region) const;
  std::vector<geometry::Box> boxesFor(const std::string& name, const ProgramCells& cells,
                                      const std::vector<int>& written) const;
  void checkTemporaries(const ProgramFunction& fresh) const;
  void checkRegions(const ProgramFunction& fresh) const;

  // Running (program_run.cpp).
  void checkContents() const;
  void checkUse() const;
  /// Throws unless the program can be run; what the user called is for the message.
  void prepare(const launch::LaunchOptions& options, const std::string& call, std::int64_t steps);
  /// For launches with these options.
  void setEnds(const launch::LaunchOptions& options);
  bool isChain() const;
  ProgramWish wish(const IterationPlan& plan) const;
  void tuneIfFull(const launch::LaunchOptions& options, const ProgramWish& wish);
  const TimeRecipe& wholeRecipe() { return passesFor({}).front().kernel->recipe; }
  ProgramPass passOf(const std::vector<const ProgramFunction*>& functions,
                     const TimeTile& tile) const;
  ProgramPass wholePass(const TimeTile& tile) const;
  ProgramPass singlePass(const ProgramFunction& function) const;
  std::vector<TimeFunction> allParts() const;
  TimeChoice chooseTile(const launch::LaunchOptions& options, const IterationPlan& plan);
  /// What a pass with these fields computes, with the fields in its own numbers.
  PassContents contentsOf(const ProgramPass& pass) const;
  /// Makes the kernel of a pass whose fields and functions are known.
  void makeKernel(ProgramPass& pass, const TimeTile& tile) const;
  const std::vector<ProgramPass>& passesFor(const TimeTile& tile);
  bool isPlainStencil(const ProgramFunction& function) const;
  void makeArrays(const ProgramPass& pass);
  void advance(const launch::LaunchOptions& options, const TimeTile& tile, std::int64_t steps);
  void stream(const launch::LaunchOptions& options, const TimeTile& tile, std::int64_t steps,
              std::vector<bool>& swapped);
  std::vector<launch::Argument> arraysFor(const ProgramPass& pass,
                                          const std::vector<bool>& swapped) const;
  /// Gives the scalars that change from step to step their values, for a run of so many steps.
  void makeTables(std::int64_t steps);
  /// With their values of the present step.
  std::vector<StencilArgument> scalarsOf(const ProgramFunction& function) const;
  std::vector<launch::Argument> scalarsFor(const ProgramPass& pass) const;
  static void noteSwaps(const ProgramPass& pass, std::vector<bool>& swapped);
  void launch(const launch::LaunchOptions& options, const ProgramPass& pass, int steps,
              std::vector<bool>& swapped);
  FRunner launchPass(const launch::LaunchOptions& options, const ProgramPass& pass, int steps,
                     const std::vector<bool>& swapped) const;
  FRunner launchStencil(const launch::LaunchOptions& options, const ProgramFunction& function,
                        const std::vector<bool>& swapped) const;

  // Steps in one launch (program_persist.cpp).
  std::optional<KeptTile> chooseKept(const launch::LaunchOptions& options, const ProgramWish& wish,
                                     const IterationPlan& plan, const TimeTile& otherwise);
  /// Returns the number of steps done, from the front.
  std::int64_t persist(const launch::LaunchOptions& options, const TimeTile& tile,
                       std::int64_t steps, std::vector<bool>& swapped);
  bool persistOnce(const launch::LaunchOptions& options, const ProgramPass& pass,
                   std::int64_t steps, const std::vector<bool>& swapped);

  std::string label_;
  std::vector<ProgramField> fields_;
  std::vector<std::unique_ptr<const ProgramFunction>> functions_;
  geometry::Extents extents_;
  /// HostMemory flags of arrays that the program makes.
  unsigned memory_ = HPL_NOHOST_MEM;
  std::int64_t every_ = 0;
  std::function<bool(std::int64_t)> isDone_;
  /// Of the run under way.
  GridEnds ends_;
  std::map<std::tuple<TimeTile, std::array<bool, 3>, std::string>, std::vector<ProgramPass>>
      passes_;
  std::unique_ptr<TimeChoices> choices_ = std::make_unique<TimeChoices>();
  PersistentSpaces persistentSpaces_;
  /// By pass, steps and fields whose present cells are in the spare arrays; of the options of a
  /// run.
  std::map<std::tuple<const ProgramPass*, int, std::vector<bool>>, FRunner> runners_;
  /// In all runs.
  std::int64_t launches_ = 0;
  /// In the present run.
  std::int64_t step_ = 0;
  /// Of the functions' scalars, in their order; null: it is the same in all steps.
  std::map<const ProgramFunction*, std::vector<StepTables::Table>> tables_;
};

}  // namespace hpl::stencils
