// SPDX-License-Identifier: Apache-2.0
// Which links between nodes ranks agree on, and what that changes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hpl/ranks/detail/links_between_nodes.h"
#include "hpl/ranks/placement_report.h"
#include "hpl/runtime/settings.h"
#include "program_on_ranks.h"
#include "tests/messages.h"
#include "tests/printed.h"

namespace links_between_nodes_tests {

using namespace hpl;
using namespace ranks_tests;
using geometry::SquareMatrix;
using hpl_tests::contains;

namespace {

std::optional<topology::NodeLinks> nobodyKnows(const std::vector<std::string>&) {
  return std::nullopt;
}

/// Nodes of the same parity are near to each other, neighbours are far.
void plantEvenAndOdd(int nodes) {
  SquareMatrix bandwidths(nodes);
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < nodes; ++j)
      if (i != j) bandwidths(i, j) = i % 2 == j % 2 ? 10e9 : 1e9;
  topology::setLinksBetweenNodes({bandwidths, "a test"});
}

/// Six steps of an array that the library divides, on links of any speeds between the nodes.
std::string steps(unsigned seed) {
  if (ranks::world() != nullptr) {
    std::mt19937 random(seed);
    SquareMatrix bandwidths(ranks::world()->nodes());
    for (int i = 0; i < bandwidths.size(); ++i)
      for (int j = 0; j < bandwidths.size(); ++j)
        if (i != j) bandwidths(i, j) = (1.0 + random() % 9) * 1e9;
    topology::setLinksBetweenNodes({bandwidths, "a test"});
  }
  return dividedSteps(ninePoint, seed);
}

/// The explanation about the bands of nodes that are far from their neighbours.
std::string placementExplained(runtime::PlaceBlocks placement) {
  runtime::Settings settings = runtime::settings();
  settings.explain = true;
  settings.placement = placement;
  runtime::overrideSettings(settings);
  plantEvenAndOdd(ranks::world()->nodes());
  const std::string text = hpl_tests::printed([] {
    Grid a(400, 800), b(400, 800);
    setCells(a, 1);
    setCells(b, 1);
    eval(fivePoint).devices(static_cast<int>(getDeviceNumber()))(b, a);
  });
  // Ranks say other things about their own devices.
  const std::size_t begin = text.find("placed: ");
  return begin == std::string::npos ? "in order"
                                    : text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("all ranks get the same links between nodes, measured where nobody knows them") {
  for (const auto& [count, perNode] : {std::pair(3, 1), std::pair(4, 1), std::pair(5, 2)}) {
    CAPTURE(count);
    // The texts of all ranks have to be the same.
    const std::string said = saidOnNodes(count, 1, perNode, [] {
      runtime::Settings settings = runtime::settings();
      settings.cache = runtime::DiskCache::Off;
      runtime::overrideSettings(settings);
      ranks::agreeOnLinksBetweenNodes(*ranks::world(), nobodyKnows);
      const topology::NodeLinks links = topology::linksBetweenNodes();
      std::string text = links.origin;
      for (int i = 0; i < links.bandwidths.size(); ++i)
        for (int j = 0; j < links.bandwidths.size(); ++j) {
          text += fmt::format(" {}", links.bandwidths(i, j));
          if (i != j && !(links.bandwidths(i, j) > 1e6)) text = "no bandwidth: " + text;
        }
      return text;
    });
    CAPTURE(said);
    CHECK(said.substr(0, 10) == "measured 0");
  }
}

TEST_CASE("links between nodes that are known are not measured, and two nodes have equal ones") {
  const auto originOn = [](int nodes, const ranks::KnownLinksBetween& known) {
    return saidOnNodes(nodes, 1, 1, [known] {
      ranks::agreeOnLinksBetweenNodes(*ranks::world(), known);
      const topology::NodeLinks links = topology::linksBetweenNodes();
      return fmt::format("{} {}", links.origin, links.bandwidths(0, 1));
    });
  };
  CHECK(originOn(3, [](const std::vector<std::string>& nodes) {
          return std::optional(topology::NodeLinks{
              SquareMatrix(static_cast<int>(nodes.size()), std::vector<double>(9, 7.0)), "a file"});
        }) == "a file 7");
  CHECK(originOn(2, topology::knownLinksBetween) == "fewer than three nodes 1");
}

TEST_CASE("results do not depend on the nodes on which blocks are placed") {
  std::random_device entropy;
  for (int round = 0; round < 3; ++round) {
    const unsigned seed = entropy();
    CAPTURE(seed);
    const auto run = [seed] { return steps(seed); };
    const std::string expected = saidOn(1, 1, run);
    CHECK(saidOnNodes(3, 1, 1, run) == expected);
    CHECK(saidOnNodes(4, 2, 1, run) == expected);
    CHECK(saidOnNodes(6, 1, 2, run) == expected);
    // The last node has one rank less than the others: its blocks stay.
    CHECK(saidOnNodes(5, 1, 2, run) == expected);
  }
}

TEST_CASE("bands go to nodes that are near to each other, unless HPL_PLACEMENT is off") {
  // Two of three borders are near, one is far; in order all three are far: 2 columns of 400
  // integers each, 3.2 us at 1 GB/s.
  const auto explained = [](runtime::PlaceBlocks placement) {
    return saidOnNodes(4, 1, 1, [placement] { return placementExplained(placement); });
  };
  CHECK(explained(runtime::PlaceBlocks::Auto) ==
        "placed: 3.84 instead of 9.60 us between nodes (a test)");
  CHECK(explained(runtime::PlaceBlocks::Off) == "in order");
}

TEST_CASE("a report shows the links between nodes and what placing blocks on them gives") {
  const std::string said = saidOnNodes(4, 2, 1, [] {
    plantEvenAndOdd(ranks::world()->nodes());
    geometry::PartitionProblem problem;
    problem.domain = {400, 8};
    problem.fields = {{{1, 1}, {1, 1}, 4}};
    return ranks::describePlacement(problem) + ranks::describeNodeLinks();
  });
  CAPTURE(said);
  CHECK(contains(said, "between nodes: "));
  CHECK(contains(said, "in order (2.50 times)"));
  CHECK(contains(said, "Links between nodes"));
  CHECK(contains(said, "10.0"));
}

}  // namespace links_between_nodes_tests
