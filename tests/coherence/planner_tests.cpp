// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/planner.h"

#include <doctest/doctest.h>

#include <memory>

#include "hpl/coherence/describe.h"
#include "hpl/coherence/read_block.h"
#include "hpl/error.h"
#include "tests/messages.h"
#include "tests/resident_memory.h"

namespace planner_tests {

using namespace hpl::coherence;
using hpl::geometry::Box;
using hpl::geometry::DimSplit;
using hpl::geometry::Extents;
using hpl::geometry::Index;
using hpl::geometry::Region;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

Machine machineOf(int devices) {
  return Machine(std::vector<Space>(static_cast<std::size_t>(devices)));
}

RootStates arrayOf(int number, Index cells, const Machine& machine) {
  return {Root{number, {cells}, 4, number == 0 ? "u" : "v", true}, machine.spaceCount()};
}

DistributionPtr bands(Index cells, int parts, Index before, Index after, bool periodic = false) {
  std::vector<SpaceId> devices;
  for (int d = 1; d <= parts; ++d) devices.push_back(d);
  return Distribution::grid(Box({0}, {cells}), {{DimSplit{0, parts, before, after, {}}, periodic}},
                            devices);
}

// A stencil of radius 1 that writes every cell of its part.
std::shared_ptr<const PartFacts> threePoint(bool refresh) {
  PartFacts facts;
  facts.refresh = refresh;
  facts.dimOf[0] = 0;
  const Extents one{1}, none{0};
  facts.reach = {true, one, one};
  facts.writers = {true, none, none};
  facts.outcome.known = true;
  facts.outcome.alike = facts.outcome.left = facts.outcome.written = {true, none, none};
  return std::make_shared<const PartFacts>(facts);
}

// out and in are operands 0 and 1, on the parts of one cut.
OperationPtr stencil(const DistributionPtr& cut, bool refresh) {
  Launch launch;
  launch.uses.resize(2);
  launch.uses[0].writes = launch.uses[0].overwrites = true;
  launch.uses[1].operand = 1;
  launch.uses[1].reads = true;
  for (Use& use : launch.uses) {
    use.distribution = cut;
    use.facts = threePoint(refresh);
  }
  return operation(std::move(launch));
}

OperationPtr writeView(SpaceId device, Index lo, Index hi) {
  Use use;
  use.writes = use.overwrites = use.isView = true;
  use.device = device;
  use.cells = Box({lo}, {hi});
  return operation(Launch{{use}});
}

Index cellsMoved(const Step& step, Why why) {
  Index cells = 0;
  for (const Transfer transfer : step.transfers)
    if (transfer.why == why) cells += transfer.target.volume();
  return cells;
}

}  // namespace

TEST_CASE("states of a loop repeat, and a repetition is found") {
  Planner planner(machineOf(4));
  RootStates u = arrayOf(0, 64, planner.machine()), v = arrayOf(1, 64, planner.machine());
  StatePtr out = u.onHosts(), in = v.onHosts();
  const OperationPtr step = stencil(bands(64, 4, 1, 1), true);
  for (int i = 0; i < 4; ++i) {
    const StepPtr planned = planner.plan(step, {out, in});
    out = planned->after[1];
    in = planned->after[0];
  }
  const auto planned = planner.counts().planned;
  const StatePtr before = out;
  for (int i = 0; i < 100; ++i) {
    const StepPtr again = planner.plan(step, {out, in});
    CHECK(cellsMoved(*again, Why::Exchange) == 6);
    out = again->after[1];
    in = again->after[0];
  }
  CHECK(planner.counts().planned == planned);
  CHECK(out == before);
}

TEST_CASE("AUTO_SYNC exchanges ghosts of r cells every r-th launch of a stencil of radius 1") {
  for (const Index r : {1, 2, 3, 5}) {
    CAPTURE(r);
    Planner planner(machineOf(3));
    RootStates u = arrayOf(0, 60, planner.machine()), v = arrayOf(1, 60, planner.machine());
    StatePtr out = u.onHosts(), in = v.onHosts();
    const OperationPtr step = stencil(bands(60, 3, r, r), true);
    int exchanges = 0;
    for (int i = 0; i < 1 + 4 * r; ++i) {
      const StepPtr planned = planner.plan(step, {out, in});
      exchanges += planned->exchanged[1];
      out = planned->after[1];
      in = planned->after[0];
    }
    CHECK(exchanges == 4);
  }
}

TEST_CASE("ghosts that a launch without AUTO_SYNC needs and that are stale are named") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(0, 20, planner.machine()), v = arrayOf(1, 20, planner.machine());
  const OperationPtr step = stencil(bands(20, 2, 1, 1), false);
  const StatePtr fresh[2] = {u.onHosts(), v.onHosts()};
  CHECK(planner.staleGhosts(*step, fresh).empty());
  const StepPtr first = planner.plan(step, fresh);
  const StatePtr turned[2] = {first->after[1], first->after[0]};
  const auto stale = planner.staleGhosts(*step, turned);
  REQUIRE(stale.size() == 2);
  CHECK(stale[0].use == 1);
  CHECK(stale[0].part == 0);
  CHECK(stale[0].cells == Region(Box({10}, {11})));
  const StepPtr synced = planner.plan(operation(Exchange{1}), {turned[1]});
  CHECK(cellsMoved(*synced, Why::Exchange) == 2);
  const StatePtr after[2] = {turned[0], synced->after[0]};
  CHECK(planner.staleGhosts(*step, after).empty());
}

TEST_CASE("several arrays travel in one exchange, in canonical order") {
  Planner planner(machineOf(3));
  RootStates u = arrayOf(0, 30, planner.machine()), v = arrayOf(1, 30, planner.machine());
  const StepPtr launched =
      planner.plan(stencil(bands(30, 3, 1, 2), false), {u.onHosts(), v.onHosts()});
  const StepPtr other =
      planner.plan(stencil(bands(30, 3, 1, 2), false), {v.onHosts(), u.onHosts()});
  const StepPtr both = planner.plan(operation(Exchange{2}), {launched->after[0], other->after[0]});
  CHECK(both->transfers.size() == 8);
  CHECK(cellsMoved(*both, Why::Exchange) == 2 * 2 * (1 + 2));
  for (std::size_t i = 1; i < both->transfers.size(); ++i)
    CHECK(precedes(both->transfers[i - 1], both->transfers[i]));
  const StepPtr again = planner.plan(operation(Exchange{2}), {both->after[0], both->after[1]});
  CHECK(again->transfers.empty());
  CHECK(again->after == both->after);
}

TEST_CASE("cells come from the nearest space, of several the one with the lowest number") {
  std::vector<Space> spaces(4);
  spaces[2].context = spaces[3].context = 1;
  Planner planner{Machine(spaces)};
  RootStates u = arrayOf(0, 8, planner.machine());
  const auto read = [](SpaceId device) {
    Use use;
    use.reads = true;
    use.device = device;
    use.cells = Box({0}, {8});
    return operation(Launch{{use}});
  };
  const auto sourceOf = [](const StepPtr& step) {
    REQUIRE(step->transfers.size() == 1);
    return step->transfers[0].from;
  };
  const StepPtr first = planner.plan(read(1), {u.onHosts()});
  CHECK(sourceOf(first) == kHosts);
  const StepPtr second = planner.plan(read(3), {first->after[0]});
  CHECK(sourceOf(second) == kHosts);  // device 1 is in another context
  const StepPtr third = planner.plan(read(4), {second->after[0]});
  CHECK(sourceOf(third) == 3);
  const StepPtr fourth = planner.plan(read(2), {third->after[0]});
  CHECK(sourceOf(fourth) == 1);
}

TEST_CASE("cells that nobody has written do not move") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(0, 8, planner.machine());
  const StepPtr some = planner.plan(operation(HostWrite{Box({0}, {3}), true}), {u.undefined()});
  Use use;
  use.reads = true;
  use.device = 2;
  use.cells = Box({1}, {8});
  const StepPtr step = planner.plan(operation(Launch{{use}}), {some->after[0]});
  REQUIRE(step->transfers.size() == 1);
  CHECK(step->transfers[0].target == Box({1}, {3}));
}

TEST_CASE("explicit views that take turns repeat their states, and states do not pile up") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(0, 20, planner.machine());
  StatePtr state = u.onHosts();
  const OperationPtr lower = writeView(1, 0, 12), upper = writeView(2, 8, 20);
  const OperationPtr sync = operation(Exchange{1});
  std::vector<StatePtr> seen;
  for (int round = 0; round < 50; ++round) {
    for (const OperationPtr& next : {lower, upper, sync})
      state = planner.plan(next, {state})->after[0];
    seen.push_back(state);
  }
  CHECK(seen[5] == seen[49]);
  CHECK(u.stateCount() < 20);
  REQUIRE(state->active() != nullptr);
  CHECK(state->active()->coreOf(0) == Region(Box({0}, {10})));
  CHECK(state->active()->coreOf(1) == Region(Box({10}, {20})));
}

TEST_CASE("a loop over moving ranges is forgotten as it goes") {
  Planner planner(machineOf(2), {64, 1000});
  RootStates u = arrayOf(0, 5000, planner.machine());
  StatePtr state = u.onHosts();
  for (Index i = 0; i + 2 < 5000; ++i) {
    Use use;
    use.reads = use.isView = true;
    use.device = 1 + static_cast<int>(i % 2);
    use.cells = Box({i}, {i + 2});
    state = planner.plan(operation(Launch{{use}}), {state})->after[0];
    state = planner.plan(operation(HostWrite{use.cells, false}), {state})->after[0];
  }
  CHECK(u.stateCount() < 1000);
}

TEST_CASE("a write inside its part is the array's, another part's copy waits for the exchange") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(0, 20, planner.machine());
  const DistributionPtr cut = bands(20, 2, 2, 2);
  const StepPtr made = planner.plan(operation(NewCut{cut}), {u.onHosts()});
  // next(upper)(Range(...)) = value: device 2's core, device 1's ghost.
  const ViewOf view{Box({10}, {11}), {cut->fullOf(1), Box({0}, {20})}};
  const StepPtr filled = planner.plan(operation(Fill{view}), {made->after[0]});
  CHECK(filled->site == 2);
  CHECK(filled->written == Value::OfPart);
  CHECK(filled->after[0]->copiesOf(2).current == Region(Box({10}, {11})));
  // Device 1's ghost, which the hosts have, too: nothing is saved.
  const ViewOf ghost{Box({10}, {11}), {cut->fullOf(0), Box({0}, {20})}};
  const StepPtr own = planner.plan(operation(Fill{ghost}), {filled->after[0]});
  CHECK(own->transfers.empty());
  CHECK(own->after[0]->copiesOf(1).kept == Region(Box({10}, {11})));
  const StepPtr synced = planner.plan(operation(Exchange{1}), {own->after[0]});
  REQUIRE(synced->transfers.size() == 1);
  CHECK(synced->transfers[0].from == 2);
  CHECK(synced->transfers[0].to == 1);
}

TEST_CASE("transfers and states are told in words") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(0, 12, planner.machine()), v = arrayOf(1, 12, planner.machine());
  const DistributionPtr cut = bands(12, 2, 1, 1, true);
  const StepPtr step = planner.plan(stencil(cut, false), {u.onHosts(), v.onHosts()});
  const StepPtr synced = planner.plan(operation(Exchange{1}), {step->after[0]});
  const Root roots[1] = {u.root()};
  CHECK(describe(synced->transfers, planner.machine(), roots) ==
        "array \"u\": device 2 [11:12) -> device 1: [-1:0), 4 bytes, exchange\n"
        "array \"u\": device 2 -> device 1: [6:7), 4 bytes, exchange\n"
        "array \"u\": device 1 -> device 2: [5:6), 4 bytes, exchange\n"
        "array \"u\": device 1 [0:1) -> device 2: [12:13), 4 bytes, exchange\n");
  CHECK(describe(*step->after[0], planner.machine()) ==
        "array \"u\"\n"
        "  device 1: current {[0:6)}, kept {[-1:0), [6:7)}\n"
        "  device 2: current {[6:12)}, kept {[5:6), [12:13)}\n"
        "  annotated part 0 on device 1: {[0:6)} of [-1:7)\n"
        "  annotated part 1 on device 2: {[6:12)} of [5:13)\n");
}

TEST_CASE("cells that were current on a lost device only are named when they are read") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(0, 12, planner.machine());
  const StepPtr written = planner.plan(writeView(2, 4, 9), {u.onHosts()});
  planner.lose(2);
  const StepPtr lost = planner.plan(operation(DeviceDeath{2}), {written->after[0]});
  const StatePtr state = lost->after[0];
  REQUIRE(state->lost().size() == 1);
  CHECK(state->lost()[0].cells == Region(Box({4}, {9})));
  CHECK(contains(
      messageOf<hpl::DeviceError>(
          [&] { planner.plan(operation(HostRead{Box({0}, {12})}), {state}); }),
      "array \"u\": cells [4:9) have no value, because device 2 was lost; assign to them"));
  planner.plan(operation(HostRead{Box({0}, {4})}), {state});
  CHECK(contains(messageOf<hpl::DeviceError>([&] { planner.plan(writeView(2, 0, 2), {state}); }),
                 "device 2 has been lost"));
  const StepPtr again = planner.plan(operation(HostWrite{Box({3}, {9}), true}), {state});
  CHECK(again->after[0]->lost().empty());
}

TEST_CASE("blocks of reads divide an array, hold what they are asked for, and are small") {
  const Extents shapes[] = {{7}, {300000}, {50, 900}, {3, 70000}, {20, 30, 40}, {5, 9, 100000}};
  for (const auto& extents : shapes) {
    for (const std::size_t size : {1U, 4U, 64U, 100000U}) {
      INFO(extents.toString() << " of " << size << " bytes");
      const Box whole = Box::ofExtents(extents);
      // From corner to corner: a block ends where the next one begins.
      hpl::geometry::Point cell = whole.lo();
      Index blocks = 0, cells = 0;
      for (bool isDone = false; !isDone;) {
        const Box block = readBlockAround(extents, size, cell);
        REQUIRE(block.lo() == cell);
        REQUIRE(whole.contains(block));
        hpl::geometry::Point last = block.hi();
        for (int d = 0; d < last.rank(); ++d) --last[d];
        REQUIRE(readBlockAround(extents, size, last) == block);
        REQUIRE(
            (block.volume() == 1 || static_cast<std::size_t>(block.volume()) * size <= kReadBlock));
        ++blocks;
        cells += block.volume();
        isDone = true;
        for (int d = extents.rank() - 1; d >= 0 && isDone; --d) {
          cell[d] = block.hi(d);
          if (cell[d] < extents[d]) isDone = false;
          if (isDone) cell[d] = 0;
        }
        if (blocks > 2000) break;
      }
      if (blocks <= 2000) CHECK(cells == whole.volume());
    }
  }
}

TEST_CASE("operations that fit no arrays are refused with a sentence") {
  Use use;
  use.cells = Box({0}, {3});
  const auto refused = [&](const Use& bad) {
    return messageOf<hpl::ArgumentError>([&] { operation(Launch{{bad}}); });
  };
  use.reads = true;
  use.operand = -1;
  CHECK(contains(refused(use), "names operand -1: operands count from 0 to 255"));
  use.operand = 0;
  use.overwrites = true;
  CHECK(contains(refused(use), "overwrites all cells but does not write"));
  use.overwrites = false;
  use.cells = Box();
  CHECK(contains(refused(use), "has no cells"));
  CHECK(contains(messageOf<hpl::ArgumentError>([] { operation(Exchange{0}); }),
                 "an exchange of 0 arrays: name 1 to 256"));
  CHECK(contains(messageOf<hpl::ArgumentError>([] {
                   operation(LocalAccess{{{kHosts, Box({0}, {4})}}, true});
                 }),
                 "a local access to cells [0:4) of the hosts: name some cells, and the device"));
  CHECK(contains(
      messageOf<hpl::ArgumentError>([] {
        operation(LocalAccess{{{1, Box({0}, {4})}, {2, Box({3}, {6})}}, true});
      }),
      "a local access to cells [0:4) on one device and to cells [3:6) on another one: each cell "
      "has one owner"));
  CHECK(contains(messageOf<hpl::ArgumentError>([] { operation(NewCut{}); }),
                 "a new cut without a distribution"));
  CHECK(contains(messageOf<hpl::ArgumentError>([] {
                   operation(Copy{{Box({0}, {1})}, 2, {}});
                 }),
                 "the source of an assignment is operand 2"));
  CHECK(contains(messageOf<hpl::ShapeError>([] {
                   operation(Copy{{Box({0}, {1})}, 1, {Box({0}, {2})}});
                 }),
                 "cannot assign cells [0:2) to cells [0:1)"));
}

TEST_CASE("operations that do not fit the arrays at hand are refused with a sentence") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(0, 12, planner.machine());
  const OperationPtr read = operation(HostRead{Box({0}, {13})});
  CHECK(contains(messageOf<hpl::ShapeError>([&] { planner.plan(read, {u.onHosts()}); }),
                 "a host read of cells [0:13) of array \"u\", which has cells [0:12)"));
  CHECK(contains(
      messageOf<hpl::ShapeError>([&] { planner.plan(writeView(1, 4, 14), {u.onHosts()}); }),
      "device 1 is to work on cells [4:14) of array \"u\""));
  CHECK(contains(
      messageOf<hpl::ArgumentError>([&] { planner.plan(writeView(0, 0, 2), {u.onHosts()}); }),
      "the hosts are no device"));
  CHECK(contains(messageOf<hpl::ShapeError>(
                     [&] { planner.plan(operation(NewCut{bands(13, 2, 1, 1)}), {u.onHosts()}); }),
                 "is to be cut as an array of cells [0:13)"));
  CHECK(contains(
      messageOf<hpl::ArgumentError>([&] { planner.plan(operation(Exchange{2}), {u.onHosts()}); }),
      "exchange of 2 arrays: 1 states were given"));
  CHECK(contains(messageOf<hpl::ArgumentError>([&] {
                   planner.plan(operation(Exchange{2}), {u.onHosts(), u.undefined()});
                 }),
                 "array \"u\" is operand 0 and 1"));
  RootStates elsewhere = arrayOf(1, 12, machineOf(5));
  CHECK(contains(messageOf<hpl::ArgumentError>(
                     [&] { planner.plan(operation(Exchange{1}), {elsewhere.onHosts()}); }),
                 "array \"v\" is known in 6 memory spaces, but the machine has 3"));
  CHECK(contains(messageOf<hpl::ShapeError>([&] {
                   RootStates(Root{0, {0}, 4, "w", true}, 2);
                 }),
                 "array \"w\" has extents (0), so no cells"));
}

TEST_CASE("what is remembered is bounded, and forgetting changes nothing") {
  Planner planner(machineOf(3), {4, 100}), all(machineOf(3));
  RootStates u = arrayOf(0, 30, planner.machine());
  for (int turn = 0; turn < 3; ++turn) {
    for (Index i = 0; i < 20; ++i) {
      const OperationPtr next = writeView(1 + static_cast<int>(i % 3), i, i + 8);
      const StepPtr a = planner.plan(next, {u.onHosts()});
      const StepPtr b = all.plan(next, {u.onHosts()});
      CHECK(a->after == b->after);
      CHECK(a->transfers == b->transfers);
    }
  }
  CHECK(planner.counts().planned == 60);
  CHECK(all.counts().planned == 20);
  CHECK(all.counts().repeated == 40);
}

TEST_CASE("a window of written views that moves over an array needs constant memory") {
  const Machine machine = machineOf(2);
  Planner planner(machine);
  const RootStates array = arrayOf(0, 100000, machine);
  StatePtr state = array.onHosts();
  const auto walk = [&](int i) {
    Launch launch;
    Use& use = launch.uses.emplace_back();
    use.device = 1 + i / 5000 % 2;
    use.cells = Box({i}, {i + 10});
    use.reads = use.writes = use.isView = true;
    state = planner.plan(operation(std::move(launch)), {state})->after[0];
  };
  const std::size_t growth = hpl_tests::growthKiB(3000, 12000, walk);
  MESSAGE("grew by ", growth, " KiB");
  if (hpl_tests::kMeasuresMemory) CHECK(growth < 8192);
  CHECK(state->copiesOf(1 + 14999 / 5000 % 2).current.contains(Box({14999}, {14999 + 10})));
}

}  // namespace planner_tests
