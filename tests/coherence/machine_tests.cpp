// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/machine.h"

#include <doctest/doctest.h>

#include "hpl/error.h"
#include "tests/messages.h"

namespace machine_tests {

using namespace hpl::coherence;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

Space deviceOf(int rank, int node, int context) {
  Space space;
  space.rank = rank;
  space.node = node;
  space.context = context;
  return space;
}

}  // namespace

TEST_CASE("spaces are the farther apart the more there is between them") {
  const Machine machine({deviceOf(0, 0, 0), deviceOf(0, 0, 0), deviceOf(0, 0, 1), deviceOf(1, 0, 0),
                         deviceOf(2, 1, 0)});
  CHECK(machine.distance(1, 1) == Distance::SameSpace);
  CHECK(machine.distance(1, 2) == Distance::SameContext);
  CHECK(machine.distance(1, kHosts) == Distance::Hosts);
  CHECK(machine.distance(1, 3) == Distance::SameRank);
  CHECK(machine.distance(1, 4) == Distance::SameNode);
  CHECK(machine.distance(5, 1) == Distance::OtherNode);
}

TEST_CASE("bad machines and lost devices are named") {
  Space hosts;
  hosts.kind = SpaceKind::Hosts;
  CHECK(contains(messageOf<hpl::ArgumentError>([&] { Machine({hosts}); }),
                 "device 1 has the kind of the hosts"));
  CHECK(contains(messageOf<hpl::ArgumentError>([] { Machine({deviceOf(-1, 0, 0)}); }),
                 "device 1 has rank -1, node 0 and context 0: count each from 0"));
  Space named = deviceOf(0, 0, 0);
  named.name = "V100";
  const Machine machine({named, deviceOf(0, 0, 0)});
  CHECK(contains(messageOf<hpl::ArgumentError>([&] { (void)machine.space(7); }),
                 "there is no memory space 7: the machine has the hosts (0) and devices 1 to 2"));
  const Machine rest = machine.without(1);
  CHECK(machine.isAlive(1));
  CHECK_FALSE(rest.isAlive(1));
  CHECK(rest.isAlive(2));
  CHECK(contains(messageOf<hpl::DeviceError>([&] { (void)rest.without(1); }),
                 "device 1 \"V100\" has been lost: use the devices that are left"));
  CHECK(contains(messageOf<hpl::ArgumentError>([&] { (void)machine.without(kHosts); }),
                 "the hosts are no device"));
}

}  // namespace machine_tests
