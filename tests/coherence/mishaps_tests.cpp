// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/mishaps.h"

#include <doctest/doctest.h>

#include "hpl/coherence/planner.h"
#include "hpl/error.h"
#include "tests/messages.h"

namespace mishaps_tests {

using namespace hpl::coherence;
using hpl::geometry::Box;
using hpl::geometry::DimSplit;
using hpl::geometry::Index;
using hpl::geometry::Region;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

Machine machineOf(int devices) {
  return Machine(std::vector<Space>(static_cast<std::size_t>(devices)));
}

RootStates arrayOf(Index cells, const Machine& machine) {
  return {Root{0, {cells}, 4, "u", true}, machine.spaceCount()};
}

// Devices 1 and 2 write their halves of an array of 12 cells with a ghost on each side: each keeps
// one cell of the other one's.
StatePtr writtenParts(Planner& planner, RootStates& u) {
  Use use;
  use.reads = use.writes = true;
  use.distribution =
      Distribution::grid(Box({0}, {12}), {{DimSplit{0, 2, 1, 1, {}}, false}}, {1, 2});
  return planner.plan(operation(Launch{{use}}), {u.onHosts()})->after[0];
}

}  // namespace

TEST_CASE("what has arrived before an operation failed is there, and its old ghosts are gone") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(12, planner.machine());
  const StatePtr state = writtenParts(planner, u);
  REQUIRE(state->copiesOf(1).kept == Region(Box({6}, {7})));
  const StatePtr copied = afterArrival(state, 1, Box({6}, {7}), false);
  CHECK(copied->copiesOf(1).current == Region(Box({0}, {7})));
  CHECK(copied->copiesOf(1).kept == Region(Box({6}, {7})));
  const StatePtr exchanged = afterArrival(state, 1, Box({6}, {7}), true);
  CHECK(exchanged->copiesOf(1).current == Region(Box({0}, {7})));
  CHECK(exchanged->copiesOf(1).kept.empty());
  CHECK(afterArrival(exchanged, 1, Box({6}, {7}), true) == exchanged);
}

TEST_CASE("cells of which a failed operation destroyed the only values are lost") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(12, planner.machine());
  const StatePtr state = writtenParts(planner, u);
  Region gone;
  const StatePtr failed = afterFailure(state, 2, Box({5}, {9}), "a launch failed half-way", gone);
  CHECK(gone == Region(Box({6}, {9})));
  CHECK(failed->copiesOf(2).current == Region(Box({9}, {12})));
  CHECK(failed->copiesOf(2).kept.empty());
  // No space goes on with older values of them.
  CHECK(failed->copiesOf(1).kept.empty());
  CHECK(contains(messageOf<hpl::DeviceError>(
                     [&] { planner.plan(operation(HostRead{Box({0}, {12})}), {failed}); }),
                 "array \"u\": cells [6:9) have no value, because a launch failed half-way"));
  const StepPtr again = planner.plan(operation(Fill{{Box({0}, {12})}}), {failed});
  CHECK(again->after[0]->lost().empty());
}

TEST_CASE("values that others have, too, are not lost with one of them") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(12, planner.machine());
  const StatePtr state = writtenParts(planner, u);
  const StatePtr read = planner.plan(operation(HostRead{Box({0}, {12})}), {state})->after[0];
  CHECK(onlyIn(*state, 1, Box({0}, {12})) == Region(Box({0}, {6})));
  CHECK(onlyIn(*read, 1, Box({0}, {12})).empty());
  Region gone;
  CHECK(afterFailure(read, 1, Box({0}, {12}), "a copy failed", gone)->lost().empty());
  CHECK(gone.empty());
}

TEST_CASE("a device that is added later has nothing, and may be used at once") {
  Planner planner(machineOf(1));
  RootStates u = arrayOf(12, planner.machine());
  const StatePtr before = u.onHosts();
  Space space;
  space.name = "new";
  CHECK(planner.add(space) == 2);
  CHECK(planner.machine().describe(2) == "device 2 \"new\"");
  CHECK(before->copiesOf(2).empty());
  Use use;
  use.reads = true;
  use.device = 2;
  use.cells = Box({2}, {5});
  const StepPtr step = planner.plan(operation(Launch{{use}}), {before});
  CHECK(step->transfers.size() == 1);
  CHECK(step->after[0]->copiesOf(2).current == Region(Box({2}, {5})));
  CHECK(contains(messageOf<hpl::ArgumentError>([&] {
                   Space hosts;
                   hosts.kind = SpaceKind::Hosts;
                   planner.add(hosts);
                 }),
                 "has the kind of the hosts"));
}

TEST_CASE("a view of an array may be cut into parts, a periodic one may not") {
  Planner planner(machineOf(2));
  RootStates u = arrayOf(12, planner.machine());
  const auto reads = [&](bool periodic) {
    Use use;
    use.reads = use.writes = true;
    use.distribution =
        Distribution::grid(Box({2}, {10}), {{DimSplit{0, 2, 1, 1, {}}, periodic}}, {1, 2});
    return planner.plan(operation(Launch{{use}}), {u.onHosts()});
  };
  const StatePtr after = reads(false)->after[0];
  CHECK(after->copiesOf(kHosts).current == Region{Box({0}, {2}), Box({10}, {12})});
  CHECK(after->copiesOf(1).current == Region(Box({2}, {6})));
  CHECK(after->copiesOf(1).kept == Region(Box({6}, {7})));
  CHECK(contains(messageOf<hpl::ShapeError>([&] { reads(true); }),
                 "is used with a distribution of cells [2:10)"));
}

}  // namespace mishaps_tests
