// SPDX-License-Identifier: Apache-2.0
// Iterations of one stencil: programs of one function on the caller's arrays, which take turns.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "hpl/error.h"
#include "stencil_templates/detail/boxed_arguments.h"
#include "stencil_templates/detail/program_cells.h"
#include "stencil_templates/detail/residual.h"
#include "stencil_templates/detail/step_choice.h"

namespace hpl::stencils {
namespace {

void checkSteps(const StencilState& state, std::int64_t steps) {
  if (steps < 0)
    throw ArgumentError(
        fmt::format("{}: iterate({}): the number of steps is negative", state.describe(), steps));
}

/// Input k and output k take turns.
void checkPairs(const StencilState& state, const std::vector<StencilArgument>& arguments) {
  const std::size_t inputs = state.signature().inputs.size();
  const std::size_t outputs = state.signature().outputs.size();
  if (outputs > inputs)
    throw ArgumentError(fmt::format(
        "{}: iterate(n) exchanges input k and output k after each step, but there are {} inputs "
        "and {} outputs",
        state.describe(), inputs, outputs));
  for (std::size_t k = 0; k < outputs; ++k) {
    const ir::Type& in = arguments[k].argument.type;
    const ir::Type& out = arguments[inputs + k].argument.type;
    if (!(in == out))
      throw ArgumentError(fmt::format(
          "{}: iterate(n) exchanges input {} and output {} after each step, so they have the "
          "same type, but these are arrays of {} and {}",
          state.describe(), k + 1, k + 1, ir::describe(in), ir::describe(out)));
    if (arguments[k].exchange == nullptr || arguments[inputs + k].exchange == nullptr)
      throw ArgumentError(
          fmt::format("{}: iterate(n) writes to input {} and output {}, so neither may be const",
                      state.describe(), k + 1, k + 1));
  }
}

/// Handles that name views (`a(Range(...), ...)`) must go on naming them.
bool isViewObject(const StencilArgument& argument) {
  return argument.argument.view->handle() == argument.array;
}

/// Copies of views exchange with each other, not with an array of the program.
bool mayExchange(const StencilArgument& a, const StencilArgument& b) {
  return !isViewObject(a) && !isViewObject(b) && a.isBoxCopy == b.isBoxCopy;
}

StepData dataOf(const PointSignature& signature, const std::vector<StencilArgument>& arguments) {
  const std::size_t inputs = signature.inputs.size();
  const std::size_t outputs = signature.outputs.size();
  StepData data;
  data.extents = arguments.front().argument.view->extents;
  data.fields.reserve(inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    StepField& field = data.fields.emplace_back();
    field.array.argument = arguments[i];
    field.exchanges = true;
    if (i >= outputs) continue;
    field.spare.argument = arguments[inputs + i];
    field.exchanges = mayExchange(arguments[i], arguments[inputs + i]);
  }
  data.scalars.emplace_back(arguments.begin() + static_cast<std::ptrdiff_t>(inputs + outputs),
                            arguments.end());
  return data;
}

/// One iteration: what it does, on what.
struct Iteration {
  Iteration(StencilState& state, const launch::LaunchOptions& options,
            const std::vector<StencilArgument>& arguments, const IterationPlan& plan)
      : kernel(state.kernelFor(options, arguments.data(), arguments.size(), true)) {
    checkPairs(state, arguments);
    program = state.iterationWith(*kernel);
    data = dataOf(state.signature(), arguments);
    if (kernel->changes()) makeTables(*program, data, std::max<std::int64_t>(plan.steps, 1));
    const std::int64_t every = plan.until.every;
    // Until a look at the residual, the last step is one by itself.
    joined = every > 0 ? std::min(plan.steps, every) - 1 : plan.steps;
    if (every > 0 && every <= mostSteps(gridOf(data.extents))) looked = plan.steps;
  }

  std::shared_ptr<const StencilKernel> kernel;
  std::shared_ptr<StepProgram> program;
  StepData data;
  /// Steps without a look at the result, and those of launches that look at it by themselves.
  std::int64_t joined = 0;
  std::int64_t looked = 0;
};

/// Steps with looks, each of which decides at the next one, so that the steps never wait for it.
class UntilLoop {
 public:
  UntilLoop(StepRun& run, std::function<std::unique_ptr<ResidualLooks>()> makeLooks,
            std::int64_t steps, const Until& until)
      : run_(run), makeLooks_(std::move(makeLooks)), steps_(steps), until_(until) {}

  StencilRun run() {
    while (run_.steps() < steps_ && !converged_)
      if (looks_ != nullptr || !runInOneLaunch()) runToNextLook();
    if (looks_ != nullptr) residual_ = looks_->value(look_ - 1);
    return {run_.steps(), residual_, converged_ || residual_ < until_.bound, 0};
  }

 private:
  bool runInOneLaunch() {
    std::int64_t now = std::min(run_.mostLooked(until_), steps_ - run_.steps());
    if (now == 0) return false;
    // The last launch ended with a look that decides at the next one.
    if (isBelow_) now = std::min(now, until_.every);
    const std::optional<PersistentResult> done = run_.advanceLooking(now, until_);
    if (!done) return false;
    converged_ = isBelow_ || done->wasBelow;
    residual_ = done->residual;
    isBelow_ = residual_ < until_.bound;
    return true;
  }

  /// The look before is read after these steps have been enqueued.
  void runToNextLook() {
    if (looks_ == nullptr) looks_ = makeLooks_();
    const std::int64_t more = std::min(until_.every, steps_ - run_.steps());
    // A look compares the last two states.
    run_.advance(more - 1);
    run_.advance(1);
    looks_->launch(look_, run_.now(0), run_.before(0));
    if (look_ > 0) isBelow_ = looks_->value(look_ - 1) < until_.bound;
    converged_ = isBelow_;
    ++look_;
  }

  StepRun& run_;
  std::function<std::unique_ptr<ResidualLooks>()> makeLooks_;
  std::int64_t steps_;
  const Until& until_;
  /// Once looks are launched, they are to the end; and how many were.
  std::unique_ptr<ResidualLooks> looks_;
  std::int64_t look_ = 0;
  /// The residual of the last look whose result is known.
  double residual_ = 0;
  bool isBelow_ = false;
  bool converged_ = false;
};

}  // namespace

TuneResult tuneIteration(StencilState& state, const launch::LaunchOptions& options,
                         std::vector<StencilArgument> arguments, const IterationPlan& plan) {
  checkSteps(state, plan.steps);
  if (BoxedArguments::areNeeded(arguments.data(), arguments.size())) {
    checkStencilArguments(state.describe(), state.signature(), arguments.data(), arguments.size());
    const BoxedArguments boxed(arguments.data(), arguments.size(), 0, 0);
    return tuneIteration(state, options, boxed.all(), plan);
  }
  if (isForSeveralDevices(options))
    throw LaunchError(fmt::format(
        "{}: iterate({}).tune(...) tunes for one device; leave out .devices(...), and call it for "
        "each kind of device with .device(...) and arrays of the parts' sizes",
        state.describe(), plan.steps));
  const Iteration iteration(state, options, arguments, plan);
  return tuneSteps("iterate(...).tune(...)", *iteration.program, iteration.data, options, plan,
                   iteration.joined);
}

StencilRun iterateStencil(StencilState& state, const launch::LaunchOptions& options,
                          std::vector<StencilArgument> arguments, const IterationPlan& plan) {
  checkSteps(state, plan.steps);
  if (BoxedArguments::areNeeded(arguments.data(), arguments.size())) {
    checkStencilArguments(state.describe(), state.signature(), arguments.data(), arguments.size());
    // The result is in the inputs.
    const std::size_t pairs = state.signature().outputs.size();
    BoxedArguments boxed(arguments.data(), arguments.size(), 0, pairs);
    const StencilRun run = iterateStencil(state, options, boxed.all(), plan);
    boxed.after();
    return run;
  }
  Iteration iteration(state, options, arguments, plan);
  StepRun steps(*iteration.program, iteration.data, options, {iteration.kernel});
  steps.choose(chooseSteps(*iteration.program, iteration.data, options, plan, iteration.joined,
                           iteration.looked),
               std::max(iteration.joined, iteration.looked));
  const StencilArgument& output = iteration.data.fields.front().spare.argument;
  const Until& until = plan.until;
  if (until.every > 0) checkResidual(state.describe(), output.argument.type, until.residual.get());
  StencilRun run{0, std::numeric_limits<double>::quiet_NaN(), false, 0};
  if (plan.steps == 0) return run;
  if (until.every > 0) {
    const auto makeLooks = [&] { return ResidualLooks::make(options, output, until.residual); };
    run = UntilLoop(steps, makeLooks, plan.steps, until).run();
  } else {
    steps.advance(plan.steps);
    run.steps = plan.steps;
  }
  run.launches = steps.launches();
  steps.finish();
  return run;
}

}  // namespace hpl::stencils
