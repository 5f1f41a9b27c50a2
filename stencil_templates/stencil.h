// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "stencil_templates/boundary.h"
#include "stencil_templates/detail/own_state.h"
#include "stencil_templates/detail/point_function.h"
#include "stencil_templates/detail/residual_function.h"
#include "stencil_templates/detail/stencil_argument.h"
#include "stencil_templates/neighbourhood.h"

/// Stencils that the library launches: a point function over neighbourhoods, boundaries, and calls
/// on arrays.
namespace hpl {

/// The result of an iteration. Converts to the number of steps.
struct StencilRun {
  /// Number of the iterate that the arrays hold.
  std::int64_t steps = 0;
  /// The last residual that the host has read; NaN if none.
  double residual = 0;
  /// True if a residual was below the bound.
  bool converged = false;
  /// Launches that the steps took, on each of several devices; a persistent kernel does many steps
  /// in one. Looks and what brings results back are not counted.
  std::int64_t launches = 0;

  operator std::int64_t() const noexcept { return steps; }
};

/// How the functions of a program's step become one kernel.
enum class Fusion : std::uint8_t {
  /// Function after function on a box in a processor's cache, or in local memory.
  Tiles,
  /// All functions on a few rows at a time (planes in three dimensions): each computes its rows as
  /// soon as those that it reads are there. For CPUs.
  Rows
};

namespace stencils {

class StencilState;

std::shared_ptr<StencilState> makeState(std::shared_ptr<const PointFunction> point);
std::shared_ptr<StencilState> copyOf(const StencilState& state);
FRunner launchStencil(StencilState& state, const launch::LaunchOptions& options,
                      const StencilArgument* arguments, std::size_t count);

/// When to stop.
struct Until {
  double bound = 0;
  /// Steps between looks; 0: never look.
  std::int64_t every = 0;
  /// Null: the difference between output 1 and input 1.
  std::shared_ptr<const ResidualFunction> residual;
};

/// How far to iterate, and how.
struct IterationPlan {
  std::int64_t steps = 0;
  Until until;
  /// Steps per pass over memory, and the cells of a tile; 0: chosen by the library.
  int timeTile = 0;
  Domain tile;
  /// For programs: whether the functions of a step are one kernel; empty: chosen by the library.
  std::optional<bool> fuse;
  /// And how; empty: chosen by the library.
  std::optional<Fusion> fusion;
  /// Whether all steps of an iteration are one launch; empty: chosen by the library.
  std::optional<bool> persistent;
  TuneOptions tuning;
};

StencilRun iterateStencil(StencilState& state, const launch::LaunchOptions& options,
                          std::vector<StencilArgument> arguments, const IterationPlan& plan);
TuneResult tuneIteration(StencilState& state, const launch::LaunchOptions& options,
                         std::vector<StencilArgument> arguments, const IterationPlan& plan);

}  // namespace stencils

/// A stencil to be applied several times: `heat.iterate(1000)(a, b, 0.1f)`.
class StencilIteration {
 public:
  StencilIteration(std::shared_ptr<stencils::StencilState> state, launch::LaunchOptions options,
                   stencils::IterationPlan plan)
      : state_(std::move(state)), options_(std::move(options)), plan_(std::move(plan)) {}

  /// Applies the stencil to the arrays in turns. Input k and output k, of one type, exchange their
  /// roles after each step; inputs beyond the outputs stay the same. The result is always in the
  /// inputs, and some earlier state in the outputs. After an odd number of launches the two handles
  /// exchange the arrays that they name, so that no cell is copied. Views cannot exchange and are
  /// copied. Other handles to the same storage do not follow. Cells that an Untouched face leaves
  /// out keep the values of the input.
  ///
  /// Where it pays, a launch does several steps (time tiling): see StencilLauncher::timeTile.
  ///
  /// Or all steps are one launch (a persistent kernel): see StencilLauncher::persistent.
  ///
  /// Returns when all steps are enqueued, or, of a persistent kernel, done; with until(...) when
  /// the bound is reached, or all steps are. Long iterations try other tiles meanwhile, and wait
  /// for the steps that are timed (HPL_TUNE=quick, the default). Throws the errors of a single
  /// launch, and ArgumentError for a negative number of steps, pairs of different types, and const
  /// arrays in pairs.
  template <class... A>
  StencilRun operator()(A&&... arguments) const {
    const auto list = stencils::stencilArguments(arguments...);
    return stencils::iterateStencil(*state_, options_, {list.begin(), list.end()}, plan_);
  }

  /// Time limit and progress of tune().
  StencilIteration& tuning(const TuneOptions& options) {
    plan_.tuning = options;
    return *this;
  }

  /// Measures which time tiles, if any, are fastest: `heat.iterate(1000).tune(a, b, 0.1f)`. The
  /// arrays stay as they are. Blocks. Later iterations, also of other processes, use the finding,
  /// with the same results: iterations of the same stencil, on arrays of the same shape, for the
  /// same number of steps (64 and more count as the same). Times in the result are those of one
  /// step. Does nothing under HPL_TUNE=off. Throws the errors of an iteration, LaunchError for
  /// several devices and for no time, and AllocationError if there is no room for scratch arrays of
  /// the outputs' sizes.
  template <class... A>
  TuneResult tune(A&&... arguments) const {
    const auto list = stencils::stencilArguments(arguments...);
    return stencils::tuneIteration(*state_, options_, {list.begin(), list.end()}, plan_);
  }

 private:
  std::shared_ptr<stencils::StencilState> state_;
  launch::LaunchOptions options_;
  stencils::IterationPlan plan_;
};

/// A bound for the residual, before the largest number of steps is named.
class StencilUntil {
 public:
  StencilUntil(std::shared_ptr<stencils::StencilState> state, launch::LaunchOptions options,
               stencils::IterationPlan plan)
      : state_(std::move(state)), options_(std::move(options)), plan_(std::move(plan)) {}

  /// At most this many steps.
  StencilIteration iterate(std::int64_t steps) const {
    stencils::IterationPlan plan = plan_;
    plan.steps = steps;
    return {state_, options_, std::move(plan)};
  }

 private:
  std::shared_ptr<stencils::StencilState> state_;
  launch::LaunchOptions options_;
  stencils::IterationPlan plan_;
};

namespace stencils {

void chooseTimeTile(IterationPlan& plan, int steps, const Domain& tile);

}  // namespace stencils

/// Where and how stencils are launched. `Self` is the class that the choices are made for.
template <class Self>
class StencilChoices : public launch::DeviceChoice<Self> {
 public:
  /// The call in messages.
  static constexpr const char* kCall = "Stencil";

  /// Steps per pass over memory (time tiling). 1 launches each step by itself; without this call
  /// the library chooses. Results are the same, but for floating-point contraction. Throws
  /// ArgumentError unless positive. The launch throws LaunchError if the device cannot hold the
  /// boxes of this many steps.
  Self& timeTile(int steps) { return timeTile(steps, {}); }
  /// The same, in tiles of `tile` cells: Domain(x, y) in two dimensions.
  Self& timeTile(int steps, const Domain& tile) {
    stencils::chooseTimeTile(plan_, steps, tile);
    return static_cast<Self&>(*this);
  }

 protected:
  ~StencilChoices() = default;
  StencilChoices() = default;
  StencilChoices(const StencilChoices&) = default;
  StencilChoices& operator=(const StencilChoices&) = default;

  stencils::IterationPlan plan_;
};

/// A stencil about to be launched somewhere: `heat.devices(4)(in, out, 0.1f)`.
class StencilLauncher : public StencilChoices<StencilLauncher> {
 public:
  explicit StencilLauncher(std::shared_ptr<stencils::StencilState> state)
      : state_(std::move(state)) {}

  /// Size of the work-groups; default: chosen for the device.
  StencilLauncher& local(const Domain& domain) {
    options_.local = domain;
    return *this;
  }

  /// Whether iterate(n) is one launch, with the loop over the steps in the kernel (a persistent
  /// kernel); without this call the library chooses. Results are the same, but for floating-point
  /// contraction. With timeTile(T), groups exchange cells every T steps. An iteration that is one
  /// launch returns when all steps are done. On several devices it is one launch on each, whose
  /// groups exchange cells by themselves, between nodes by messages of the courier. It throws
  /// LaunchError where that is impossible: on devices that take unequal parts, that do not work in
  /// the host's memory together, or that do not run all groups at once, for tiles that do not fit
  /// into local memory.
  StencilLauncher& persistent(bool on = true) {
    plan_.persistent = on;
    return *this;
  }

  /// Applies the stencil once: `heat(in..., out..., scalars...)`, as Stencil says.
  template <class... A>
  FRunner operator()(A&&... arguments) const {
    const auto list = stencils::stencilArguments(arguments...);
    return stencils::launchStencil(*state_, options_, list.data(), list.size());
  }

  /// Several steps; see StencilIteration.
  StencilIteration iterate(std::int64_t steps) const {
    stencils::IterationPlan plan = plan_;
    plan.steps = steps;
    return {state_, options_, std::move(plan)};
  }

  /// Stops an iteration when the residual, the largest |now - before| of output 1, is below
  /// `bound`. The devices compute it every `every` steps, and the host reads it while the next
  /// steps run. So the iteration goes up to `every` steps further than necessary; StencilRun says
  /// which iterate it ended with. NaN never is below a bound. Throws ArgumentError unless both are
  /// positive.
  StencilUntil until(double bound, std::int64_t every) const { return untilWith(bound, every, {}); }
  /// The same with another residual of each cell, a kernel-language function of two scalars such as
  /// `[](Float now, Float before) { return fabs(now - before) / fabs(now); }`.
  template <class R>
  StencilUntil until(double bound, std::int64_t every, R residual) const {
    return untilWith(bound, every, stencils::makeResidual(std::move(residual)));
  }

 private:
  StencilUntil untilWith(double bound, std::int64_t every,
                         std::shared_ptr<const stencils::ResidualFunction> residual) const;

  std::shared_ptr<stencils::StencilState> state_;
};

/// A stencil computes each cell of a domain of one to three dimensions from the cells around it.
///
///     Stencil heat([](Neighbourhood<float, 2> t, Float alpha) {
///       return t(0, 0) + alpha * (t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1) - 4 * t(0, 0));
///     });
///     heat.boundary(Nearest());
///     heat(in, out, 0.1f);
///
/// The point function is a function, lambda or functor of the kernel language. It takes one
/// Neighbourhood<T, N> for each input, then an Output<T> for each output (none when it returns the
/// value of its only output), then scalars such as Float. The library finds out how far it reads.
/// All inputs and outputs of a launch have the same shape. Views with strides, of another shape or
/// transposed are copied to arrays of their own, and back where they are written. Keep the object:
/// each one is captured once per kind of device. Copies share the captured code until one of them
/// gets another boundary or label, which leaves the others as they are.
class Stencil {
 public:
  template <class F>
    requires(!std::is_same_v<F, Stencil>)
  explicit Stencil(F pointFunction)
      : state_(stencils::makeState(stencils::makePointFunction(std::move(pointFunction)))) {}

  /// Names the stencil in messages.
  Stencil& label(const std::string& name);

  /// Sets the boundary of all faces of all inputs, of one face, of one input (counted from 1), or
  /// of one face of one input. The last call for a face wins. Once any boundary is set, every face
  /// beyond which the stencil reads needs one, though that may be Untouched(). Throws ArgumentError
  /// for an input or a face that the stencil does not have, and for a Computed function that takes
  /// another number of coordinates.
  Stencil& boundary(const Boundary& boundary);
  Stencil& boundary(Face face, const Boundary& boundary);
  Stencil& boundary(int input, const Boundary& boundary);
  Stencil& boundary(int input, Face face, const Boundary& boundary);

  /// Applies the stencil once on the default device: inputs, then outputs, then scalars. Returns at
  /// once; the FRunner repeats the launch. Throws the errors of eval, and
  /// - ArgumentError for a wrong number or type of arguments, for an output that is also an input
  ///   (cells would be read after they were overwritten), for faces without a boundary and for
  ///   boundaries that do not fit;
  /// - ShapeError for shapes that differ or are smaller than the stencil's reach;
  /// - KernelError if the point function is not a stencil.
  template <class... A>
  FRunner operator()(A&&... arguments) const {
    const auto list = stencils::stencilArguments(arguments...);
    return stencils::launchStencil(*state_, {}, list.data(), list.size());
  }

  /// Where and how to launch: see StencilLauncher.
  template <class... X>
  StencilLauncher device(const X&... which) const {
    return launcher().device(which...);
  }
  StencilLauncher devices() const { return launcher().devices(); }
  StencilLauncher devices(int n) const { return launcher().devices(n); }
  StencilLauncher devices(DeviceType type, int n) const { return launcher().devices(type, n); }
  StencilLauncher devices(const std::vector<Device>& list) const {
    return launcher().devices(list);
  }
  StencilLauncher weights(const std::vector<double>& shares) const {
    return launcher().weights(shares);
  }
  StencilLauncher weights(std::initializer_list<double> shares) const {
    return launcher().weights(shares);
  }
  StencilLauncher weights(MeasuredWeights measured) const { return launcher().weights(measured); }
  StencilLauncher blocks(const Domain& grid) const { return launcher().blocks(grid); }
  StencilLauncher local(const Domain& domain) const { return launcher().local(domain); }
  StencilLauncher fp(FpMode mode) const { return launcher().fp(mode); }
  StencilLauncher persistent(bool on = true) const { return launcher().persistent(on); }
  StencilLauncher timeTile(int steps) const { return launcher().timeTile(steps); }
  StencilLauncher timeTile(int steps, const Domain& tile) const {
    return launcher().timeTile(steps, tile);
  }
  StencilIteration iterate(std::int64_t steps) const { return launcher().iterate(steps); }
  StencilUntil until(double bound, std::int64_t every) const {
    return launcher().until(bound, every);
  }
  template <class R>
  StencilUntil until(double bound, std::int64_t every, R residual) const {
    return launcher().until(bound, every, std::move(residual));
  }

  /// The reach of the point function beyond a face, in cells: the largest of all inputs, or that of
  /// one input (counted from 1). Throws ArgumentError for a face or an input that the stencil does
  /// not have.
  std::int64_t reach(Face face) const;
  std::int64_t reach(int input, Face face) const;

 private:
  friend class StencilProgram;
  StencilLauncher launcher() const { return StencilLauncher(state_.shared()); }

  stencils::OwnState<stencils::StencilState> state_;
};

}  // namespace hpl
