// SPDX-License-Identifier: Apache-2.0
// Ranks that go different ways, and failures on one of them: named on every rank, and none hangs.
#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "hpl/ranks/world.h"
#include "hpl/runtime/device_state.h"
#include "program_on_ranks.h"
#include "tests/messages.h"
#include "tests/ranks/soon.h"

namespace divergence_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;
using hpl_tests::RankReport;

namespace {

std::vector<RankReport> reportsOf(int ranks, const std::function<std::string(int rank)>& body) {
  return hpl_tests::inWorlds(ranks, [&] {
    const int rank = ranks::world()->rank();
    listDevices({ranks, 1, rank});
    return body(rank);
  });
}

/// All ranks say that they went different ways, within a second.
void expectDivergence(const std::vector<RankReport>& reports, const char* one, const char* other) {
  for (const RankReport& report : reports) {
    INFO(report.thrown << " after " << report.milliseconds << " ms");
    CHECK(report.milliseconds < hpl_tests::soon());
    CHECK(contains(report.thrown, "all ranks must do the same operations"));
    CHECK((contains(report.thrown, one) || contains(report.thrown, other)));
  }
}

void addTo(Numbers a, Int amount) { a[idx] += amount; }

}  // namespace

TEST_CASE("a host read on one rank only is named on all ranks") {
  const auto reports = reportsOf(2, [](int rank) {
    Numbers a(100), b(100);
    a.label("now");
    setCells(a, 1);
    eval(increment).device(devices()[1])(a);
    if (rank == 0) static_cast<void>(a(3).value());
    for (int step = 0; step < 10; ++step)
      eval(threePoint).devices(2)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
    return cellsOf(a);
  });
  expectDivergence(reports, "host read of array \"now\"", "launch of 'threePoint'");
}

TEST_CASE("arguments that depend on the rank are found out at the next message") {
  const auto reports = reportsOf(2, [](int rank) {
    Numbers a(100);
    setCells(a, 1);
    eval(addTo).devices(2)(PART1(a), rank);
    return cellsOf(a);
  });
  expectDivergence(reports, "host read", "launch of 'addTo'");
}

TEST_CASE("arrays that differ between ranks are found out at the first launch") {
  const auto reports = reportsOf(3, [](int rank) {
    Numbers a(rank == 2 ? 101 : 100);
    a = 1;
    eval(increment).devices(3)(PART1(a));
    return cellsOf(a);
  });
  expectDivergence(reports, "launch of", "fill of");
}

TEST_CASE("a rank that throws ends the others, too") {
  const auto reports = reportsOf(3, [](int rank) {
    Numbers a(100), b(100);
    setCells(a, 1);
    for (int step = 0; step < 100; ++step) {
      if (rank == 1 && step == 20) throw std::runtime_error("out of ideas");
      eval(threePoint).devices(3)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      swap(a, b);
    }
    return cellsOf(a);
  });
  CHECK(reports[1].thrown == "out of ideas");
  for (const int rank : {0, 2}) {
    INFO(reports[static_cast<std::size_t>(rank)].thrown);
    CHECK(contains(reports[static_cast<std::size_t>(rank)].thrown, "ank 1 has failed"));
  }
}

TEST_CASE("the profile of all ranks, asked for by one of them, is named on all") {
  const auto reports = reportsOf(2, [](int rank) {
    Numbers a(100);
    setCells(a, 1);
    eval(increment).devices(2)(PART1(a));
    if (rank == 1) return std::to_string(getProfile(ALL_RANKS).launches);
    return cellsOf(a);
  });
  expectDivergence(reports, "getProfile(ALL_RANKS)", "host read");
}

TEST_CASE("waiting for devices tells of a rank that failed meanwhile") {
  for (const bool forRunner : {false, true}) {
    CAPTURE(forRunner);
    const auto reports = reportsOf(2, [forRunner](int rank) -> std::string {
      Numbers a(100), b(100);
      setCells(a, 1);
      eval(increment).devices(2)(PART1(a, 1));
      if (rank == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        throw std::runtime_error("out of ideas");
      }
      // Needs a row of rank 1's.
      FRunner run = eval(threePoint).devices(2)(PART1(b, 1), PART1(a, 1, AUTO_SYNC));
      if (forRunner) run.wait();
      devices()[0].sync();
      return "nothing happened";
    });
    INFO(reports[0].said << reports[0].thrown);
    CHECK(contains(reports[0].thrown, "ank 1 has failed"));
  }
}

TEST_CASE("a launch that one rank cannot prepare throws on all ranks and changes nothing") {
  const auto reports = reportsOf(3, [](int rank) {
    Numbers a(10000), b(10000);
    setCells(a, 1);
    setCells(b, 2);
    const std::string before = cellsOf(a);
    if (rank == 1) devices()[1].state().setMemoryLimit(1000);
    std::string said;
    try {
      eval(threePoint).devices(3)(PART1(b, 1), PART1(a, 1));
    } catch (const AllocationError& error) {
      said = contains(error.what(), "has a limit of 1000 bytes") ||
                     contains(error.what(), "largest single array is 1000 bytes")
                 ? "short of memory"
                 : error.what();
      if (rank != 1 && !contains(error.what(), "rank 1")) said += " somewhere";
    }
    if (rank == 1) devices()[1].state().setMemoryLimit(1 << 20);
    if (cellsOf(a) != before) said += " and changed";
    eval(threePoint).devices(3)(PART1(b, 1), PART1(a, 1));
    return said + cellsOf(b);
  });
  for (const RankReport& report : reports) {
    CHECK(report.thrown == "");
    CHECK(contains(report.said, "short of memory"));
    CHECK(report.said == reports.front().said);
  }
}

TEST_CASE("operations on a second thread are refused") {
  const auto reports = reportsOf(2, [](int) {
    Numbers a(100);
    a = 1;
    std::string said;
    std::thread([&] {
      try {
        eval(increment)(a);
      } catch (const LaunchError& error) {
        said = error.what();
      }
    }).join();
    return said;
  });
  for (const RankReport& report : reports)
    CHECK(contains(report.said, "have to come from one thread"));
}

TEST_CASE("devices short of memory spill what other arrays need, and nothing is lost") {
  const auto program = [](std::size_t limit) {
    return [limit] {
      Numbers a(4000), b(4000), c(4000);
      setCells(a, 1);
      setCells(b, 2);
      setCells(c, 3);
      for (const Device& device : devices())
        if (device.isLocal() && limit > 0) device.state().setMemoryLimit(limit);
      for (int step = 0; step < 4; ++step) {
        eval(threePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
        eval(threePoint).devices(getDeviceNumber())(PART1(c, 1, AUTO_SYNC), PART1(b, 1, AUTO_SYNC));
        eval(threePoint).devices(getDeviceNumber())(PART1(a, 1, AUTO_SYNC), PART1(c, 1, AUTO_SYNC));
      }
      return cellsOf(a) + cellsOf(b) + cellsOf(c);
    };
  };
  // Room for two parts of 2,000 cells, not for three.
  CHECK(saidOn(2, 1, program(20000)) == saidOn(2, 1, program(0)));
}

}  // namespace divergence_tests
