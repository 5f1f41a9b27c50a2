// SPDX-License-Identifier: Apache-2.0
// Processes that own some of the devices, or none, plan what the others plan, and execute their own
// part. Each runs in a process of its own, without other ranks: no cell arrives from elsewhere.
#include <doctest/doctest.h>

#include "hpl/coherence/describe.h"
#include "hpl/memory/detail/coherence.h"
#include "program_on_ranks.h"
#include "tests/messages.h"

namespace planning_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;

namespace {

/// The process's knowledge about an array.
template <class A>
std::string knownOf(const A& array) {
  const memory::detail::Lock lock(memory::detail::coherenceMutex());
  return coherence::describe(*array.hostView().root().state().known,
                             memory::detail::planner().machine());
}

/// Launches of all kinds, exchanges, assignments, fills and host access. Says what is known after
/// each step.
std::string program() {
  Grid a(40, 24), b(40, 24), c(40, 24);
  setCells(a, 1);
  setCells(b, 2);
  c = 3;
  std::string said;
  const auto note = [&] { said += knownOf(a) + knownOf(b) + knownOf(c) + "\n"; };
  const int all = getDeviceNumber();
  for (int step = 0; step < 3; ++step) {
    eval(fivePoint).devices(all)(PART1(b, 1), PART1(a, 1));
    note();
    b.syncGhosts();
    note();
    eval(fivePoint).devices(all)(PART1(a, 2, AUTO_SYNC), PART1(b, 2, AUTO_SYNC));
    note();
    eval(fivePoint).devices(all)(c, a);
    note();
    eval(fivePoint).device(devices()[static_cast<std::size_t>(step) % 3])(b, c);
    note();
    c(Range(3, 30), Range(2, 9)) = a(Range(10, 37), Range(5, 12));
    b(Range(0, 10), Range(0, 23)) = 4;
    note();
    static_cast<void>(c(13, 5).value());
    a(2, 2) = 7;
    note();
  }
  return said;
}

/// The text of a process that owns the devices of rank `me` of three.
std::string saidBy(int me, const std::function<std::string()>& work) {
  const auto reports = hpl_tests::inWorlds(1, [&] {
    listDevices({3, 1, me});
    return work();
  });
  return reports.front().thrown + reports.front().said;
}

}  // namespace

TEST_CASE("all processes plan the same, whichever devices they own") {
  const std::string expected = saidBy(0, program);
  CHECK(contains(expected, "device 3"));
  CHECK(saidBy(1, program) == expected);
  CHECK(saidBy(2, program) == expected);
  CHECK(saidBy(-1, program) == expected);
}

TEST_CASE("a device of another process is never opened, and says whose it is") {
  const std::string said = saidBy(1, [] {
    program();
    std::string text;
    for (const Device& device : devices()) {
      text += device.isLocal() ? "own " : "other ";
      text += std::to_string(device.rank()) + (device.state().isOpen() ? " open\n" : " closed\n");
      device.sync();
    }
    try {
      devices()[2].state().computeQueue();
    } catch (const DeviceError& error) {
      text += error.what();
    }
    return text;
  });
  CHECK(contains(said, "other 0 closed\nown 1 open\nother 2 closed\n"));
  CHECK(contains(said, "belongs to rank 2 (node n1): only that process can use"));
}

TEST_CASE("devices cannot be listed once they have been used") {
  const std::string said = saidBy(0, [] {
    static_cast<void>(getDeviceNumber());
    try {
      listDevices({2, 1, 0});
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  });
  CHECK(contains(said, "make the session in the first line of main()"));
}

}  // namespace planning_tests
