// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "hpl/error.h"
#include "stencil_templates/detail/residual.h"

namespace hpl::stencils {
namespace {

/// One iteration while it runs.
class Iteration {
 public:
  Iteration(StencilState& state, const launch::LaunchOptions& options,
            std::vector<StencilArgument> arguments)
      : options_(options), there_(std::move(arguments)) {
    inputs_ = state.signature().inputs.size();
    pairs_ = state.signature().outputs.size();
    kernel_ = state.kernelFor(options_, there_.data(), there_.size());
    checkPairs(state);
    back_ = there_;
    for (std::size_t k = 0; k < pairs_; ++k) std::swap(back_[k], back_[inputs_ + k]);
  }

  std::int64_t steps() const { return steps_; }
  const StencilArgument& firstOutput() const { return there_[inputs_]; }
  /// What the last step wrote, and what it read.
  const StencilArgument& now() const { return (steps_ % 2 != 0 ? there_ : back_)[inputs_]; }
  const StencilArgument& before() const { return (steps_ % 2 != 0 ? there_ : back_)[0]; }

  /// Gives the outputs the values of the cells that no step computes.
  void copyUntouched() const {
    const geometry::Extents& extents = there_.front().argument.view->extents;
    for (int d = 0; d < extents.rank(); ++d) {
      const std::int64_t last = extents[d] - 1;
      const std::int64_t low = std::min(kernel_->recipe.untouched(d, false), last + 1);
      const std::int64_t high = std::min(kernel_->recipe.untouched(d, true), last + 1);
      if (low > 0) copySlab(extents, d, 0, low - 1);
      if (high > 0) copySlab(extents, d, last + 1 - high, last);
    }
  }

  void step() {
    FRunner& runner = runners_[steps_ % 2];
    if (steps_ < 2) {
      runner = launchKernel(*kernel_, options_, (steps_ == 0 ? there_ : back_).data());
    } else {
      runner.run();
    }
    ++steps_;
  }

  /// Brings the result into the inputs.
  void finish() const {
    if (steps_ % 2 == 0) return;
    const geometry::Extents& extents = there_.front().argument.view->extents;
    for (std::size_t k = 0; k < pairs_; ++k) {
      const StencilArgument& in = there_[k];
      const StencilArgument& out = there_[inputs_ + k];
      if (isViewObject(in) || isViewObject(out)) {
        const std::vector<Range> all = wholeOf(extents);
        in.copy(in.array, out.array, all.data());
      } else {
        in.exchange(in.array, out.array);
      }
    }
  }

 private:
  /// The handle belongs to the view (`a(Range(...), ...)`): it must go on naming it.
  static bool isViewObject(const StencilArgument& argument) {
    return argument.argument.view->handle() == argument.array;
  }
  static std::vector<Range> wholeOf(const geometry::Extents& extents) {
    std::vector<Range> ranges;
    for (const std::int64_t extent : extents) ranges.emplace_back(0, extent - 1);
    return ranges;
  }

  void checkPairs(const StencilState& state) const {
    if (pairs_ > inputs_)
      throw ArgumentError(fmt::format(
          "{}: iterate(n) exchanges input k and output k after each step, but there are {} inputs "
          "and {} outputs",
          state.describe(), inputs_, pairs_));
    for (std::size_t k = 0; k < pairs_; ++k) {
      const ir::Type& in = there_[k].argument.type;
      const ir::Type& out = there_[inputs_ + k].argument.type;
      if (!(in == out))
        throw ArgumentError(fmt::format(
            "{}: iterate(n) exchanges input {} and output {} after each step, so they have the "
            "same type, but these are arrays of {} and {}",
            state.describe(), k + 1, k + 1, ir::describe(in), ir::describe(out)));
      if (there_[k].exchange == nullptr || there_[inputs_ + k].exchange == nullptr)
        throw ArgumentError(
            fmt::format("{}: iterate(n) writes to input {} and output {}, so neither may be const",
                        state.describe(), k + 1, k + 1));
    }
  }

  void copySlab(const geometry::Extents& extents, int dim, std::int64_t first,
                std::int64_t last) const {
    std::vector<Range> ranges = wholeOf(extents);
    ranges[static_cast<std::size_t>(dim)] = Range(first, last);
    for (std::size_t k = 0; k < pairs_; ++k) {
      const StencilArgument& out = there_[inputs_ + k];
      out.copy(out.array, there_[k].array, ranges.data());
    }
  }

  launch::LaunchOptions options_;
  std::shared_ptr<const StencilKernel> kernel_;
  std::size_t inputs_ = 0;
  std::size_t pairs_ = 0;
  /// The arguments of odd steps (the first one among them) and of even ones.
  std::vector<StencilArgument> there_;
  std::vector<StencilArgument> back_;
  FRunner runners_[2];
  std::int64_t steps_ = 0;
};

/// Steps with looks in between. A look is read after the next steps have been enqueued, so that the
/// devices never wait for the host.
StencilRun runUntil(Iteration& iteration, ResidualLooks& looks, std::int64_t steps,
                    const Until& until) {
  StencilRun run;
  std::int64_t look = 0;
  while (iteration.steps() < steps && !run.converged) {
    const std::int64_t more = std::min(until.every, steps - iteration.steps());
    for (std::int64_t s = 0; s < more; ++s) iteration.step();
    looks.launch(look, iteration.now(), iteration.before());
    if (look > 0) run.converged = looks.value(look - 1) < until.bound;
    ++look;
  }
  run.steps = iteration.steps();
  run.residual = looks.value(look - 1);
  run.converged = run.converged || run.residual < until.bound;
  return run;
}

}  // namespace

StencilRun iterateStencil(StencilState& state, const launch::LaunchOptions& options,
                          std::vector<StencilArgument> arguments, std::int64_t steps,
                          const Until& until) {
  if (steps < 0)
    throw ArgumentError(
        fmt::format("{}: iterate({}): the number of steps is negative", state.describe(), steps));
  Iteration iteration(state, options, std::move(arguments));
  StencilRun run{0, std::numeric_limits<double>::quiet_NaN(), false};
  if (steps == 0) return run;
  std::unique_ptr<ResidualLooks> looks;
  if (until.every > 0)
    looks = ResidualLooks::make(state.describe(), options, iteration.firstOutput(), until.residual);
  iteration.copyUntouched();
  if (looks != nullptr) {
    run = runUntil(iteration, *looks, steps, until);
  } else {
    for (std::int64_t s = 0; s < steps; ++s) iteration.step();
    run.steps = steps;
  }
  iteration.finish();
  return run;
}

}  // namespace hpl::stencils
