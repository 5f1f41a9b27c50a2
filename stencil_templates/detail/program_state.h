// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stencil_templates/detail/boxed_arguments.h"
#include "stencil_templates/detail/program_cells.h"
#include "stencil_templates/detail/step_run.h"
#include "stencil_templates/program.h"

namespace hpl::stencils {

/// The state that the copies of a StencilProgram share.
class ProgramState {
 public:
  ProgramState() = default;
  /// With the same functions over the same fields; the steps of a run are its own.
  explicit ProgramState(const ProgramState& other);
  ProgramState& operator=(const ProgramState&) = delete;

  void setLabel(const std::string& label) {
    label_ = label;
    steps_.reset();
  }
  /// "stencil program 'waves'".
  std::string describe() const;
  void add(const std::shared_ptr<StencilState>& stencil, const ProgramCells& cells,
           std::vector<ProgramArgument> arguments);
  void addRecord(const ProgramArgument& from, const ProgramArgument& samples,
                 const std::vector<RecordPlace>& places);
  void checkEvery(std::int64_t steps, std::function<bool(std::int64_t)> isDone);
  StencilRun run(const launch::LaunchOptions& options, const IterationPlan& plan);
  TuneResult tune(const launch::LaunchOptions& options, const IterationPlan& plan);

 private:
  /// The state to restore where a function is refused.
  struct Former {
    StepData data;
    std::vector<std::shared_ptr<const void>> owners;
    BoxCopies boxes;
  };

  void addChecked(const std::shared_ptr<StencilState>& stencil, const ProgramCells& cells,
                  std::vector<ProgramArgument> arguments);
  /// Calls `change`, and puts back what it has done where it throws.
  template <class F>
  void addOrNothing(F&& change);
  // program_record.cpp
  void addRecordChecked(const ProgramArgument& from, const ProgramArgument& samples,
                        const std::vector<RecordPlace>& places);
  void checkSamples(const std::string& name, const ProgramArgument& samples) const;
  void checkSampleCount(const std::string& call, std::int64_t steps) const;

  int fieldOf(const ProgramArgument& array);
  void boxViews(ProgramArgument* begin, ProgramArgument* end, bool areWritten);
  void makeTemporaries(std::vector<ProgramArgument>& arguments);
  const StepField& field(int number) const {
    return data_.fields[static_cast<std::size_t>(number)];
  }
  geometry::Box boxOf(const std::string& name, const std::vector<Range>& region) const;
  std::vector<geometry::Box> boxesFor(const std::string& name, const ProgramCells& cells,
                                      const std::vector<int>& written) const;
  void checkTemporaries(const StepFunction& fresh) const;
  void checkRegions(const StepFunction& fresh) const;

  // Running (program_run.cpp).
  void checkContents() const;
  void checkUse() const;
  /// Throws unless the program can be run; what the user called is for the message.
  void prepare(const launch::LaunchOptions& options, const std::string& call, std::int64_t steps);
  /// The steps to repeat, in a grid with these ends.
  std::shared_ptr<StepProgram> stepsWith(const GridEnds& ends) const;
  /// The number of steps, of these, until the next question.
  std::int64_t joined(std::int64_t steps) const;

  std::string label_;
  /// Their names are those within the program: "function 1 (stencil 'heat')".
  std::vector<StepFunction> functions_;
  StepData data_;
  /// Owners of the functions, and of the scalars' values.
  std::vector<std::shared_ptr<const void>> owners_;
  /// Of fields that are views and no boxes.
  BoxCopies boxes_;
  std::int64_t every_ = 0;
  std::function<bool(std::int64_t)> isDone_;
  /// The steps of the last run, and the ends of its grid; null: something has changed since.
  std::shared_ptr<StepProgram> steps_;
  GridEnds ends_;
};

}  // namespace hpl::stencils
