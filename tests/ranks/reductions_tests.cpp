// SPDX-License-Identifier: Apache-2.0
// Reductions on ranks: each looks at its own parts, and one collective call brings the rest.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <thread>

#include "hpl/memory/detail/letters.h"
#include "hpl/memory/gathering.h"
#include "hpl/memory/root.h"
#include "hpl/ranks/world.h"
#include "program_on_ranks.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/messages.h"
#include "tests/ranks/counting_fabric.h"
#include "tests/ranks/delaying_fabric.h"
#include "tests/resident_memory.h"

namespace reductions_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;

namespace {

using Field = Array<float, 2>;

void average(Field out, Field in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] = 0.3f * in[idy][idx] + 0.2f * in[idy - 1][idx] + 0.2f * in[idy + 1][idx] +
                    0.15f * in[idy][idx - 1] + 0.15f * in[idy][idx + 1];
  }
}

/// A field whose parts are on all devices.
Field fieldOf(unsigned seed, std::size_t rows = 61, std::size_t columns = 37) {
  Field a(rows, columns), b(rows, columns);
  std::vector<float> values(a.size());
  for (float& value : values)
    value = static_cast<float>((seed = seed * 1664525U + 1013904223U) >> 8) * 1e-5f - 30.0f;
  a.copyFrom(values.data());
  b.copyFrom(values.data());
  eval(average).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
  return b;
}

void spoil(Field a, Int row, Int column) {
  if_(idx == column && idy == row) {
    a[idy][idx] = std::numeric_limits<float>::quiet_NaN();
  }
}

/// Every kind of reduction, with the bits of its result.
std::string reductions() {
  std::string said;
  const Field a = fieldOf(1), b = fieldOf(2);
  said += fmt::format("{:a} {:a} {:a} ", float(sum(a)), float(dot(a, b)), float(norm(b)));
  said += fmt::format("{:a} {:a} ", float(min(a)), float(max(b)));
  said += fmt::format("{:a} ", float(sum([](Float x, Float y) { return x * x - y; }, a, b)));
  const auto lowest = argmin(a);
  const auto highest = argmax([](Float x, Float y) { return x - y; }, a, b);
  said += fmt::format("{} {:a} {} {:a} ", lowest.index(), lowest.value(), highest.index(),
                      highest.value());
  const float product = reduce([](Float x, Float y) { return x + y - x * y * 0.001f; }, 0.0f, b);
  said += fmt::format("{:a} ", product);
  Grid numbers(70, 5);
  setCells(numbers, 3);
  eval([](Grid c) { c[idy][idx] += 1; }).devices(getDeviceNumber())(PART1(numbers));
  said += fmt::format("{} {} ", long(sum(numbers)),
                      int(reduce([](Int p, Int q) { return p ^ q; }, 0, numbers)));
  Field spoiled = fieldOf(4);
  eval(spoil).devices(getDeviceNumber())(PART1(spoiled), 5, 3);  // a row of each part
  said += fmt::format("{} {} ", std::isnan(max(spoiled).value()), argmin(spoiled).index());
  // The host alone has this one.
  Numbers onHost(40);
  setCells(onHost, 5);
  return said + std::to_string(long(sum(onHost)));
}

std::unique_ptr<ranks::Fabric> counting(std::unique_ptr<ranks::Fabric> inner) {
  return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
}

struct Counts {
  std::uint64_t cells = 0;
  std::uint64_t collective = 0;
};
/// The messages that this rank has sent until now.
Counts countsNow() {
  memory::detail::waitForLetters();
  ranks::world()->courier().allAgree(true);
  return {hpl_tests::sent().messages, hpl_tests::sent().collective};
}

Stencil smooth() {
  Stencil stencil([](Neighbourhood<float, 2> t) {
    return 0.2f * (t(0, 0) + t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1));
  });
  stencil.boundary(Nearest());
  return stencil;
}

/// A flag that all ranks see.
std::atomic<int>& sharedFlag() {
  static auto* flag =
      new (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          std::atomic<int>(0);
  return *flag;
}

}  // namespace

TEST_CASE("reductions on ranks have the bits of one process with the same devices") {
  CHECK(saidOn(2, 1, reductions) == saidOn(1, 2, reductions));
  CHECK(saidOn(3, 1, reductions) == saidOn(1, 3, reductions));
  CHECK(saidOn(2, 2, reductions) == saidOn(1, 4, reductions));
}

TEST_CASE("reductions over a fabric that delays and reorders have the same bits") {
  const auto delaying = [](std::unique_ptr<ranks::Fabric> inner) {
    return std::make_unique<hpl_tests::DelayingFabric>(std::move(inner), 7,
                                                       std::chrono::microseconds(1000));
  };
  CHECK(saidOn(3, 1, reductions, delaying) == saidOn(1, 3, reductions));
}

TEST_CASE("a reduction sends no cells, and one collective call whatever the number of devices") {
  // Messages of ceil(log2(ranks)) rounds.
  for (const auto& [ranks, each, rounds] :
       {std::tuple(2, 1, 1), std::tuple(2, 2, 1), std::tuple(3, 1, 2), std::tuple(4, 1, 2)}) {
    INFO(ranks << " ranks with " << each << " devices");
    const std::string said = saidOn(
        ranks, each,
        [rounds = rounds] {
          const Field a = fieldOf(1), b = fieldOf(2);
          sum(a).value();  // the launches of a kernel begin with an agreement
          argmax(a).index();
          const Counts before = countsNow();
          sum(a).value();
          argmax(a).index();
          const Counts after = countsNow();
          // That of countsNow() itself.
          return fmt::format("{} {}", after.cells - before.cells,
                             after.collective - before.collective - 3 * std::uint64_t(rounds));
        },
        counting);
    CHECK(said == "0 0");
  }
}

TEST_CASE("each look of until(...) is one collective call beside the ghosts") {
  const std::string said = saidOn(
      2, 2,
      [] {
        Field now = fieldOf(1, 80, 24), next = fieldOf(2, 80, 24);
        Stencil stencil = smooth();
        const auto countsOf = [&](int every) {
          const Counts before = countsNow();
          stencil.devices().timeTile(1).until(1e-30, every).iterate(12)(now, next);
          const Counts after = countsNow();
          return Counts{after.cells - before.cells, after.collective - before.collective - 1};
        };
        countsOf(6);
        const Counts rare = countsOf(6), often = countsOf(2);
        // Four looks more, and agreements on nothing.
        return fmt::format("{} {}", often.cells - rare.cells, often.collective - rare.collective);
      },
      counting);
  CHECK(said == "0 4");
}

TEST_CASE("until(...) finds the same step on ranks, delayed or not, and a NaN ends no iteration") {
  const auto program = [] {
    Field now = fieldOf(3, 48, 20), next = fieldOf(4, 48, 20);
    Stencil stencil = smooth();
    const StencilRun run = stencil.devices().until(0.9, 3).iterate(500)(now, next);
    std::string said = fmt::format("{} {} {:a} ", run.steps, run.converged, run.residual);
    now(40, 3) = std::numeric_limits<float>::quiet_NaN();
    const StencilRun spoiled = stencil.devices().until(1e9, 2).iterate(9)(now, next);
    return said +
           fmt::format("{} {} {}", spoiled.steps, spoiled.converged, std::isnan(spoiled.residual));
  };
  const std::string expected = saidOn(1, 1, program);
  CHECK(contains(expected, "9 false true"));
  CHECK(saidOn(2, 2, program) == expected);
  CHECK(saidOn(4, 1, program) == expected);
  const auto delaying = [](std::unique_ptr<ranks::Fabric> inner) {
    return std::make_unique<hpl_tests::DelayingFabric>(std::move(inner), 3,
                                                       std::chrono::microseconds(3000));
  };
  CHECK(saidOn(3, 1, program, delaying) == expected);
}

TEST_CASE("a gathering waits for nobody until its result is asked for") {
  sharedFlag() = 0;
  const std::string said = saidOn(2, 1, [] {
    Field a = fieldOf(1), b = fieldOf(2);
    Numbers own(100, HPL_RANK_LOCAL);
    own = 1;
    bool isLate = false;
    if (ranks::world()->rank() == 1) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (sharedFlag() == 0 && !isLate) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        isLate = std::chrono::steady_clock::now() > end;
      }
    }
    memory::Gathering gathering("test", b.hostView().root(),
                                [](std::span<const memory::Gathering::Block> blocks) {
                                  std::size_t cells = 0;
                                  for (const auto& block : blocks) cells += block.count;
                                  std::vector<std::byte> bytes(sizeof cells);
                                  std::memcpy(bytes.data(), &cells, sizeof cells);
                                  return bytes;
                                });
    // Rank 0 goes on, with work of its own and of all, before rank 1 has come here.
    for (int step = 0; step < 3; ++step) eval(increment)(own);
    eval(average).devices(getDeviceNumber())(PART1(a, 1), PART1(b, 1));
    sharedFlag() = 1;
    std::size_t cells = 0;
    for (const std::vector<std::byte>& bytes : gathering.wait()) {
      std::size_t some = 0;
      std::memcpy(&some, bytes.data(), sizeof some);
      cells += some;
    }
    return fmt::format("{} {} {}", isLate ? "waited" : "went on", cells >= b.size(),
                       own(99).value());
  });
  CHECK(said == "went on true 4");
}

TEST_CASE("reductions on ranks keep no memory once they have been read") {
  if (!hpl_tests::kMeasuresMemory) return;
  CHECK(saidOn(2, 1, [] {
          Array<float, 1> cells(1000);
          cells = 1.0f;
          const std::size_t grown = hpl_tests::growthKiB(500, 5000, [&](int) {
            if (static_cast<float>(sum(cells)) != 1000.0f) throw Error("a wrong sum");
          });
          return grown < 4096 ? std::string() : fmt::format("{} KiB more", grown);
        }).empty());
}

TEST_CASE("a reduction on one rank only is named on all ranks") {
  const auto reports = hpl_tests::inWorlds(2, [] {
    listDevices({2, 1, ranks::world()->rank()});
    const Field a = fieldOf(1);
    if (ranks::world()->rank() == 0) return std::to_string(float(sum(a)));
    Numbers b(10);
    setCells(b, 1);
    return cellsOf(b) + std::to_string(float(max(a)));
  });
  for (const auto& report : reports) {
    INFO(report.thrown);
    CHECK(contains(report.thrown, "all ranks must do the same operations"));
  }
}

}  // namespace reductions_tests
