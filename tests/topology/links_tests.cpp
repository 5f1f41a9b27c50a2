// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/links.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <random>
#include <set>

#include "hpl/error.h"
#include "hpl/runtime/runtime.h"
#include "hpl/topology/measure.h"
#include "node_file.h"
#include "tests/messages.h"
#include "tests/printed.h"
#include "tests/runtime/subprocess.h"
#include "tests/with_settings.h"

namespace links_tests {

using namespace hpl;
using namespace hpl::topology;
using geometry::SquareMatrix;
using hpl_tests::contains;
using hpl_tests::messageOf;
using hpl_tests::WithSettings;

namespace {

DeviceProperties gpu(const std::string& address = "") {
  DeviceProperties properties;
  properties.name = "V100";
  properties.driverVersion = "1";
  properties.type = GPU;
  properties.pciAddress = address;
  return properties;
}

NodeTopology twoPairs() {
  NodeTopology node;
  node.devices = {{"opencl0d0", "0000:01:00.0"}, {"opencl0d1", "0000:02:00.0"}, {"opencl0d2", ""}};
  node.bandwidths = SquareMatrix(3, {0, 1, 2, 3, 0, 4, 5, 6, 0});
  return node;
}

}  // namespace

TEST_CASE("devices are found by their PCI addresses, others by their order") {
  const NodeTopology node = twoPairs();
  CHECK(matchDevices(node, {gpu("0000:02:00.0"), gpu("0000:01:00.0")}) == std::vector<int>{1, 0});
  CHECK(matchDevices(node, {gpu(), gpu("0000:01:00.0"), gpu()}) == std::vector<int>{1, 0, 2});
  CHECK(matchDevices(node, {gpu("0000:09:00.0"), gpu()}) == std::vector<int>{-1, 0});
  CHECK(matchDevices(node, {gpu(), gpu(), gpu(), gpu()}) == std::vector<int>{0, 1, 2, -1});
}

TEST_CASE("bandwidths follow the devices") {
  const auto links = linksFrom(twoPairs(), {gpu("0000:02:00.0"), gpu(), gpu()}, "a file");
  REQUIRE(links);
  // Devices 1, 0, 2 of the file.
  CHECK(links->bandwidths(0, 1) == 3);
  CHECK(links->bandwidths(1, 0) == 1);
  CHECK(links->bandwidths(1, 2) == 2);
  CHECK(links->bandwidths(2, 0) == 6);
  CHECK(links->origin == "a file");
  CHECK_FALSE(links->areEqual());
  CHECK(links->distances()(2, 0) == doctest::Approx(1.0 / 6));
  CHECK(links->distances()(1, 1) == 0);
}

TEST_CASE("two openings of one device are as near as any two") {
  const auto links = linksFrom(twoPairs(), {gpu("0000:01:00.0"), gpu("0000:01:00.0")}, "a file");
  REQUIRE(links);
  CHECK(links->bandwidths(0, 1) == 6);
}

TEST_CASE("a device that a topology does not know is named") {
  CHECK(messageOf<SettingsError>([] {
          linksFrom(twoPairs(), {gpu(), gpu("0000:09:00.0")}, "HPL_TOPOLOGY=node.xml");
        }) ==
        "HPL_TOPOLOGY=node.xml does not know device 1 of this node, V100 at 0000:09:00.0: it has 3 "
        "devices, opencl0d0 to opencl0d2. Write it on the node itself (lstopo node.xml), or choose "
        "devices with HPL_DEVICES");
}

TEST_CASE("a device without a path has an infinite distance") {
  NodeLinks links{SquareMatrix(2, {0, 0, 8, 0}), "a test"};
  CHECK(links.distances()(0, 1) == std::numeric_limits<double>::infinity());
  CHECK(links.distances()(1, 0) == 0.125);
}

TEST_CASE("measured bandwidths fall into classes, and noise does not tell devices apart") {
  const SquareMatrix noisy(3, {0, 50, 32, 46, 0, 30, 31, 33, 0});
  const SquareMatrix classes = inClasses(noisy);
  CHECK(classes(0, 1) == 50);
  CHECK(classes(1, 0) == 50);
  CHECK(classes(0, 2) == 33);
  CHECK(classes(1, 2) == 33);
  CHECK(classes(2, 0) == 33);
  CHECK(classes(2, 1) == 33);
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    SquareMatrix some(5);
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 5; ++j)
        if (i != j) some(i, j) = std::uniform_real_distribution<>(0.76, 1.0)(random);
    CHECK(NodeLinks{inClasses(some), ""}.areEqual());
  }
}

TEST_CASE("CPUs of a node, and fewer than three devices, have nothing to choose") {
  DeviceProperties cpu = gpu();
  cpu.type = CPU;
  auto links = knownLinks({cpu, cpu, cpu}, "n0");
  REQUIRE(links);
  CHECK(links->areEqual());
  CHECK(links->origin == "CPUs share the node's memory");
  links = knownLinks({gpu(), gpu()}, "n0");
  REQUIRE(links);
  CHECK(links->areEqual());
  CHECK(contains(describe(*links, {"#0", "#1"}), "all count the same (fewer than three devices)"));
}

TEST_CASE("measured bandwidths are kept for the node, its devices and their drivers") {
  const subprocess::TemporaryFolder folder;
  const WithSettings settings([&](runtime::Settings& s) {
    s.cacheDir = folder.path().string();
    s.cache = runtime::DiskCache::Auto;
  });
  const std::vector<DeviceProperties> devices{gpu("0000:f1:00.0"), gpu("0000:f2:00.0"),
                                              gpu("0000:f3:00.0")};
  CHECK_FALSE(knownLinks(devices, "n0"));
  keepLinks(devices, "n0", {SquareMatrix(3, {0, 1, 2, 3, 0, 4, 5, 6, 0}), "measured"});
  const auto kept = knownLinks(devices, "n0");
  REQUIRE(kept);
  CHECK(kept->origin == "measured earlier");
  CHECK(kept->bandwidths(2, 1) == 6);
  CHECK_FALSE(knownLinks(devices, "n1"));
  std::vector<DeviceProperties> updated = devices;
  updated[1].driverVersion = "2";
  CHECK_FALSE(knownLinks(updated, "n0"));
  // A damaged file is reported, and no reason to fail.
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    std::ofstream(entry.path()) << "{\"key\": 3";
  const std::string text = hpl_tests::printed([&] { CHECK_FALSE(knownLinks(devices, "n0")); });
  CHECK(contains(text, "bandwidths are measured again"));
}

TEST_CASE("measured links between nodes are kept for the same nodes") {
  const subprocess::TemporaryFolder folder;
  const WithSettings settings([&](runtime::Settings& s) {
    s.cacheDir = folder.path().string();
    s.cache = runtime::DiskCache::Auto;
  });
  const std::vector<std::string> nodes{"n1", "n2", "n3"};
  CHECK_FALSE(knownLinksBetween(nodes));
  keepLinksBetween(nodes, {SquareMatrix(3, {0, 1, 2, 1, 0, 4, 2, 4, 0}), "measured"});
  const auto kept = knownLinksBetween(nodes);
  REQUIRE(kept);
  CHECK(kept->origin == "measured earlier");
  CHECK(kept->bandwidths(2, 1) == 4);
  CHECK_FALSE(knownLinksBetween({"n1", "n3", "n2"}));
  CHECK(knownLinksBetween({"n1", "n2"})->origin == "fewer than three nodes");
  CHECK(knownLinksBetween(std::vector<std::string>(65, "n"))->areEqual());
  const WithSettings off([](runtime::Settings& s) { s.placement = runtime::PlaceBlocks::Off; });
  CHECK(knownLinksBetween({"n5", "n6", "n7"})->origin == "HPL_PLACEMENT=off");
}

TEST_CASE("HPL_TOPOLOGY tells the links of this node") {
  const subprocess::TemporaryFolder folder;
  const std::string file = (folder / "node.xml").string();
  std::ofstream(file) << topology_tests::xmlOf({});
  const WithSettings settings([&](runtime::Settings& s) { s.topology = file; });
  std::optional<NodeLinks> links;
  try {
    links = knownLinks(std::vector<DeviceProperties>(6, gpu()), "n0");
  } catch (const SettingsError& error) {
    CHECK(contains(error.what(), "built without hwloc"));
    return;
  }
  REQUIRE(links);
  CHECK(links->origin == "HPL_TOPOLOGY=" + file);
  CHECK(links->bandwidths(0, 1) == 50e9);
  CHECK(links->bandwidths(0, 4) == 32e9);
  CHECK(contains(describe(*links, {"#0", "#1", "#2", "#3", "#4", "#5"}), "50.0"));
}

TEST_CASE("the devices of this process can be measured") {
  std::vector<runtime::DeviceState*> devices;
  for (const auto& device : runtime::Runtime::get().devices()) devices.push_back(device.get());
  const OwnSpeeds speeds = measureOwn(devices);
  CHECK(speeds.reading.size() == devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    CHECK(speeds.reading[i] > 1e6);
    CHECK(speeds.writing[i] > 1e6);
    for (std::size_t j = 0; j < devices.size(); ++j)
      if (i != j) CHECK(speeds.between(static_cast<int>(i), static_cast<int>(j)) > 1e6);
  }
  CHECK(inSequence(2, 2) == 1);
}

}  // namespace links_tests
