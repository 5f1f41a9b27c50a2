// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "stencil_templates/detail/skeleton_choices.h"
#include "stencil_templates/detail/skeleton_motion.h"
#include "stencil_templates/pattern.h"
#include "stencil_templates/program.h"
#include "stencil_templates/stencil.h"

/// A whole iterative computation from a description: arrays, devices, exchanges and the loop are
/// the library's (de Castro et al., EPSILOD: efficient parallel skeleton for generic iterative
/// stencil computations in distributed GPUs, J. Supercomputing 2023, section 4).
namespace hpl {

/// The result of a skeleton.
template <class T, int N>
struct SkeletonResult {
  /// One array for each field; patterns and stencils have one.
  std::vector<Array<T, N>> fields;
  std::int64_t iterations = 0;
  /// From the initial values to the end of the last step on this process's devices. The first step
  /// brings the initial values to the devices. Compiling is not part of it.
  double seconds = 0;

  Array<T, N>& cells() { return fields.front(); }
};

namespace stencils {

[[noreturn]] void refuseChoice(const char* choice, const char* reason);
[[noreturn]] void refuseDimensions(int given, int wanted);
[[noreturn]] void refuseField(int field, int fields);
[[noreturn]] void rethrowWithBlocks(const LaunchError& error);

}  // namespace stencils

/// An iterative stencil computation on all devices of all ranks:
///
///     StencilPattern jacobi({{-1, 1}, {-1, 1}}, {0, 1, 0,
///                                                1, 0, 1,
///                                                0, 1, 0}, 4);
///     StencilSkeleton<float, 2> heat(jacobi);
///     heat.init([](const LocalPart<float, 2>& part) { if (part.atBegin(0)) ...; });
///     heat.output([](const LocalPart<const float, 2>& part) { ... });
///     heat.run({rows, columns}, 1000);
///
/// Each run() makes arrays of its own, so one skeleton may run several times, with other sizes, and
/// several skeletons may take turns (it is reentrant). With several ranks run() is a collective
/// call.
///
/// Arrays are cut into bands of the first dimension, or blocks(). A step moves only the cells that
/// the stencil reads across a cut, and none after the last step. Parts are computed borders first,
/// with the exchange beside the interior, where that pays (HPL_OVERLAP); those of native kernels()
/// are computed at once.
template <class T, int N>
class StencilSkeleton {
 public:
  /// Cells along each dimension, slowest first.
  using Sizes = std::array<std::int64_t, N>;
  using Fields = std::vector<Array<T, N>>;
  using Init = std::function<void(const LocalPart<T, N>&)>;
  using Output = std::function<void(const LocalPart<const T, N>&)>;
  using Build = std::function<void(StencilProgram&, Fields&)>;

  /// Each cell becomes the weighted sum of its neighbours. Cells that lack neighbours keep their
  /// initial values. The kernel is specific to the pattern, see generic(). T is float or double, N
  /// from 1 to 8; beyond three dimensions the cut is that of PatternStencil. Throws ArgumentError
  /// unless N is the pattern's number of dimensions.
  explicit StencilSkeleton(const StencilPattern& pattern)
    requires std::is_floating_point_v<T>
      : pattern_(std::make_shared<const StencilPattern>(pattern)) {
    if (pattern.dimensions() != N) stencils::refuseDimensions(pattern.dimensions(), N);
    specific_ =
        std::make_shared<stencils::PatternStep>(pattern_->plan(), stencils::specificPattern<T>);
  }

  /// A stencil of one input and one output, with its boundaries.
  explicit StencilSkeleton(const Stencil& stencil)
    requires(N <= 3)
      : stencil_(std::make_shared<const Stencil>(stencil)) {}

  /// A program over `fields` fields: `build` applies its functions to them, for each run() anew.
  /// Throws ArgumentError unless there is a field and a function.
  StencilSkeleton(int fields, Build build)
    requires(N <= 3)
      : build_(std::move(build)), fieldCount_(fields) {
    if (fields < 1) stencils::refuseChoice("a program", "it needs at least one field");
    if (!build_)
      stencils::refuseChoice("a program", "the function that applies its stencils is empty");
  }

  /// The generic kernel: it reads all cells of the pattern's box, also those of weight 0, and their
  /// weights from memory. Throws ArgumentError for what is no pattern.
  StencilSkeleton& generic() {
    requirePattern("generic()");
    kernel_ = nullptr;
    if constexpr (std::is_floating_point_v<T>) {
      generic_ = std::make_shared<stencils::PatternStep>(pattern_->plan(), stencils::boxPattern<T>);
    }
    return *this;
  }

  /// A kernel by hand, of the kernel language or native: f(out, in, scalars...). It gets a part
  /// with the ghosts that the pattern's shape asks for, computes the cells that have all neighbours
  /// of the shape in that part, and leaves the others as they are; a native one therefore takes an
  /// InOut array and an In array. The pattern's weights are not used. Throws ArgumentError for what
  /// is no pattern; run() throws what eval(f) throws, as for a wrong number of arguments.
  template <class F, class... Scalars>
  StencilSkeleton& kernel(F f, Scalars... scalars) {
    static_assert(N <= 3, "HPL: kernels by hand have one to three dimensions");
    static_assert((ElementType<Scalars> && ...),
                  "HPL: what follows the kernel are scalars; its arrays are the skeleton's");
    requirePattern("kernel(f)");
    generic_ = nullptr;
    kernel_ = [f, scalars...](const launch::LaunchOptions& options, const launch::Argument& in,
                              const launch::Argument& out) {
      const launch::Argument list[] = {out, in, launch::makeArgument(scalars)...};
      return launch::launch(launch::entryOf<std::decay_t<F>>(f), options, list);
    };
    return *this;
  }

  /// Sets the initial values of field `field` (counted from 0): called for each part that this
  /// process owns, with its place and the faces that lie on the edge of the domain. Without it they
  /// are zero. `f` must not launch kernels or touch arrays, since ranks call it different numbers
  /// of times.
  StencilSkeleton& init(Init f) { return init(0, std::move(f)); }
  StencilSkeleton& init(int field, Init f) {
    checkField(field);
    inits_.resize(static_cast<std::size_t>(fieldCount_));
    inits_[static_cast<std::size_t>(field)] = std::move(f);
    return *this;
  }
  /// Gets the results after the last step, in the same way; the parts that this process owns only.
  StencilSkeleton& output(Output f) { return output(0, std::move(f)); }
  StencilSkeleton& output(int field, Output f) {
    checkField(field);
    outputs_.resize(static_cast<std::size_t>(fieldCount_));
    outputs_[static_cast<std::size_t>(field)] = std::move(f);
    return *this;
  }

  /// The devices; default: all of the default device's type. run() throws LaunchError for one that
  /// is named twice.
  StencilSkeleton& devices(const std::vector<Device>& list) {
    if (list.empty())
      stencils::refuseChoice("devices(...)", "the list is empty; name at least one");
    choices_.devices = list;
    return *this;
  }
  /// Shares in proportion, one number per device, or as they are measured in the first run.
  StencilSkeleton& weights(const std::vector<double>& shares) {
    if (shares.empty())
      stencils::refuseChoice("weights(...)", "the list is empty; give one for each device");
    choices_.weights = shares;
    choices_.measured = false;
    return *this;
  }
  StencilSkeleton& weights(MeasuredWeights) {
    choices_.weights.clear();
    choices_.measured = true;
    return *this;
  }
  /// Blocks along each dimension, slowest first, one block for each device: `blocks({2, 2})`. With
  /// weights each row of blocks is divided by itself. A native kernel() is cut into bands only:
  /// run() throws LaunchError.
  StencilSkeleton& blocks(const std::vector<std::int64_t>& counts) {
    if (counts.empty())
      stencils::refuseChoice("blocks(...)", "the list is empty; give a number for each dimension");
    choices_.blocks = counts;
    return *this;
  }
  /// How floating point is treated; default: HPL_FP.
  StencilSkeleton& fp(FpMode mode) {
    choices_.fp = mode;
    return *this;
  }
  /// Asks after every `steps` steps whether the computation is done; the devices have then finished
  /// them. Ranks must answer alike. Throws ArgumentError unless `steps` is positive.
  StencilSkeleton& every(std::int64_t steps, std::function<bool(std::int64_t iteration)> isDone) {
    if (steps < 1) stencils::refuseChoice("every(...)", "the number of steps must be positive");
    if (!isDone) stencils::refuseChoice("every(...)", "the question is empty; give a function");
    choices_.every = steps;
    choices_.isDone = std::move(isDone);
    return *this;
  }

  /// Computes. Waits for this process's devices. Throws
  /// - ShapeError for dimensions without cells or smaller than the pattern;
  /// - ArgumentError for a negative number of iterations;
  /// - LaunchError for weights that are not one positive number per device, and for blocks that are
  ///   not one per device;
  /// - what the functions given to it, and the launches, throw.
  SkeletonResult<T, N> run(const Sizes& sizes, std::int64_t iterations) const {
    stencils::checkSkeleton({sizes.begin(), sizes.end()}, iterations, choices_,
                            pattern_ != nullptr ? &pattern_->shape() : nullptr);
    const std::unique_ptr<Motion> motion = motionFor(sizes);
    if (iterations > 0) rehearse(*motion);
    fill(*motion, iterations > 0);
    SkeletonResult<T, N> result = advance(*motion, iterations);
    for (std::size_t field = 0; field < static_cast<std::size_t>(fieldCount_); ++field)
      result.fields.push_back(std::move(motion->now(field)));
    for (std::size_t field = 0; field < outputs_.size(); ++field) {
      if (!outputs_[field]) continue;
      const Array<T, N>& cells = result.fields[field];
      forEachLocal(cells, outputs_[field]);
    }
    return result;
  }

 private:
  using Motion = stencils::SkeletonMotion<T, N>;

  void requirePattern(const char* choice) const {
    if (pattern_ == nullptr)
      stencils::refuseChoice(choice, "only a pattern has one; this is a stencil or a program");
  }
  void checkField(int field) const {
    if (field < 0 || field >= fieldCount_) stencils::refuseField(field, fieldCount_);
  }

  std::unique_ptr<Motion> motionFor(const Sizes& sizes) const {
    if constexpr (N <= 3) {
      if (stencil_ != nullptr) {
        StencilLauncher launcher = stencil_->devices(stencils::devicesOf(choices_));
        stencils::chooseFor(launcher, choices_, N);
        return std::make_unique<stencils::StencilMotion<T, N>>(std::move(launcher), sizes);
      }
      if (build_) {
        return std::make_unique<stencils::ProgramMotion<T, N>>(fieldCount_, build_, choices_,
                                                               sizes);
      }
    }
    return std::make_unique<stencils::TurnMotion<T, N>>(turn(), sizes);
  }

  stencils::SkeletonTurn turn() const {
    stencils::SkeletonTurn turn;
    turn.launch = launchOf();
    if (choices_.blocks.empty() && mayBeAnnotated()) {
      turn.options = stencils::cutByAnnotation(choices_);
      turn.annotation = stencils::bandsFor(pattern_->shape());
    } else {
      turn.options = stencils::cutByLibrary(choices_, N);
    }
    return turn;
  }

  /// Whether the ghosts of annotated bands are the cells that are read across their cuts. A pattern
  /// whose shape is wider than its neighbours reads fewer.
  bool mayBeAnnotated() const {
    if (N > 3) return false;
    if (kernel_ || generic_ != nullptr) return true;
    std::pair<int, int> widest{0, 0};
    for (const PatternNeighbour& n : pattern_->neighbours()) {
      widest.first = std::min(widest.first, n.offset[0]);
      widest.second = std::max(widest.second, n.offset[0]);
    }
    return widest == pattern_->shape().front();
  }

  stencils::SkeletonTurn::Launch launchOf() const {
    if (kernel_) return kernel_;
    if constexpr (std::is_floating_point_v<T>) {
      if (generic_ != nullptr) {
        return [pattern = pattern_, step = generic_](const launch::LaunchOptions& options,
                                                     const launch::Argument& in,
                                                     const launch::Argument& out) {
          const launch::Argument weights =
              launch::makeArgument(pattern->template weightsOnDevices<T, N>());
          const T factor = static_cast<T>(pattern->factor());
          return step->launchBox(options, in, out, weights, launch::makeArgument(factor));
        };
      }
    }
    return
        [step = specific_](const launch::LaunchOptions& options, const launch::Argument& in,
                           const launch::Argument& out) { return step->launch(options, in, out); };
  }

  void rehearse(Motion& motion) const {
    try {
      motion.rehearse();
    } catch (const LaunchError& error) {
      if (!kernel_ || choices_.blocks.empty()) throw;
      stencils::rethrowWithBlocks(error);
    }
  }

  void fill(Motion& motion, bool isRehearsed) const {
    if (isRehearsed) motion.clear();
    bool isClear = true;
    for (std::size_t field = 0; field < inits_.size(); ++field) {
      if (!inits_[field]) continue;
      isClear = false;
      forEachLocal(motion.start(field), inits_[field]);
    }
    if (isRehearsed) motion.begin(isClear);
  }

  SkeletonResult<T, N> advance(Motion& motion, std::int64_t iterations) const {
    const std::vector<Device> devices = stencils::devicesOf(choices_);
    stencils::waitFor(devices);
    SkeletonResult<T, N> result;
    const auto begin = std::chrono::steady_clock::now();
    for (bool isDone = false; result.iterations < iterations && !isDone;) {
      const std::int64_t left = iterations - result.iterations;
      const std::int64_t steps = choices_.every > 0 ? std::min(choices_.every, left) : left;
      motion.advance(steps);
      result.iterations += steps;
      if (choices_.every == 0) break;
      stencils::waitFor(devices);
      isDone = choices_.isDone(result.iterations);
    }
    stencils::waitFor(devices);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }

  std::shared_ptr<const StencilPattern> pattern_;
  std::shared_ptr<const stencils::PatternStep> specific_;
  std::shared_ptr<const stencils::PatternStep> generic_;
  stencils::SkeletonTurn::Launch kernel_;
  std::shared_ptr<const Stencil> stencil_;
  Build build_;
  int fieldCount_ = 1;
  std::vector<Init> inits_;
  std::vector<Output> outputs_;
  stencils::SkeletonChoices choices_;
};

}  // namespace hpl
