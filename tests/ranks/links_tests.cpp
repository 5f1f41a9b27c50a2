// SPDX-License-Identifier: Apache-2.0
// Which links ranks agree on, what that changes, and what they put into one message.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "counting_fabric.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/detail/node_links.h"
#include "hpl/ranks/placement_report.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "program_on_ranks.h"
#include "tests/messages.h"

namespace links_tests {

using namespace hpl;
using namespace ranks_tests;
using geometry::SquareMatrix;
using hpl_tests::contains;

namespace {

std::optional<topology::NodeLinks> nobodyKnows(const std::vector<DeviceProperties>&,
                                               const std::string&) {
  return std::nullopt;
}

std::string describeAll() {
  std::string text;
  for (int node = 0; node < ranks::world()->nodes(); ++node) {
    const topology::NodeLinks& links = topology::linksOf(node);
    text += fmt::format("node {} ({}):", node, links.origin);
    for (int i = 0; i < links.bandwidths.size(); ++i)
      for (int j = 0; j < links.bandwidths.size(); ++j)
        text += fmt::format(" {}", links.bandwidths(i, j));
    text += "\n";
  }
  return text;
}

void keepNothing() {
  runtime::Settings settings = runtime::settings();
  settings.cache = runtime::DiskCache::Off;
  runtime::overrideSettings(settings);
}

/// The same on all ranks, different for different seeds.
void plantLinks(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> devices;  // by node
  for (const auto& device : runtime::Runtime::get().devices()) {
    const auto node = static_cast<std::size_t>(device->node());
    if (node >= devices.size()) devices.resize(node + 1, 0);
    ++devices[node];
  }
  std::vector<topology::NodeLinks> all;
  for (const int count : devices) {
    SquareMatrix bandwidths(count);
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j)
        if (i != j) bandwidths(i, j) = (1.0 + random() % 9) * 1e9;
    all.push_back({bandwidths, "a test"});
  }
  topology::setLinks(std::move(all));
}

/// Steps that the library divides, on links of any speeds.
std::string steps(unsigned seed) {
  if (ranks::world() != nullptr) plantLinks(seed);
  return dividedSteps(ninePoint, seed);
}

std::unique_ptr<ranks::Fabric> counting(std::unique_ptr<ranks::Fabric> inner) {
  return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
}

std::size_t hashOf(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }

/// How many messages this rank sends in one exchange of three arrays on all devices.
std::string lettersOfExchange(runtime::Messages messages) {
  runtime::Settings settings = runtime::settings();
  settings.messages = messages;
  runtime::overrideSettings(settings);
  Grid a(48, 16), b(48, 16), c(48, 16), from(48, 16);
  setCells(from, 7);
  const auto step = [&] {
    for (Grid* grid : {&a, &b, &c}) {
      setCells(*grid, 3);
      eval(fivePoint).devices(getDeviceNumber())(PART1(*grid, 1), PART1(from, 1));
    }
    memory::detail::waitForLetters();
    const auto before = hpl_tests::sent().messages.load();
    syncGhosts(a, b, c);
    memory::detail::waitForLetters();
    return hpl_tests::sent().messages.load() - before;
  };
  step();
  // The cells beside the ghosts tell of them.
  const auto sent = step();
  eval(fivePoint).devices(getDeviceNumber())(PART1(from, 1), PART1(a, 1));
  eval(fivePoint).devices(getDeviceNumber())(PART1(a, 1), PART1(b, 1));
  eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(c, 1));
  return fmt::format("{} messages\n{}", sent, hashOf(cellsOf(from) + cellsOf(a) + cellsOf(b)));
}

}  // namespace

TEST_CASE("all ranks get the same links, measured where nobody knows them") {
  for (const auto& [count, each] : {std::pair(1, 3), std::pair(3, 1), std::pair(4, 2)}) {
    CAPTURE(count);
    // The texts of all ranks have to be the same.
    const std::string said = saidOn(count, each, [] {
      keepNothing();
      ranks::agreeOnLinks(*ranks::world(), nobodyKnows);
      const std::string text = describeAll();
      const topology::NodeLinks& links = topology::linksOf(0);
      for (int i = 0; i < links.bandwidths.size(); ++i)
        for (int j = 0; j < links.bandwidths.size(); ++j)
          if (i != j && !(links.bandwidths(i, j) > 1e6)) return "no bandwidth: " + text;
      return text;
    });
    CAPTURE(said);
    CHECK(contains(said, "node 0 (measured): 0 "));
  }
}

TEST_CASE("a rank that cannot tell its node's links is named to all") {
  const auto reports = hpl_tests::inWorlds(3, [] {
    listDevices({3, 1, ranks::world()->rank()});
    ranks::agreeOnLinks(*ranks::world(),
                        [](const auto&, const std::string&) -> std::optional<topology::NodeLinks> {
                          throw SettingsError("HPL_TOPOLOGY: node.xml, line 7: a test");
                        });
    return std::string("agreed");
  });
  for (const auto& report : reports) {
    CHECK(contains(report.thrown, "rank 0"));
    CHECK(contains(report.thrown, "HPL_TOPOLOGY: node.xml, line 7: a test"));
  }
}

TEST_CASE("results on ranks do not depend on where blocks are placed") {
  std::random_device entropy;
  for (int round = 0; round < 3; ++round) {
    const unsigned seed = entropy();
    CAPTURE(seed);
    const auto run = [seed] { return steps(seed); };
    const std::string expected = saidOn(1, 1, run);
    CHECK(saidOn(1, 4, run) == expected);
    CHECK(saidOn(3, 1, run) == expected);
    CHECK(saidOn(2, 3, run) == expected);
    CHECK(saidOn(4, 2, run) == expected);
  }
}

TEST_CASE("blocks are placed on nodes whose ranks are not next to each other") {
  const unsigned seed = 3;
  const std::string expected = saidOn(1, 1, [] { return steps(seed); });
  const auto reports = hpl_tests::inWorlds(4, [] {
    listDevices({4, 2, ranks::world()->rank(), -1, true});
    return steps(seed);
  });
  for (const auto& report : reports) {
    CHECK(report.thrown == "");
    CHECK(report.said == expected);
  }
}

TEST_CASE("a placement is reported with its cost in order and at worst") {
  const std::string said = saidOn(1, 4, [] {
    SquareMatrix bandwidths(4);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        if (i != j) bandwidths(i, j) = i % 2 == j % 2 ? 50e9 : 10e9;
    topology::setLinks({{bandwidths, "a test"}});
    geometry::PartitionProblem problem;
    problem.domain = {400, 40};
    problem.fields = {{{1, 1}, {1, 1}, 4}};
    return ranks::describePlacement(problem) + ranks::describeNodeLinks();
  });
  CAPTURE(said);
  // Bands 0 to 3: of the three borders two are near, one is far; in order all three are far.
  CHECK(contains(said, "4 devices each as 4 x 1"));
  CHECK(contains(said, "ms on its links as placed"));
  CHECK(contains(said, "in order (2.14 times)"));
  CHECK(contains(said, "at worst (2.14 times)"));
  CHECK(contains(said, "GB/s from row to column (a test)"));
  CHECK(contains(said, "10.0"));
}

TEST_CASE("an exchange of three arrays is one message for ranks, devices, or arrays") {
  const auto of = [](runtime::Messages messages, int ranks, int each) {
    return saidOn(
        ranks, each, [messages] { return lettersOfExchange(messages); }, counting);
  };
  using runtime::Messages;
  const auto cells = [](const std::string& said) { return said.substr(said.find('\n')); };
  // Two ranks of one device each, without a window.
  const std::string one = of(Messages::Ranks, 2, 1);
  CHECK(contains(one, "1 messages"));
  CHECK(contains(of(Messages::Devices, 2, 1), "1 messages"));
  CHECK(contains(of(Messages::Fields, 2, 1), "3 messages"));
  const std::string expected = cells(one);
  for (const int each : {1, 2, 3})
    for (const Messages messages : {Messages::Ranks, Messages::Devices, Messages::Fields})
      CHECK(cells(of(messages, 2, each)) == expected);
}

// Devices send the messages of all arrays before they wait for any: a lane of the window needs room
// for all of them.
TEST_CASE("large messages for each of several arrays reach the other rank") {
  const auto run = [](runtime::Messages messages, std::size_t columns = 120'000) {
    return [messages, columns] {
      runtime::Settings settings = runtime::settings();
      settings.messages = messages;
      runtime::overrideSettings(settings);
      std::array<Grid, 6> grids, next;
      for (std::size_t i = 0; i < grids.size(); ++i) {
        grids[i] = Grid(8, columns);
        next[i] = Grid(8, columns);
        setCells(grids[i], static_cast<unsigned>(i));
        next[i] = grids[i];
      }
      for (int step = 0; step < 4; ++step) {
        for (std::size_t i = 0; i < grids.size(); ++i) {
          eval(fivePoint).devices(getDeviceNumber())(PART1(next[i], 1), PART1(grids[i], 1));
          swap(next[i], grids[i]);
        }
        syncGhosts(grids[0], grids[1], grids[2], grids[3], grids[4], grids[5]);
      }
      std::string text;
      for (const Grid& grid : grids) {
        std::vector<int> cells(grid.size());
        grid.copyTo(cells.data());
        text += fmt::format("{:x} ", hashOf({reinterpret_cast<const char*>(cells.data()),
                                             cells.size() * sizeof(int)}));
      }
      return text;
    };
  };
  const std::string expected = saidOn(2, 1, run(runtime::Messages::Ranks));
  CHECK(saidOn(2, 1, run(runtime::Messages::Fields)) == expected);
  CHECK(saidOn(3, 2, run(runtime::Messages::Fields)) ==
        saidOn(3, 2, run(runtime::Messages::Ranks)));
  // Each row may pass by the window, those of six arrays at once may not.
  constexpr std::size_t kWide = 750'000;
  CHECK(saidOn(2, 1, run(runtime::Messages::Fields, kWide)) ==
        saidOn(2, 1, run(runtime::Messages::Ranks, kWide)));
}

}  // namespace links_tests
