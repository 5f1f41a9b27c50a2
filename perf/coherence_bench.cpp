// SPDX-License-Identifier: Apache-2.0
// The planners of hpl/coherence, which need no device: the cost for the host of a step of a
// distributed program on a machine of many devices, planned anew and repeated, and the memory that
// plans take.
//
//     hpl_coherence_bench
//     hpl_coherence_bench --benchmark_filter='/10000'
//
// Two arrays of bands or blocks with ghosts take turns, as in a stencil program: exchange, launch.
// The counters say how much memory four such arrays and all plans for them hold.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>
#include <numeric>
#include <vector>

#include "hpl/coherence/planner.h"

namespace {

using namespace hpl::coherence;
using hpl::geometry::Box;
using hpl::geometry::DimSplit;
using hpl::geometry::Extents;

Machine machineOf(int devices) {
  std::vector<Space> spaces(static_cast<std::size_t>(devices));
  for (int d = 0; d < devices; ++d) {
    Space& space = spaces[static_cast<std::size_t>(d)];
    space.rank = d / 4;
    space.node = d / 8;
    space.context = d % 4;
  }
  return Machine(std::move(spaces));
}

// A five-point stencil, of which every ghost cell is known.
std::shared_ptr<const PartFacts> starFacts(bool isBlocks) {
  PartFacts facts;
  facts.refresh = true;
  facts.dimOf = {isBlocks ? 1 : -1, 0, -1};
  const Extents one{1, isBlocks ? 1 : 0}, none{0, 0};
  facts.reach = {true, one, one};
  facts.writers = {true, none, none};
  facts.outcome.known = true;
  facts.outcome.alike = facts.outcome.written = facts.outcome.left = {true, {1, 1}, {1, 1}};
  return std::make_shared<const PartFacts>(facts);
}

// Arrays that take turns as input and output of a launch on all devices.
class Program {
 public:
  Program(int devices, bool isBlocks, int arrays)
      : planner_(machineOf(devices)), facts_(starFacts(isBlocks)) {
    const int rows = isBlocks ? hpl::geometry::gridOf(devices, {1 << 20, 1 << 20})[0] : devices;
    const int columns = devices / rows;
    std::vector<GridAxis> axes{{DimSplit{0, rows, 1, 1, {}}}};
    if (isBlocks) axes.push_back({DimSplit{1, columns, 1, 1, {}}});
    std::vector<SpaceId> all(static_cast<std::size_t>(devices));
    std::iota(all.begin(), all.end(), 1);
    const Extents extents{64 * rows, 64 * columns};
    cut_ = Distribution::grid(Box::ofExtents(extents), axes, all);
    for (int i = 0; i < arrays; ++i) {
      roots_.emplace_back(Root{i, extents, sizeof(float), "", true}, devices + 1);
      states_.push_back(roots_.back().onHosts());
    }
    Launch launch;
    launch.uses.resize(2);
    launch.uses[0].writes = true;
    launch.uses[1].operand = 1;
    launch.uses[1].reads = true;
    for (Use& use : launch.uses) {
      use.distribution = cut_;
      use.facts = facts_;
    }
    launch_ = operation(std::move(launch));
    for (int turn = 0; turn < 4; ++turn) step();
  }

  // Each pair of arrays takes one step.
  void step() {
    for (std::size_t i = 0; i + 1 < states_.size(); i += 2) {
      const StepPtr step = planner_.plan(launch_, {states_[i], states_[i + 1]});
      states_[i] = step->after[1];
      states_[i + 1] = step->after[0];
    }
  }
  // One array: an exchange of what a launch has left, which makes one new state.
  StepPtr exchangeAnew() const {
    const StatePtr before[2] = {states_[0], states_[1]};
    return planner_.planAnew(Operation(Exchange{1}), {before + 1, 1});  // the written one
  }
  StepPtr stepAnew() const {
    const StatePtr before[2] = {states_[0], states_[1]};
    return planner_.planAnew(*launch_, before);
  }
  const Planner& planner() const { return planner_; }

 private:
  Planner planner_;
  std::shared_ptr<const PartFacts> facts_;
  DistributionPtr cut_;
  std::vector<RootStates> roots_;
  std::vector<StatePtr> states_;
  OperationPtr launch_;
};

double heldMebibytes() { return static_cast<double>(mallinfo2().uordblks) / (1 << 20); }

void planAnew(benchmark::State& state) {
  const Program program(static_cast<int>(state.range(0)), state.range(1) != 0, 2);
  std::size_t transfers = 0;
  for (auto _ : state) transfers = program.stepAnew()->transfers.size();
  state.counters["transfers"] = static_cast<double>(transfers);
}
BENCHMARK(planAnew)
    ->ArgNames({"devices", "blocks"})
    ->ArgsProduct({{2, 8, 32, 128, 1000, 10000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

void exchangeAnew(benchmark::State& state) {
  const Program program(static_cast<int>(state.range(0)), state.range(1) != 0, 2);
  std::size_t transfers = 0;
  for (auto _ : state) transfers = program.exchangeAnew()->transfers.size();
  state.counters["transfers"] = static_cast<double>(transfers);
}
BENCHMARK(exchangeAnew)
    ->ArgNames({"devices", "blocks"})
    ->ArgsProduct({{128, 10000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

void repeat(benchmark::State& state) {
  Program program(static_cast<int>(state.range(0)), state.range(1) != 0, 2);
  const auto planned = program.planner().counts().planned;
  for (auto _ : state) program.step();
  if (program.planner().counts().planned != planned) state.SkipWithError("planned anew");
}
BENCHMARK(repeat)
    ->ArgNames({"devices", "blocks"})
    ->ArgsProduct({{2, 8, 32, 128, 1000, 10000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

void memoryOfFourArrays(benchmark::State& state) {
  double held = 0;
  for (auto _ : state) {
    const double before = heldMebibytes();
    Program program(static_cast<int>(state.range(0)), state.range(1) != 0, 4);
    for (int i = 0; i < 4; ++i) program.step();
    malloc_trim(0);
    held = heldMebibytes() - before;
  }
  state.counters["MiB"] = held;
}
BENCHMARK(memoryOfFourArrays)
    ->ArgNames({"devices", "blocks"})
    ->ArgsProduct({{10000}, {0, 1}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
