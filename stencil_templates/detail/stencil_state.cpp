// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/stencil_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/runtime/device.h"
#include "stencil_templates/detail/boxed_arguments.h"
#include "stencil_templates/detail/step_program.h"
#include "stencil_templates/detail/time_choice.h"

namespace hpl::stencils {
namespace {

bool needsSlices(const StencilRecipe& recipe) {
  for (const InputPlan& input : recipe.inputs)
    if (input.firstSlices(recipe.dims()) > 0 || input.lastSlices(recipe.dims()) > 0) return true;
  return false;
}

void recordRecipe(const void* recipe) { static_cast<const StencilRecipe*>(recipe)->record(); }

}  // namespace

Domain domainOf(const geometry::Extents& extents) {
  const auto size = [&](int fromLast) {
    return static_cast<std::size_t>(extents[extents.rank() - 1 - fromLast]);
  };
  if (extents.rank() == 1) return Domain(size(0));
  return extents.rank() == 2 ? Domain(size(0), size(1)) : Domain(size(0), size(1), size(2));
}

StencilState::StencilState(std::shared_ptr<const PointFunction> point)
    : point_(std::move(point)), boundaries_(point_->signature().inputs.size()) {}

StencilState::StencilState(const StencilState& other) : StencilState(other.point_) {
  const std::lock_guard lock(other.mutex_);
  label_ = other.label_;
  boundaries_ = other.boundaries_;
  facts_ = other.facts_;
}

std::string StencilState::describe() const {
  return label_.empty() ? "stencil" : fmt::format("stencil '{}'", label_);
}

void StencilState::setLabel(const std::string& label) {
  const std::lock_guard lock(mutex_);
  label_ = label;
  kernels_.clear();
}

void StencilState::checkFace(Face face) const {
  if (static_cast<int>(face) / 2 >= 3 - signature().dims) return;
  throw ArgumentError(fmt::format("{}: a domain of {} dimension{} has no face {}", describe(),
                                  signature().dims, signature().dims == 1 ? "" : "s",
                                  nameOf(face)));
}

void StencilState::checkInput(int input) const {
  const int inputs = static_cast<int>(signature().inputs.size());
  if (input >= 1 && input <= inputs) return;
  throw ArgumentError(
      fmt::format("{}: there is no input {}; the point function has {}, counted from 1", describe(),
                  input, inputs));
}

void StencilState::setBoundary(int input, std::optional<Face> face, const Boundary& boundary) {
  const std::lock_guard lock(mutex_);
  if (face) checkFace(*face);
  if (boundary.value() != nullptr && !boundary.value()->takes(signature().dims))
    throw ArgumentError(fmt::format(
        "{}: a Computed boundary takes one Int for each dimension of the domain, here {}",
        describe(), signature().dims));
  for (std::size_t i = 0; i < boundaries_.size(); ++i) {
    if (input != 0 && static_cast<std::size_t>(input) != i + 1) continue;
    for (int f = (3 - signature().dims) * 2; f < 6; ++f)
      if (!face || static_cast<int>(*face) == f)
        boundaries_[i][static_cast<std::size_t>(f)] = boundary;
  }
  kernels_.clear();
}

const PointFacts& StencilState::facts(const std::string& name) {
  if (facts_) return *facts_;
  try {
    facts_ = findFacts(*point_, signature().outputs);
  } catch (const KernelError& error) {
    throw KernelError(fmt::format("{}: {}", name, error.what()));
  }
  return *facts_;
}

std::int64_t StencilState::reach(int input, Face face) {
  const std::lock_guard lock(mutex_);
  checkFace(face);
  if (input != 0) checkInput(input);
  const int dim = static_cast<int>(face) / 2 - (3 - signature().dims);
  const bool high = static_cast<int>(face) % 2 != 0;
  std::int64_t most = 0;
  const std::vector<Reach>& reach = facts(describe()).reach;
  for (std::size_t i = 0; i < reach.size(); ++i)
    if (input == 0 || static_cast<std::size_t>(input) == i + 1)
      most = std::max(most, reach[i].beyond(dim, high));
  return most;
}

StencilRecipe StencilState::makeRecipe(const std::string& name,
                                       const std::vector<ir::Type>& outputs, const GridEnds& ends,
                                       bool slices) {
  StencilRecipe recipe;
  recipe.point = point_;
  recipe.outputs = outputs;
  for (std::size_t i = 0; i < boundaries_.size(); ++i)
    recipe.inputs.push_back({signature().inputs[i], boundaries_[i], facts(name).reach[i]});
  recipe.joinEnds(ends);
  recipe.slices = slices && needsSlices(recipe);
  return recipe;
}

std::shared_ptr<const StencilKernel> StencilState::kernelFor(const launch::LaunchOptions& options,
                                                             const StencilArgument* arguments,
                                                             std::size_t count, bool keepsRims) {
  const std::lock_guard lock(mutex_);
  checkStencilArguments(describe(), signature(), arguments, count);
  std::vector<ir::Type> outputs;
  std::vector<memory::View*> arrays;
  for (std::size_t i = 0; i < signature().inputs.size(); ++i)
    arrays.push_back(arguments[i].argument.view);
  const GridEnds ends = endsOf(options, arrays, signature().dims);
  std::vector<bool> perStep;
  for (std::size_t i = signature().inputs.size() + signature().outputs.size(); i < count; ++i)
    perStep.push_back(arguments[i].perStep != nullptr);
  Key key{"", isForSeveralDevices(options), keepsRims, ends.joined, ends.whyNotTiled, perStep};
  for (std::size_t i = 0; i < signature().outputs.size(); ++i) {
    outputs.push_back(arguments[signature().inputs.size() + i].argument.type);
    std::get<0>(key) += ir::describe(outputs.back()) + ' ';
  }
  std::shared_ptr<const StencilKernel>& known = kernels_[key];
  if (known == nullptr) {
    auto fresh = std::make_shared<StencilKernel>();
    fresh->recipe = makeRecipe(describe(), outputs, ends, std::get<1>(key));
    fresh->recipe.keepsRims = keepsRims;
    fresh->perStep = std::move(perStep);
    checkBoundaries(describe(), fresh->recipe);
    const launch::KernelSource source{&recordRecipe, &fresh->recipe, "stencil"};
    // The kernel keeps the recipe, and the recipe lives as long as the kernel's handle.
    auto entry = launch::anonymousEntry(source, nullptr, label_);
    fresh->entry = {entry.get(), entry};
    known = std::move(fresh);
  }
  checkReach(describe(), known->recipe, arguments);
  return known;
}

StencilRecipe StencilState::recipeFor(const std::string& name, const StencilArgument* arguments,
                                      std::size_t count) {
  const std::lock_guard lock(mutex_);
  checkStencilArguments(name, signature(), arguments, count, true);
  std::vector<ir::Type> outputs;
  for (std::size_t i = 0; i < signature().outputs.size(); ++i)
    outputs.push_back(arguments[signature().inputs.size() + i].argument.type);
  StencilRecipe recipe = makeRecipe(name, outputs, {}, false);
  checkBoundaries(name, recipe);
  checkReach(name, recipe, arguments);
  return recipe;
}

PointCost StencilState::cost() {
  const std::lock_guard lock(mutex_);
  return facts(describe()).cost;
}

std::shared_ptr<StepProgram> StencilState::iterationWith(const StencilKernel& kernel) {
  const std::lock_guard lock(mutex_);
  if (kernel.iteration != nullptr) return kernel.iteration;
  const StencilRecipe& recipe = kernel.recipe;
  TimeFunction function;
  function.point = point_;
  function.inputs = recipe.inputs;
  function.cost = facts(describe()).cost;
  function.perStep = kernel.perStep;
  StepContents contents;
  contents.name = describe();
  contents.label = label_;
  contents.dims = recipe.dims();
  for (const InputPlan& input : recipe.inputs) {
    function.reads.push_back(static_cast<int>(contents.types.size()));
    contents.types.push_back(input.type);
  }
  for (std::size_t k = 0; k < recipe.outputs.size(); ++k)
    function.writes.push_back(static_cast<int>(k));
  for (int d = 0; d < recipe.dims(); ++d) {
    function.low[static_cast<std::size_t>(d)] = recipe.untouched(d, false);
    function.high[static_cast<std::size_t>(d)] = recipe.untouched(d, true);
  }
  contents.functions.push_back({describe(), this, {std::move(function)}});
  contents.areTemporary.resize(contents.types.size());
  contents.ends = recipe.ends;
  return kernel.iteration = std::make_shared<StepProgram>(std::move(contents));
}

namespace {

/// The argument that the kernel sees as the input.
launch::Argument shownTo(const InputPlan& input, const launch::Argument& array) {
  EndCells before{};
  EndCells after{};
  for (int d = 0; d < array.view->extents.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    before[at] = input.shift(d);
    after[at] = input.isJoined(d) ? input.reach.after(d) : 0;
  }
  return input.joined == std::array<bool, 3>{} ? array : withGhosts(array, before, after);
}

}  // namespace

FRunner launchKernel(const StencilKernel& kernel, const launch::LaunchOptions& options,
                     const StencilArgument* arguments) {
  const StencilRecipe& recipe = kernel.recipe;
  const PointSignature& signature = recipe.point->signature();
  const std::size_t arrays = signature.inputs.size() + signature.outputs.size();
  // Kept from launch to launch, so that those of an iteration allocate nothing.
  thread_local std::vector<launch::Argument> list;
  list.clear();
  for (std::size_t i = 0; i < recipe.inputs.size(); ++i)
    list.push_back(shownTo(recipe.inputs[i], arguments[i].argument));
  for (std::size_t i = recipe.inputs.size(); i < arrays; ++i) list.push_back(arguments[i].argument);
  const geometry::Extents& extents = arguments[0].argument.view->extents;
  for (std::size_t i = 0; recipe.slices && i < recipe.inputs.size(); ++i) {
    const std::int64_t first = recipe.inputs[i].firstSlices(recipe.dims());
    const std::int64_t last = recipe.inputs[i].lastSlices(recipe.dims());
    // Slices have the ghosts of the other dimensions: where they are read, the slowest has none.
    const auto push = [&](std::int64_t from, std::int64_t to) {
      list.push_back(shownTo(recipe.inputs[i], arguments[i].slices(arguments[i].array, from, to)));
    };
    if (first > 0) push(0, first - 1);
    if (last > 0) push(extents[0] - last, extents[0] - 1);
  }
  for (std::size_t i = arrays; i < signature.count(); ++i) list.push_back(arguments[i].argument);
  launch::LaunchOptions own = options;
  own.global = domainOf(extents);
  return launch::launch(kernel.entry, own, list);
}

std::shared_ptr<StencilState> copyOf(const StencilState& state) {
  return std::make_shared<StencilState>(state);
}

std::shared_ptr<StencilState> makeState(std::shared_ptr<const PointFunction> point) {
  return std::make_shared<StencilState>(std::move(point));
}

FRunner launchStencil(StencilState& state, const launch::LaunchOptions& options,
                      const StencilArgument* arguments, std::size_t count) {
  if (BoxedArguments::areNeeded(arguments, count)) {
    checkStencilArguments(state.describe(), state.signature(), arguments, count);
    const std::size_t inputs = state.signature().inputs.size();
    const std::size_t arrays = inputs + state.signature().outputs.size();
    const auto boxed = std::make_shared<BoxedArguments>(arguments, count, inputs, arrays);
    FRunner runner = launchStencil(state, options, boxed->all().data(), count);
    boxed->after();
    return launch::runAround(std::move(runner), boxed);
  }
  const auto kernel = state.kernelFor(options, arguments, count);
  if (!kernel->changes()) return launchKernel(*kernel, options, arguments);
  std::vector<StencilArgument> present(arguments, arguments + count);
  for (StencilArgument& argument : present)
    if (argument.perStep != nullptr && argument.table == nullptr)
      argument.argument = argument.perStep->at(0);
  return launchKernel(*kernel, options, present.data());
}

}  // namespace hpl::stencils
