// SPDX-License-Identifier: Apache-2.0
// Iterations and programs that are one launch on each of two ranks, whose groups exchange cells
// through memory that the processes share, against launches in one process.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "counting_fabric.h"
#include "hpl/error.h"
#include "hpl/memory/operations.h"
#include "hpl/memory/peer_memory.h"
#include "hpl/ranks/window.h"
#include "hpl/ranks/world.h"
#include "persistent_on_ranks.h"
#include "tests/messages.h"
#include "tests/seeds.h"

namespace persistent_tests {

using namespace hpl;
using namespace stencil_tests;
using hpl_tests::contains;
using hpl_tests::messageOf;
using ranks_tests::bitsOf;
using ranks_tests::canSpinOnTwo;
using ranks_tests::expectAsLaunched;
using ranks_tests::launchesOf;
using ranks_tests::onAll;
using ranks_tests::saidOn;

namespace {

template <class T, int N>
std::string randomIteration(unsigned seed, bool isKept) {
  std::mt19937 random(seed);
  PersistentCase one = randomPersistent(random, N);
  one.extents[3 - N] += 24;
  Array<T, N> a = arrayOf<T, N>(someCells<T>(one.extents, seed));
  Array<T, N> b = arrayOf<T, N>(someCells<T>(one.extents, seed + 1));
  Stencil stencil(weightedSumOf<T, N>(one.taps));
  setRules(stencil, one.rules, N);
  StencilLauncher launcher = onAll(stencil.persistent(isKept));
  if (isKept && one.depth > 0) launcher.timeTile(one.depth);
  std::string said;
  // Again, and by turns with launches.
  for (const int steps : {one.steps, 3, one.steps + 1}) {
    said += launchesOf(launcher.iterate(steps)(a, b), isKept);
    onAll(stencil.persistent(false)).iterate(1)(a, b);
  }
  return said + bitsOf(a);
}

template <int N>
std::string randomProgramOn(const RandomProgram& program, unsigned seed, int steps, bool isKept) {
  std::vector<Array<int, N>> arrays;
  std::vector<stencils::ProgramArgument> fields;
  for (std::size_t f = 0; f < static_cast<std::size_t>(program.fields); ++f) {
    arrays.push_back(
        arrayOf<int, N>(someCells<int>(program.extents, seed + static_cast<unsigned>(f))));
    fields.push_back(isTemporaryField(program, f) ? stencils::programArgument(Temporary<int, N>())
                                                  : stencils::programArgument(arrays.back()));
  }
  StencilProgram run;
  for (const RandomFunction& f : program.functions) addTo<N>(run, program, f, fields);
  run.persistent(isKept).devices(devices());
  std::string said;
  try {
    said = launchesOf(run.run(steps), isKept, 2);
  } catch (const LaunchError& error) {
    if (!contains(error.what(), "no step sees what the one before it has written")) throw;
    run.persistent(false).run(steps);
  }
  for (std::size_t f = 0; f < arrays.size(); ++f)
    if (!isTemporaryField(program, f)) said += bitsOf(arrays[f]);
  return said;
}

std::string randomPrograms(unsigned first, unsigned last, bool isKept) {
  std::string said;
  for (unsigned seed = first; seed <= last; ++seed) {
    std::mt19937 random(seed);
    RandomProgram program = oncePerField(randomProgram(random));
    program.extents[static_cast<std::size_t>(3 - program.dims)] += 72;
    const int steps = 2 + static_cast<int>(random() % 20);
    if (program.dims == 1) said += randomProgramOn<1>(program, seed, steps, isKept);
    if (program.dims == 2) said += randomProgramOn<2>(program, seed, steps, isKept);
    if (program.dims == 3) said += randomProgramOn<3>(program, seed, steps, isKept);
  }
  return said;
}

/// The refusal of iterations of a square that are to be one launch.
std::string refusal(StencilLauncher launcher) {
  Array<float, 2> a(64, 64), b(64, 64);
  a = 0.0f;
  b = 0.0f;
  return launchErrorOf([&] { launcher.iterate(20)(a, b); });
}

std::unique_ptr<ranks::Fabric> withoutWindow(std::unique_ptr<ranks::Fabric> inner) {
  return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
}

}  // namespace

TEST_CASE("persistent on two ranks: random iterations equal launches in one process") {
  for (const unsigned seed : Seeds(1, 3)) {
    CAPTURE(seed);
    expectAsLaunched([=](bool isKept) {
      return randomIteration<int, 1>(seed, isKept) + randomIteration<float, 2>(100 + seed, isKept) +
             randomIteration<double, 3>(200 + seed, isKept) +
             randomIteration<short, 2>(300 + seed, isKept);
    });
  }
}

TEST_CASE("persistent on two ranks: random programs equal launches in one process") {
  expectAsLaunched([](bool isKept) { return randomPrograms(1, 5, isKept); });
}

TEST_CASE("persistent on two ranks: looks are those of launches, and end at the same step") {
  expectAsLaunched([](bool isKept) {
    std::string said;
    for (const double bound : {0.002, 0.05, 1e-30}) {
      Array<float, 2> a(48, 40), b(48, 40);
      a = 0.0f;
      const StencilRun run =
          onAll(jacobi().persistent(isKept)).until(bound, 25).iterate(1500)(a, b);
      said += launchesOf(run, isKept);
      said += fmt::format("{} {} {:a}\n{}", run.steps, run.converged, run.residual, bitsOf(a));
    }
    return said;
  });
}

TEST_CASE("persistent on two ranks: scalars that change from step to step, and a periodic grid") {
  expectAsLaunched([](bool isKept) {
    Stencil stencil([](Neighbourhood<float, 2> p, Float factor) {
      return factor * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
    });
    stencil.boundary(Periodic());
    Array<float, 2> a(44, 37), b(44, 37);
    a = 1.0f;
    a(20, 5) = 9.0f;
    const StencilRun run =
        onAll(stencil.persistent(isKept)).iterate(33)(a, b, perStep([](std::int64_t step) {
                                                        return step % 3 == 0
                                                                   ? 0.2f
                                                                   : 0.25f + 0.001f * float(step);
                                                      }));
    return launchesOf(run, isKept) + bitsOf(a);
  });
}

TEST_CASE("persistent on two ranks: chosen by itself where launches would take longer") {
  if (!canSpinOnTwo()) return;
  CHECK(saidOn(2, 1, [] {
          Array<float, 2> a(64, 64), b(64, 64);
          a = 0.0f;
          const StencilRun run = jacobi().devices().iterate(5000)(a, b);
          return run.launches == 1 || stencils::hasGivenUp(devices())
                     ? "one launch"
                     : fmt::format("{} launches", run.launches);
        }) == "one launch");
}

TEST_CASE("persistent on ranks: an iteration on one rank's device alone") {
  const auto program = [](bool isKept) {
    Array<float, 2> a(40, 40), b(40, 40);
    a = 0.0f;
    StencilLauncher launcher = jacobi().persistent(isKept);
    launcher.device(devices().back());
    const StencilRun run = launcher.until(0.002, 25).iterate(700)(a, b);
    return launchesOf(run, isKept) + fmt::format("{} {:a} ", run.steps, run.residual) + bitsOf(a);
  };
  const std::string expected = saidOn(1, 1, [&] { return program(false); });
  CHECK(saidOn(2, 1, [&] { return program(true); }) == expected);
}

TEST_CASE("persistent on ranks: arrays of one rank alone, of its own size, whenever it likes") {
  const auto after = [](const std::vector<Device>& on, bool isKept, unsigned flags, int n) {
    Array<float, 2> a(n, n + 3, flags), b(n, n + 3, flags);
    a = 0.0f;
    a(n / 2, n / 3) = 100.0f;
    StencilLauncher launcher = jacobi().persistent(isKept);
    launcher.devices(on);
    std::string said = launchesOf(launcher.iterate(60)(a, b), isKept);
    const StencilRun looked = launcher.until(1e-30, 7).iterate(100)(a, b);
    return said + launchesOf(looked, isKept) + fmt::format("{} ", looked.steps) + bitsOf(a);
  };
  // One device of each rank; then both of one rank, while the other one does nothing of the kind.
  for (const int devicesOfEach : {1, 2}) {
    CAPTURE(devicesOfEach);
    CHECK(saidOn(2, devicesOfEach, [&] {
            const int rank = ranks::world()->rank();
            std::vector<Device> own;
            for (const Device& device : devices())
              if (device.isLocal()) own.push_back(device);
            if (devicesOfEach > 1 &&
                (rank > 0 || !stencils::whyNotSpinning({own, true}, 1, 1).empty()))
              return std::string();
            for (int round = 0; round <= rank; ++round) {
              const int n = 40 + 9 * rank + round;
              if (after(own, true, HPL_RANK_LOCAL, n) != after(own, false, HPL_RANK_LOCAL, n))
                return fmt::format("rank {}: {} cells differ", rank, n);
            }
            return std::string();
          }).empty());
  }
}

TEST_CASE("persistent on two ranks: many runs of any size, on one device and on both") {
  if (!canSpinOnTwo()) return;
  const char* const asked = std::getenv("TEST_RUNS");
  const int runs = asked != nullptr ? std::atoi(asked) : 25;
  CHECK(saidOn(2, 1, [&] {
          std::mt19937 random(7);
          std::vector<std::unique_ptr<Stencil>> alive;
          int gaveUp = 0;
          for (int k = 0; k < runs; ++k) {
            // Stencils come and go, and with them what their kernels exchange cells through.
            if (alive.size() < 3 || random() % 3 == 0)
              alive.push_back(std::make_unique<Stencil>(jacobi()));
            if (alive.size() > 4)
              alive.erase(alive.begin() + static_cast<long>(random() % alive.size()));
            const Stencil& stencil = *alive[random() % alive.size()];
            const int n = 24 + 8 * static_cast<int>(random() % 16);
            const int steps = 20 + static_cast<int>(random() % 200);
            const bool isOnOne = random() % 4 == 0;
            const bool looks = random() % 3 == 0;
            const auto after = [&](bool isKept) {
              Array<float, 2> a(n, n + 3), b(n, n + 3);
              a = 0.0f;
              a(n / 2, n / 3) = 100.0f;
              StencilLauncher launcher = stencil.persistent(isKept);
              if (isOnOne) {
                launcher.device(devices()[static_cast<std::size_t>(n / 8 % 2)]);
              } else {
                launcher.devices(devices());
              }
              const StencilRun run = looks ? launcher.until(1e-30, 7).iterate(steps)(a, b)
                                           : launcher.iterate(steps)(a, b);
              return fmt::format("{} ", run.steps) + bitsOf(a);
            };
            if (after(true) != after(false))
              return fmt::format("run {}: {} steps on {} cells differ", k, steps, n);
            if (stencils::hasGivenUp(devices())) {
              ++gaveUp;
              stencils::plantCensus(std::nullopt);
            }
          }
          return std::string(gaveUp <= runs / 4 ? "" : "groups gave up again and again");
        }).empty());
}

TEST_CASE(
    "persistent on two ranks: groups that wait in vain give up on both, and steps are launched") {
  if (!canSpinOnTwo()) return;
  const auto cells = [](bool isKept) {
    Array<float, 2> a(64, 64), b(64, 64);
    a = 0.0f;
    onAll(jacobi().persistent(isKept)).iterate(400)(a, b);
    return bitsOf(a);
  };
  const std::string expected = saidOn(1, 1, [&] { return cells(false); });
  CHECK(saidOn(2, 1, [&] {
          runtime::Settings impatient = runtime::settings();
          impatient.patience = 1;
          runtime::overrideSettings(impatient);
          bool gaveUp = false;
          for (int k = 0; k < 20 && !gaveUp; ++k) {
            if (cells(true) != expected) return std::string("wrong cells");
            gaveUp = stencils::hasGivenUp(devices());
          }
          return std::string(gaveUp ? "gave up" : "never gave up");
        }) == "gave up");
}

TEST_CASE("persistent on ranks: what cannot be is refused on all of them with the reason") {
  const auto kept = [] { return refusal(onAll(jacobi().persistent())); };
  CHECK(contains(saidOn(2, 1, kept, withoutWindow), "the ranks share no memory (HPL_TRANSPORT)"));
  CHECK(contains(saidOn(2, 1,
                        [] {
                          Array<float, 2> a(70, 64), b(70, 64);
                          Stencil stencil = jacobi();
                          stencil.boundary(Periodic());
                          const StencilLauncher launcher = onAll(stencil.persistent());
                          return launchErrorOf([&] {
                            StencilLauncher(launcher).iterate(20)(a(Range(2, 65), Range(0, 63)),
                                                                  b(Range(2, 65), Range(0, 63)));
                          });
                        }),
                 "only whole arrays have the cells of the other end as ghosts"));
  CHECK(contains(saidOn(2, 1,
                        [] {
                          const std::int64_t units = devices().front().getProperties().computeUnits;
                          return stencils::whyNotSpinning(devices(), units, 1);
                        }),
                 "groups on 2 devices would wait for each other, and these are parts or copies"));
}

TEST_CASE("persistent on two ranks: without memory to exchange cells through, steps are launches") {
  if (!canSpinOnTwo()) return;
  CHECK(saidOn(2, 1, [] {
          const auto cells = [](bool isKept, std::int64_t& launches) {
            Array<float, 2> a(40, 40), b(40, 40);
            a = 0.0f;
            launches = onAll(jacobi().persistent(isKept)).iterate(60)(a, b).launches;
            return bitsOf(a);
          };
          std::int64_t some = 0, kept = 0, after = 0;
          const std::string expected = cells(false, some);
          {
            const auto all = memory::peerMemory(ranks::Window::kPeerBytes - 4096, "all of it");
            if (cells(true, kept) != expected) return std::string("wrong cells");
          }
          if (cells(true, after) != expected) return std::string("wrong cells afterwards");
          return fmt::format(
              "{} {}", kept > 1 ? "launches" : "one launch",
              after == 1 || stencils::hasGivenUp(devices()) ? "one launch" : "launches");
        }) == "launches one launch");
}

TEST_CASE(
    "memory of kernels on several ranks is the same on all of a node, and zero when it comes "
    "again") {
  CHECK(saidOn(2, 1, [] {
          std::vector<std::shared_ptr<std::byte>> held;
          std::string wrong;
          for (int round = 0; round < 6; ++round) {
            const std::size_t bytes = 5000U + 3000U * static_cast<std::size_t>(round % 4);
            held.push_back(memory::peerMemory(bytes, "a test's memory"));
            std::byte* const cells = held.back().get();
            for (std::size_t i = 0; i < bytes; ++i)
              if (cells[i] != std::byte{0}) wrong = "not zero";
            memory::detail::tellRanks("looking", {});
            if (ranks::world()->rank() == round % 2) std::memset(cells, 7, bytes);
            memory::detail::tellRanks("writing", {});
            if (cells[bytes - 1] != std::byte{7}) wrong = "not shared";
            memory::detail::tellRanks("reading", {});
            if (round % 2 == 1) held.erase(held.begin());
          }
          return wrong;
        }).empty());
  CHECK(contains(saidOn(2, 1,
                        [] {
                          return messageOf<AllocationError>([] {
                            memory::peerMemory(ranks::Window::kPeerBytes + 1, "a test's memory");
                          });
                        }),
                 "a test's memory: 268435457 bytes do not fit into the 256 MiB that the ranks of a "
                 "node share"));
}

}  // namespace persistent_tests
