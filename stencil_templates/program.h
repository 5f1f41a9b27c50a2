// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "stencil_templates/detail/program_argument.h"
#include "stencil_templates/stencil.h"

/// Programs of several stencils that are applied again and again (Holewinski, Pouchet, Sadayappan
/// 2012, section 3: grids, fields, stencil functions, steps).
namespace hpl {

class StencilProgram;

namespace stencils {

class ProgramState;

/// The cells that a function is applied to: a range for each dimension, none: all; or those that
/// the functions before it leave out.
struct ProgramCells {
  std::vector<Range> region;
  bool areElsewhere = false;
};

/// The positions of a dimension whose cells are recorded, and whether the samples have the
/// dimension.
struct RecordPlace {
  Range range;
  bool isKept = true;
};

template <class A>
struct RecordedTraits {
  static constexpr int kRank = 0;
  using Element = void;
};
template <class T, int N>
struct RecordedTraits<Array<T, N>> {
  static constexpr int kRank = N;
  using Element = T;
};
template <class T, int N>
struct RecordedTraits<Temporary<T, N>> {
  static constexpr int kRank = N;
  using Element = T;
};

std::shared_ptr<ProgramState> makeProgram();
std::shared_ptr<ProgramState> copyOf(const ProgramState& program);
void nameProgram(ProgramState& program, const std::string& name);
void addFunction(ProgramState& program, const std::shared_ptr<StencilState>& stencil,
                 const ProgramCells& cells, std::vector<ProgramArgument> arguments);
void addRecord(ProgramState& program, const ProgramArgument& from, const ProgramArgument& samples,
               const std::vector<RecordPlace>& places);
void checkEvery(ProgramState& program, std::int64_t steps,
                std::function<bool(std::int64_t)> isDone);
StencilRun runProgram(ProgramState& program, const launch::LaunchOptions& options,
                      const IterationPlan& plan);
TuneResult tuneProgram(ProgramState& program, const launch::LaunchOptions& options,
                       const IterationPlan& plan);

}  // namespace stencils

/// A stencil function about to become part of a program: see StencilProgram::apply.
class StencilApplication {
 public:
  StencilApplication(StencilProgram& program, std::shared_ptr<stencils::StencilState> stencil)
      : program_(&program), stencil_(std::move(stencil)) {}

  /// The cells that the function is applied to, both ends included, one range for each dimension of
  /// the grid; default: all of it. Cells beyond it keep their values.
  template <class... R>
    requires(std::is_convertible_v<const R&, Range> && ...)
  StencilApplication& over(const R&... ranges) {
    cells_ = {{Range(ranges)...}, false};
    return *this;
  }

  /// Applies the function to those cells of its outputs that the functions before it do not write,
  /// such as the border around the cells that a stencil can compute. The call with the arrays
  /// throws ArgumentError if there are none, or others for each output.
  StencilApplication& elsewhere() {
    cells_ = {{}, true};
    return *this;
  }

  /// Inputs, outputs and scalars, in the order of the point function's parameters. Inputs and
  /// outputs are arrays or temporaries. An array that is both input and output gets new cells while
  /// the function reads the old ones. Throws ArgumentError and ShapeError that name the function,
  /// also if it reads cells of a temporary that no function before it has written; see
  /// StencilProgram.
  template <class... A>
  StencilProgram& operator()(A&&... arguments);

 private:
  StencilProgram* program_;
  std::shared_ptr<stencils::StencilState> stencil_;
  stencils::ProgramCells cells_;
};

/// Several stencils over the same grid, applied one after another, again and again:
///
///     StencilProgram waves;
///     waves.apply(magnetic)(hz, ex, ey, hz);                  // hz from hz, ex and ey
///     waves.apply(electric).over(Range(1, n - 1), Range(0, m - 1))(ex, hz, ex);
///     waves.run(1000);
///
/// The arrays are the program's fields; all have the shape of the grid. In each step the functions
/// run in the order in which they were applied. Each reads the cells as the functions before it
/// have left them, never its own results. The library does several steps per pass over memory where
/// that pays (time tiling), on one device or several.
///
/// A Temporary holds cells that only later functions of the step read. A chain of functions becomes
/// one kernel where that pays:
///
///     Temporary<float, 2> smooth;
///     StencilProgram edges;
///     edges.apply(blur)(picture, smooth);
///     edges.apply(slope)(smooth, result);
///     edges.run(1);
///
/// A copy is a program over the same fields that may get further functions of its own.
class StencilProgram : public StencilChoices<StencilProgram> {
 public:
  static constexpr const char* kCall = "StencilProgram";

  StencilProgram() : state_(stencils::makeProgram()) {}

  /// Names the program in messages.
  StencilProgram& label(const std::string& name) {
    stencils::nameProgram(state_.own(), name);
    return *this;
  }

  /// Adds a function: a point function, or a Stencil with boundaries.
  template <class F>
  StencilApplication apply(F function) {
    if constexpr (std::is_same_v<F, Stencil>) {
      return {*this, function.state_.shared()};
    } else {
      return {*this, Stencil(std::move(function)).state_.shared()};
    }
  }

  /// Records cells of an array, or of a Temporary, in each step, as the functions that were applied
  /// so far have left them there: receivers. `places` are those of a view, one for each dimension;
  /// none: all cells. In step s of run(n), from 0 on, they go to samples[s][...], whose further
  /// dimensions are those that `places` name by a Range; those named by a position are left out:
  ///
  ///     Array<float, 2> traces(steps, side);
  ///     program.record(pressure, traces, depth, Range(0, side - 1));   // a row
  ///
  /// The records are the same for all time tiles. The samples may be a view without strides; those
  /// of further steps than the run's stay as they are. Where steps share a launch, each of several
  /// devices records its own cells; elsewhere one of them records all. Throws ArgumentError and
  /// ShapeError that name the record: for places outside of the grid, samples of another shape, and
  /// samples that are an array of the program or hold those of another record. run(n) throws
  /// ArgumentError where there is no room for n samples.
  template <class A, class T, int M, class... R>
    requires(std::is_convertible_v<const R&, Range> && ...)
  StencilProgram& record(const A& from, Array<T, M>& samples, const R&... places) {
    using From = stencils::RecordedTraits<A>;
    static_assert(From::kRank > 0, "HPL: record(...) takes an Array or a Temporary of the program");
    static_assert(From::kRank <= 0 || std::is_same_v<typename From::Element, T>,
                  "HPL: record(...): the samples have the type of the recorded cells");
    static_assert(sizeof...(R) == 0 || sizeof...(R) == static_cast<std::size_t>(From::kRank),
                  "HPL: record(...) takes a position or a Range for each dimension, or none");
    constexpr int kKept =
        sizeof...(R) == 0 ? From::kRank : (0 + ... + (std::is_integral_v<R> ? 0 : 1));
    static_assert(From::kRank <= 0 || M == kKept + 1,
                  "HPL: record(...): the samples have a dimension for the steps, and one for each "
                  "Range");
    std::vector<stencils::RecordPlace> list{
        stencils::RecordPlace{Range(places), !std::is_integral_v<R>}...};
    stencils::addRecord(state_.own(), stencils::programArgument(from),
                        stencils::programArgument(samples), list);
    return *this;
  }

  /// Whether the functions of a step become one kernel; without this call the library chooses.
  /// Results are the same, but for floating-point contraction.
  StencilProgram& fuse(bool intoOneKernel) {
    plan_.fuse = intoOneKernel;
    plan_.fusion.reset();
    return *this;
  }
  /// One kernel of this form. run() throws LaunchError if the functions cannot have it.
  StencilProgram& fuse(Fusion how) {
    plan_.fuse = true;
    plan_.fusion = how;
    return *this;
  }

  /// Whether a run is one launch, or one after each question of every(), with the loop over the
  /// steps in the kernel (a persistent kernel); without this call the library chooses. Results are
  /// the same, but for floating-point contraction. With timeTile(T), groups exchange cells every T
  /// steps. run() then returns when the steps are done, and throws LaunchError where that is
  /// impossible: see StencilLauncher::persistent; also with fuse(false) and fuse(Fusion::Rows), and
  /// for programs whose steps do not see what the step before has written.
  StencilProgram& persistent(bool on = true) {
    plan_.persistent = on;
    return *this;
  }

  /// Asks after every `steps` steps whether the program is done. The arrays then hold the present
  /// state, and `isDone` may read them, launch kernels on them and change them. A program has one
  /// such question. Throws ArgumentError unless `steps` is positive.
  StencilProgram& every(std::int64_t steps, std::function<bool(std::int64_t step)> isDone) {
    stencils::checkEvery(state_.own(), steps, std::move(isDone));
    return *this;
  }

  /// Applies the functions `steps` times. The results are in the arrays. Returns when all steps are
  /// enqueued, or when the question of every() was answered with yes. Throws ArgumentError for 0 or
  /// fewer steps, programs without functions, fields that are read before they have a value, and
  /// temporaries that no function reads. Throws LaunchError and KernelError as stencils do.
  StencilRun run(std::int64_t steps) {
    stencils::IterationPlan plan = plan_;
    plan.steps = steps;
    return stencils::runProgram(*state_, options_, plan);
  }

  /// Time limit and progress of tune().
  StencilProgram& tuning(const TuneOptions& options) {
    plan_.tuning = options;
    return *this;
  }

  /// Measures which time tiles, if any, are fastest for runs of `steps` steps, as
  /// StencilIteration::tune does for one stencil. The arrays stay as they are. Blocks. Throws the
  /// errors of run(), and LaunchError for several devices and for no time.
  TuneResult tune(std::int64_t steps) {
    stencils::IterationPlan plan = plan_;
    plan.steps = steps;
    return stencils::tuneProgram(*state_, options_, plan);
  }

 private:
  friend class StencilApplication;
  stencils::OwnState<stencils::ProgramState> state_;
};

template <class... A>
StencilProgram& StencilApplication::operator()(A&&... arguments) {
  std::vector<stencils::ProgramArgument> list;
  const auto add = [&](auto& value) { list.push_back(stencils::programArgument(value)); };
  (stencils::forEachValue(add, arguments), ...);
  stencils::addFunction(program_->state_.own(), stencil_, cells_, std::move(list));
  return *program_;
}

}  // namespace hpl
