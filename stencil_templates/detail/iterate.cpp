// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "hpl/error.h"
#include "stencil_templates/detail/iteration_bench.h"
#include "stencil_templates/detail/persistent_choice.h"
#include "stencil_templates/detail/program_cells.h"
#include "stencil_templates/detail/residual.h"
#include "stencil_templates/detail/spinning.h"
#include "stencil_templates/detail/tile_race.h"
#include "stencil_templates/detail/time_choice.h"

namespace hpl::stencils {
namespace {

/// One iteration while it runs.
class Iteration final : public Stepper {
 public:
  Iteration(StencilState& state, const launch::LaunchOptions& options,
            std::vector<StencilArgument> arguments, std::int64_t steps)
      : state_(state),
        options_(options),
        signature_(state.signature()),
        there_(std::move(arguments)) {
    inputs_ = signature_.inputs.size();
    pairs_ = signature_.outputs.size();
    kernel_ = state_.kernelFor(options_, there_.data(), there_.size(), true);
    checkPairs();
    changes_ = kernel_->changes();
    if (changes_) state_.makeTables(there_, std::max<std::int64_t>(steps, 1));
    back_ = there_;
    for (std::size_t k = 0; k < pairs_; ++k) std::swap(back_[k], back_[inputs_ + k]);
  }

  /// To be called before advance().
  void chooseTile(const IterationPlan& plan) {
    const TimeWish wish = this->wish(plan);
    const geometry::Extents& shape = there_.front().argument.view->extents;
    std::array<std::int64_t, 3> extents{1, 1, 1};
    for (int d = 0; d < shape.rank(); ++d) extents[static_cast<std::size_t>(d)] = shape[d];
    choice_ = state_.timeChoices().find(wish, kernel_.get(), options_, extents, [&] {
      if (isTunedFirst(options_)) {
        IterationBench bench(state_, kernel_, wish, options_, there_);
        layout::tuneFirst(bench);
      }
      const TimeRecipe& recipe = state_.timeKernelFor(*kernel_, {})->recipe;
      // Who asks for one launch does not want to hear of others.
      TimeChoice choice;
      if (wish.persistent != true) choice.tile = chooseTimeTile(wish, recipe, options_, extents);
      choice.kept = choosePersistent(wish, recipe, options_, extents, choice.tile);
      if (wish.persistent == true && !choice.kept)
        choice.tile = chooseTimeTile(wish, recipe, options_, extents);
      choice.race = raceFor(wish, recipe, options_, extents, choice.tile, {});
      return choice;
    });
    const std::int64_t steps = std::max(wish.steps, wish.lookedSteps);
    if (!choice_.kept || steps < choice_.kept->leastSteps) return;
    if (choice_.kept->tile.looks) {
      looked_ = choice_.kept->tile;
      return;
    }
    streamed_ = std::exchange(choice_.tile, choice_.kept->tile);
    choice_.race = nullptr;
  }

  TuneResult tune(const IterationPlan& plan) {
    IterationBench bench(state_, kernel_, wish(plan), options_, there_);
    TuneResult result = tuneTiles("iterate(...).tune(...)", bench, plan.tuning);
    // Iterations from now on look again.
    state_.timeChoices().clear();
    return result;
  }

  std::int64_t steps() const { return steps_; }
  const StencilArgument& firstOutput() const { return there_[inputs_]; }
  /// What the last launch wrote, and what it read.
  const StencilArgument& now() const { return (launches_ % 2 != 0 ? there_ : back_)[inputs_]; }
  const StencilArgument& before() const { return (launches_ % 2 != 0 ? there_ : back_)[0]; }

  /// Enqueues some steps, in the tiles that were chosen or are being tried.
  void advance(std::int64_t steps) {
    if (choice_.race != nullptr) return choice_.race->advance(*this, steps);
    advance(choice_.tile, steps);
  }

  /// As many steps per launch as the tile has, and about the same number in all.
  void advance(const TimeTile& tile, std::int64_t steps) override {
    if (tile.form == TimeForm::Persistent && steps > 1) return persist(tile, steps);
    while (steps > 0) {
      const std::int64_t launches = (steps + tile.depth - 1) / tile.depth;
      const std::int64_t now = (steps + launches - 1) / launches;
      launch(tile, now);
      steps -= now;
    }
  }
  std::int64_t launches() const override { return launches_; }

  /// The most steps of a launch whose groups look at the result; 0: there is none.
  std::int64_t mostLooked(const Until& until) const {
    return looked_ ? mostSteps(gridOf(there_.front().argument.view->extents)) / until.every *
                         until.every
                   : 0;
  }
  /// Does at most so many steps in one launch, with looks; nothing where that did not work out: no
  /// step was done.
  std::optional<PersistentResult> advanceLooking(std::int64_t steps, const Until& until) {
    std::shared_ptr<const TimeKernel>& kernel = kernels_[*looked_];
    if (kernel == nullptr) kernel = state_.timeKernelFor(*kernel_, *looked_, until.residual);
    std::optional<PersistentResult> done;
    if (!kernel->isRejected) done = persistOnce(*kernel, steps, {until.every, until.bound});
    if (!done) {
      looked_.reset();
      return done;
    }
    ++launches_;
    steps_ += done->steps;
    return done;
  }
  void wait() override { devicesOf(options_).front().sync(); }

  /// Brings the result into the inputs.
  void finish() const {
    if (launches_ % 2 == 0) return;
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
  TimeWish wish(const IterationPlan& plan) const {
    // Until a look at the residual, the last step is one by itself.
    const std::int64_t joined =
        plan.until.every > 0 ? std::min(plan.steps, plan.until.every) - 1 : plan.steps;
    const geometry::Extents& shape = there_.front().argument.view->extents;
    TimeWish wish = wishOf(state_.describe(), plan, shape.rank(), joined);
    wish.isRankLocal = there_.front().argument.view->root().isRankLocal();
    if (plan.until.every > 0 && plan.until.every <= mostSteps(gridOf(shape)))
      wish.lookedSteps = plan.steps;
    return wish;
  }

  /// The arguments of the next launch, with their present values.
  const std::vector<StencilArgument>& present() {
    std::vector<StencilArgument>& arguments = launches_ % 2 == 0 ? there_ : back_;
    if (!changes_) return arguments;
    for (StencilArgument& argument : arguments)
      if (argument.table != nullptr) argument.argument = argument.table->at(steps_);
    return arguments;
  }

  void launch(const TimeTile& tile, std::int64_t steps) {
    const Kind kind{launches_ % 2 != 0, steps, steps > 1 ? tile : TimeTile()};
    const std::vector<StencilArgument>& arguments = present();
    // Runners repeat the values that they were made with.
    if (const auto known = runners_.find(kind); known != runners_.end() && !changes_) {
      known->second.run();
    } else if (steps == 1) {
      runners_[kind] = launchKernel(*kernel_, options_, arguments.data());
    } else {
      std::shared_ptr<const TimeKernel>& kernel = kernels_[tile];
      if (kernel == nullptr) kernel = state_.timeKernelFor(*kernel_, tile);
      if (kernel->isRejected) return advance(TimeTile(), steps);
      try {
        runners_[kind] =
            launchSteps(*kernel, options_, signature_, arguments, static_cast<int>(steps), steps_);
      } catch (const BuildError& error) {
        reject(*kernel, state_.describe(), error);
        return advance(TimeTile(), steps);
      }
    }
    ++launches_;
    steps_ += steps;
  }

  /// The handle belongs to the view (`a(Range(...), ...)`): it must go on naming it.
  static bool isViewObject(const StencilArgument& argument) {
    return argument.argument.view->handle() == argument.array;
  }
  static std::vector<Range> wholeOf(const geometry::Extents& extents) {
    std::vector<Range> ranges;
    for (const std::int64_t extent : extents) ranges.emplace_back(0, extent - 1);
    return ranges;
  }

  void checkPairs() const {
    if (pairs_ > inputs_)
      throw ArgumentError(fmt::format(
          "{}: iterate(n) exchanges input k and output k after each step, but there are {} inputs "
          "and {} outputs",
          state_.describe(), inputs_, pairs_));
    for (std::size_t k = 0; k < pairs_; ++k) {
      const ir::Type& in = there_[k].argument.type;
      const ir::Type& out = there_[inputs_ + k].argument.type;
      if (!(in == out))
        throw ArgumentError(fmt::format(
            "{}: iterate(n) exchanges input {} and output {} after each step, so they have the "
            "same type, but these are arrays of {} and {}",
            state_.describe(), k + 1, k + 1, ir::describe(in), ir::describe(out)));
      if (there_[k].exchange == nullptr || there_[inputs_ + k].exchange == nullptr)
        throw ArgumentError(
            fmt::format("{}: iterate(n) writes to input {} and output {}, so neither may be const",
                        state_.describe(), k + 1, k + 1));
    }
  }

  /// All steps in one launch, or in few where they are very many.
  void persist(const TimeTile& tile, std::int64_t steps) {
    const std::int64_t most = mostSteps(gridOf(there_.front().argument.view->extents));
    std::shared_ptr<const TimeKernel>& kernel = kernels_[tile];
    if (kernel == nullptr) kernel = state_.timeKernelFor(*kernel_, tile);
    while (steps > 0) {
      const std::int64_t launches = (steps + most - 1) / most;
      const std::int64_t now = (steps + launches - 1) / launches;
      if (kernel->isRejected || !persistOnce(*kernel, now)) return advance(streamed_, steps);
      ++launches_;
      steps_ += now;
      steps -= now;
    }
  }

  PersistentArguments persistentArguments(const TimeKernel& kernel) {
    const std::vector<StencilArgument>& arguments = present();
    PersistentArguments list;
    for (std::size_t i = 0; i < inputs_ + pairs_; ++i) {
      const launch::Argument& array = arguments[i].argument;
      list.arrays.push_back(i < inputs_ ? kernel.recipe.shown(array) : array);
      if (i >= inputs_) list.between.push_back(array);
    }
    list.scalars =
        stepScalars(kernel.recipe, std::span(arguments).subspan(inputs_ + pairs_), steps_);
    return list;
  }

  std::optional<PersistentResult> persistOnce(const TimeKernel& kernel, std::int64_t steps,
                                              const PersistentLooks& looks = {}) {
    const std::vector<Device> devices = devicesOf(options_);
    if (hasGivenUp(devices)) return std::nullopt;
    try {
      const PersistentResult done = stencils::persist(kernel, state_.persistentSpaces(), options_,
                                                      persistentArguments(kernel), steps, looks);
      if (done.what == Persisted::Done) return done;
      if (done.what == Persisted::Busy) return std::nullopt;
    } catch (const BuildError& error) {
      reject(kernel, state_.describe(), error);
      return std::nullopt;
    }
    reportGivenUp(state_.describe(), devices);
    // Iterations from now on choose again.
    state_.timeChoices().clear();
    return std::nullopt;
  }

  /// Direction, steps, and the tile of several.
  using Kind = std::tuple<bool, std::int64_t, TimeTile>;

  StencilState& state_;
  launch::LaunchOptions options_;
  const PointSignature& signature_;
  std::shared_ptr<const StencilKernel> kernel_;
  std::size_t inputs_ = 0;
  std::size_t pairs_ = 0;
  /// Some scalar is another one in each step.
  bool changes_ = false;
  /// The arguments of odd steps (the first one among them) and of even ones.
  std::vector<StencilArgument> there_;
  std::vector<StencilArgument> back_;
  TimeChoice choice_;
  /// What does the steps of one launch where that does not work out.
  TimeTile streamed_;
  /// Of launches whose groups look at the result by themselves.
  std::optional<TimeTile> looked_;
  std::map<TimeTile, std::shared_ptr<const TimeKernel>> kernels_;
  std::map<Kind, FRunner> runners_;
  std::int64_t launches_ = 0;
  std::int64_t steps_ = 0;
};

void checkSteps(const StencilState& state, std::int64_t steps) {
  if (steps < 0)
    throw ArgumentError(
        fmt::format("{}: iterate({}): the number of steps is negative", state.describe(), steps));
}

/// Steps with looks, of which each decides at the next one, so that nobody waits for it.
class UntilLoop {
 public:
  UntilLoop(Iteration& iteration, std::function<std::unique_ptr<ResidualLooks>()> makeLooks,
            std::int64_t steps, const Until& until)
      : iteration_(iteration), makeLooks_(std::move(makeLooks)), steps_(steps), until_(until) {}

  StencilRun run() {
    while (iteration_.steps() < steps_ && !converged_)
      if (looks_ != nullptr || !runInOneLaunch()) runToNextLook();
    if (looks_ != nullptr) residual_ = looks_->value(look_ - 1);
    return {iteration_.steps(), residual_, converged_ || residual_ < until_.bound, 0};
  }

 private:
  bool runInOneLaunch() {
    std::int64_t now = std::min(iteration_.mostLooked(until_), steps_ - iteration_.steps());
    if (now == 0) return false;
    // The last launch ended with a look that decides at the next one.
    if (isBelow_) now = std::min(now, until_.every);
    const std::optional<PersistentResult> done = iteration_.advanceLooking(now, until_);
    if (!done) return false;
    converged_ = isBelow_ || done->wasBelow;
    residual_ = done->residual;
    isBelow_ = residual_ < until_.bound;
    return true;
  }

  /// The look before is read after these steps have been enqueued.
  void runToNextLook() {
    if (looks_ == nullptr) looks_ = makeLooks_();
    const std::int64_t more = std::min(until_.every, steps_ - iteration_.steps());
    // A look compares the last two states.
    iteration_.advance(more - 1);
    iteration_.advance(1);
    looks_->launch(look_, iteration_.now(), iteration_.before());
    if (look_ > 0) isBelow_ = looks_->value(look_ - 1) < until_.bound;
    converged_ = isBelow_;
    ++look_;
  }

  Iteration& iteration_;
  std::function<std::unique_ptr<ResidualLooks>()> makeLooks_;
  std::int64_t steps_;
  const Until& until_;
  /// Once looks are launched, they are to the end; and how many were.
  std::unique_ptr<ResidualLooks> looks_;
  std::int64_t look_ = 0;
  /// What the last look has found whose residual is known.
  double residual_ = 0;
  bool isBelow_ = false;
  bool converged_ = false;
};

}  // namespace

TuneResult tuneIteration(StencilState& state, const launch::LaunchOptions& options,
                         std::vector<StencilArgument> arguments, const IterationPlan& plan) {
  checkSteps(state, plan.steps);
  if (isForSeveralDevices(options))
    throw LaunchError(fmt::format(
        "{}: iterate({}).tune(...) tunes for one device; leave out .devices(...), and call it for "
        "each kind of device with .device(...) and arrays of the parts' sizes",
        state.describe(), plan.steps));
  return Iteration(state, options, std::move(arguments), plan.steps).tune(plan);
}

StencilRun iterateStencil(StencilState& state, const launch::LaunchOptions& options,
                          std::vector<StencilArgument> arguments, const IterationPlan& plan) {
  const std::int64_t steps = plan.steps;
  const Until& until = plan.until;
  checkSteps(state, steps);
  Iteration iteration(state, options, std::move(arguments), steps);
  iteration.chooseTile(plan);
  StencilRun run{0, std::numeric_limits<double>::quiet_NaN(), false, 0};
  if (until.every > 0)
    checkResidual(state.describe(), iteration.firstOutput().argument.type, until.residual.get());
  if (steps == 0) return run;
  if (until.every > 0) {
    const auto makeLooks = [&] {
      return ResidualLooks::make(options, iteration.firstOutput(), until.residual);
    };
    run = UntilLoop(iteration, makeLooks, steps, until).run();
  } else {
    iteration.advance(steps);
    run.steps = steps;
  }
  run.launches = iteration.launches();
  iteration.finish();
  return run;
}

}  // namespace hpl::stencils
