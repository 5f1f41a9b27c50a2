// SPDX-License-Identifier: Apache-2.0
// Ranks that die, leave or differ: the others learn of it, and no process is left.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "hpl/error.h"
#include "hpl/ranks/detail/family.h"
#include "hpl/ranks/world.h"
#include "hpl/runtime/settings.h"
#include "tests/messages.h"
#include "tests/ranks/delaying_fabric.h"
#include "tests/ranks/on_ranks.h"
#include "tests/ranks/soon.h"

namespace faults_tests {

using hpl::ranks::Courier;
using hpl_tests::contains;
using hpl_tests::inWorlds;
using hpl_tests::onRanks;
using hpl_tests::RankReport;

namespace {

/// Exchanges for ever with the next rank.
std::string goOn(Courier& courier) {
  for (;;) courier.allAgree(true);
}

bool hasNoChild() { return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

void checkOthers(const std::vector<RankReport>& reports, std::size_t dead,
                 const std::string& part) {
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    if (rank == dead) continue;
    CAPTURE(rank);
    CHECK(contains(reports[rank].thrown, part));
    CHECK(reports[rank].milliseconds < hpl_tests::soon());
    CHECK(reports[rank].status == 0);
  }
  CHECK(hasNoChild());
}

}  // namespace

TEST_CASE("ranks are processes that exchange messages") {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const auto reports = onRanks(ranks, [](Courier& courier) {
      std::string text;
      const auto own = std::to_string(getpid() == getppid()) + std::to_string(courier.rank());
      for (const auto& blob : courier.allgather(std::as_bytes(std::span(own))))
        text += std::string(reinterpret_cast<const char*>(blob.data()), blob.size());
      return text;
    });
    for (const RankReport& report : reports) {
      CHECK(report.thrown.empty());
      CHECK(report.said == std::string("00010203").substr(0, 2 * static_cast<std::size_t>(ranks)));
    }
  }
  CHECK(hasNoChild());
}

TEST_CASE("a rank that is killed is named to all others") {
  for (const std::size_t dead : {0, 2}) {
    const auto reports = onRanks(4, [dead](Courier& courier) {
      if (courier.rank() == static_cast<int>(dead)) raise(SIGKILL);
      return goOn(courier);
    });
    checkOthers(reports, dead, "Rank " + std::to_string(dead) + " has failed");
    checkOthers(reports, dead, "its process was killed by signal 9 (Killed)");
    CHECK(hpl::ranks::exitCodeOf({reports[dead].status}) == 128 + SIGKILL);
  }
}

TEST_CASE("a rank that is killed between two words to the others is named to all") {
  for (int at = 3; at < 40; at += 7) {
    CAPTURE(at);
    const auto reports = onRanks(3, goOn, [at](std::unique_ptr<hpl::ranks::Fabric> fabric) {
      const int mishapAt = fabric->rank() == 1 ? at : -1;
      return std::make_unique<hpl_tests::DelayingFabric>(
          std::move(fabric), 5, std::chrono::microseconds(200), mishapAt, [] { raise(SIGKILL); });
    });
    checkOthers(reports, 1, "its process was killed by signal 9 (Killed)");
  }
}

TEST_CASE("a rank that exits without leaving is named with its exit code") {
  const auto reports = onRanks(3, [](Courier& courier) {
    if (courier.rank() == 1) _exit(7);
    return goOn(courier);
  });
  checkOthers(reports, 1, "its process ended with exit code 7 and without leaving the session");
}

TEST_CASE("a rank that an exception ends is named to all others") {
  const auto reports = inWorlds(3, []() -> std::string {
    if (hpl::ranks::world()->rank() == 1) throw hpl::ShapeError("wrong shape");
    return goOn(hpl::ranks::world()->courier());
  });
  CHECK(reports[1].thrown == "wrong shape");
  checkOthers(reports, 1, "Rank 1 has failed in its main program");
}

TEST_CASE("a rank that computes is slow, not dead") {
  const auto reports = onRanks(2, [](Courier& courier) {
    if (courier.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return std::string(courier.allAgree(true) ? "all" : "");
  });
  CHECK(reports[0].said == "all");
  CHECK(reports[1].said == "all");
}

TEST_CASE("settings that differ between ranks are the same error on all of them") {
  const auto reports = inWorlds(
      3, [] { return std::string("no error"); },
      [](std::unique_ptr<hpl::ranks::Fabric> fabric) {
        hpl::runtime::Settings settings = hpl::runtime::settings();
        settings.overlap =
            fabric->rank() == 2 ? hpl::runtime::Overlap::On : hpl::runtime::Overlap::Off;
        hpl::runtime::overrideSettings(settings);
        return fabric;
      });
  for (const RankReport& report : reports) {
    CHECK(contains(
        report.thrown,
        "HPL_OVERLAP is not the same on all ranks: \"off\" on ranks 0, 1, \"on\" on rank 2"));
  }
}

TEST_CASE("a world tells nodes and places on them, and is made once") {
  const auto reports = inWorlds(3, [] {
    hpl::ranks::World& world = *hpl::ranks::world();
    std::string text = std::to_string(world.rankOnNode()) + " of " +
                       std::to_string(world.ranksOnNode()) + ", " + world.describe(2) + ", nodes " +
                       std::to_string(world.nodes());
    try {
      hpl::ranks::enterWorld(nullptr);
    } catch (const hpl::LaunchError& error) {
      text += std::string("; ") + error.what();
    }
    return text;
  });
  CHECK(contains(reports[1].said, "1 of 3, rank 2, nodes 1; This program has a Session already"));
}

TEST_CASE("work that was left for the session's end is done while the other ranks are there") {
  const auto reports = inWorlds(2, [] {
    static std::string order;
    hpl::ranks::world()->atLeave([] {
      hpl::ranks::world()->courier().allAgree(true);
      order += "first";
    });
    hpl::ranks::world()->atLeave([] { order += "second "; });
    hpl::ranks::world()->leave(hpl::ranks::World::End::Session);
    return order;
  });
  for (const RankReport& report : reports) CHECK(report.said == "second first");
}

TEST_CASE("statuses of ranks as sentences and as an exit code") {
  // As wait.h composes them.
  const int exitedWith3 = 3 << 8;
  const int killed = SIGSEGV;
  CHECK(hpl::ranks::describeStatus(exitedWith3) ==
        "ended with exit code 3 and without leaving the session");
  CHECK(hpl::ranks::describeStatus(killed) == "was killed by signal 11 (Segmentation fault)");
  CHECK(hpl::ranks::describeStatus(hpl::ranks::Arena::kAlive) == "has died");
  CHECK(hpl::ranks::describeDeath(killed) == "was killed by signal 11 (Segmentation fault)");
  CHECK(hpl::ranks::describeDeath(exitedWith3).empty());
  CHECK(hpl::ranks::exitCodeOf({0, 0}) == 0);
  CHECK(hpl::ranks::exitCodeOf({0, exitedWith3, killed}) == 3);
  CHECK(hpl::ranks::exitCodeOf({exitedWith3, 0}) == 3);
  CHECK(hpl::ranks::exitCodeOf({0, killed}) == 139);
}

}  // namespace faults_tests
