// SPDX-License-Identifier: Apache-2.0
// Iterations that are one launch on each rank of several nodes, between which the couriers carry
// what groups store.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "hpl/ranks/window.h"
#include "hpl/ranks/world.h"
#include "nodes_fabric.h"
#include "persistent_on_ranks.h"
#include "tests/messages.h"
#include "tests/ranks/soon.h"
#include "tests/seeds.h"

namespace persistent_nodes_tests {

using namespace hpl;
using namespace stencil_tests;
using namespace ranks_tests;
using hpl_tests::contains;
using hpl_tests::RankReport;

TEST_CASE("persistent on two nodes: one message for each exchange and direction, and a last one") {
  if (!canSpinOnTwo()) return;
  CHECK(saidOnNodes(2, 1, 1, [] {
          Array<float, 2> a(64, 40), b(64, 40);
          a = 0.0f;
          Stencil stencil = jacobi();
          const StencilLauncher launcher = onAll(stencil.persistent());
          const auto sentIn = [&](int steps) {
            const std::uint64_t before = hpl_tests::sent().rims;
            const StencilRun run = StencilLauncher(launcher).timeTile(4).iterate(steps)(a, b);
            const std::uint64_t sent = hpl_tests::sent().rims - before;
            return run.launches == 1 ? fmt::format("{} ", sent) : std::string("launches ");
          };
          // 11, 3 and 1 passes; after the last one nothing is exchanged, and that is said.
          const std::string said = sentIn(41) + sentIn(12) + sentIn(3);
          return stencils::hasGivenUp(devices()) ? std::string("11 3 1 ") : said;
        }) == "11 3 1 ");
}

TEST_CASE(
    "persistent on several nodes with several ranks, blocks and looks, and groups that wait "
    "for all") {
  if (!canSpinOnTwo()) return;
  const auto program = [](bool isKept) {
    std::string said;
    for (const unsigned seed : Seeds(1, 2)) {
      std::mt19937 random(seed);
      PersistentCase one = randomPersistent(random, 2);
      for (std::size_t d = 1; d < 3; ++d) one.extents[d] += 36;
      Array<int, 2> a = arrayOf<int, 2>(someCells<int>(one.extents, seed));
      Array<int, 2> b = arrayOf<int, 2>(someCells<int>(one.extents, seed + 1));
      Stencil stencil(weightedSumOf<int, 2>(one.taps));
      setRules(stencil, one.rules, 2);
      const int n = static_cast<int>(devices().size());
      for (const bool isBlocks : {false, true}) {
        StencilLauncher launcher = onAll(stencil.persistent(isKept));
        if (n > 1 && isBlocks) launcher.blocks(n % 2 == 0 ? 2 : n, n % 2 == 0 ? n / 2 : 1);
        launcher.iterate(one.steps)(a, b);
      }
      said += bitsOf(a);
    }
    Array<float, 2> a(72, 40), b(72, 40);
    a = 0.0f;
    const StencilRun run = onAll(jacobi().persistent(isKept)).until(0.05, 9).iterate(60)(a, b);
    return said + fmt::format("{} {} {:a} ", run.steps, run.converged, run.residual) + bitsOf(a);
  };
  const std::string expected = saidOn(1, 1, [&] { return program(false); });
  for (const auto& [ranks, each, perNode] :
       {std::tuple(3, 1, 1), std::tuple(4, 1, 2), std::tuple(2, 2, 1)}) {
    for (const runtime::GroupsWait wait :
         {runtime::GroupsWait::Neighbours, runtime::GroupsWait::All}) {
      CAPTURE(ranks);
      CAPTURE(each);
      CHECK(saidOnNodes(ranks, each, perNode, [&] {
              runtime::Settings own = runtime::settings();
              own.groupsWait = wait;
              runtime::overrideSettings(own);
              return program(true);
            }) == expected);
    }
  }
}

TEST_CASE("persistent on two nodes: border groups, which have less to do than those between them") {
  if (!canSpinOnTwo()) return;
  // More units than processors: each exchange takes as long as the system needs for turns.
  const char* const before = std::getenv("POCL_MAX_PTHREAD_COUNT");
  const std::string own = before != nullptr ? before : "";
  ::setenv("POCL_MAX_PTHREAD_COUNT", "4", 1);
  const auto program = [](bool isKept) {
    Array<float, 2> a(160, 40), b(160, 40);
    a = 0.0f;
    a(70, 7) = 300.0f;
    Stencil stencil = jacobi();
    stencil.boundary(Periodic());
    StencilLauncher launcher = onAll(stencil.persistent(isKept));
    if (isKept) launcher.timeTile(3);
    return launchesOf(launcher.iterate(16)(a, b), isKept) + bitsOf(a);
  };
  const std::string expected = saidOn(1, 1, [&] { return program(false); });
  CHECK(saidOnNodes(2, 1, 1, [&] { return program(true); }) == expected);
  before != nullptr ? ::setenv("POCL_MAX_PTHREAD_COUNT", own.c_str(), 1)
                    : ::unsetenv("POCL_MAX_PTHREAD_COUNT");
}

TEST_CASE("persistent on two nodes: groups that wait in vain give up on both") {
  if (!canSpinOnTwo()) return;
  const auto cells = [](bool isKept) {
    Array<float, 2> a(64, 64), b(64, 64);
    a = 0.0f;
    onAll(jacobi().persistent(isKept)).iterate(400)(a, b);
    return bitsOf(a);
  };
  const std::string expected = saidOn(1, 1, [&] { return cells(false); });
  CHECK(saidOnNodes(2, 1, 1, [&] {
          runtime::Settings impatient = runtime::settings();
          impatient.patience = 1;
          runtime::overrideSettings(impatient);
          if (cells(true) != expected) return std::string("wrong cells");
          return std::string(stencils::hasGivenUp(devices()) ? "gave up" : "went on");
        }) == "gave up");
}

namespace {

/// A rank of two is killed while both iterate; how the other one ended.
RankReport endBesideKilled(int perNode) {
  const auto memory = hpl_tests::memoryOfNodes(2 / perNode, ranks::Window::bytesFor(perNode));
  const auto program = [perNode] {
    alarm(60);
    const int rank = ranks::world()->rank();
    ranks_tests::Listed listed{2, 1, rank};
    listed.perNode = perNode;
    ranks_tests::listDevices(listed);
    Array<float, 2> a(64, 64), b(64, 64);
    a = 0.0f;
    const StencilLauncher launcher = onAll(jacobi().persistent());
    StencilLauncher(launcher).iterate(100)(a, b);
    std::thread killer;
    if (rank == 1)
      killer = std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ::kill(::getpid(), SIGKILL);
      });
    for (;;) StencilLauncher(launcher).iterate(perNode > 1 ? 500'000 : 500)(a, b);
    return std::string();
  };
  return hpl_tests::inWorlds(2, program,
                             [&](std::unique_ptr<ranks::Fabric> inner) {
                               return std::make_unique<hpl_tests::NodesFabric>(std::move(inner),
                                                                               perNode, memory);
                             })
      .front();
}

}  // namespace

TEST_CASE("persistent on two ranks: a rank that is killed ends the other one with its name, soon") {
  if (!canSpinOnTwo()) return;
  for (const int perNode : {2, 1}) {
    const RankReport report = endBesideKilled(perNode);
    CAPTURE(perNode);
    INFO(report.thrown << " after " << report.milliseconds << " ms");
    CHECK(contains(report.thrown, "ank 1"));
    CHECK(contains(report.thrown, "was killed by signal 9"));
    CHECK(report.milliseconds < hpl_tests::soon());
  }
}

}  // namespace persistent_nodes_tests
