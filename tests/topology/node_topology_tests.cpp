// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/node_topology.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "hpl/error.h"
#include "hpl/topology/detail/xml_text.h"
#include "node_file.h"
#include "tests/messages.h"
#include "tests/runtime/subprocess.h"

namespace node_topology_tests {

using namespace hpl::topology;
using namespace topology_tests;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

/// A file for one test.
class TestFile {
 public:
  explicit TestFile(const std::string& text) : path_((folder_ / "node.xml").string()) {
    std::ofstream(path_) << text;
  }
  const std::string& path() const { return path_; }

 private:
  subprocess::TemporaryFolder folder_;
  std::string path_;
};

bool hasHwloc() {
  const TestFile file(xmlOf({}));
  try {
    readTopology(file.path());
    return true;
  } catch (const hpl::SettingsError& error) {
    if (contains(error.what(), "built without hwloc")) return false;
    throw;
  }
}

std::string refusal(const std::string& xml) {
  const TestFile file(xml);
  std::string message = messageOf<hpl::SettingsError>([&] { readTopology(file.path()); });
  // The place of the file is the test's own business.
  const std::size_t at = message.find(file.path());
  REQUIRE(at != std::string::npos);
  return message.replace(at, file.path().size(), "node.xml");
}

}  // namespace

TEST_CASE("a node's devices and the bandwidths between them are read from hwloc's XML") {
  if (!hasHwloc()) return;
  const TestFile file(xmlOf({}));
  const NodeTopology node = readTopology(file.path());
  REQUIRE(node.devices.size() == 6);
  CHECK(node.devices[0].name == "opencl0d0");
  CHECK(node.devices[0].pciAddress == "0000:01:00.0");
  CHECK(node.devices[5].name == "opencl0d5");
  CHECK(node.devices[5].pciAddress == "0001:03:00.0");
  REQUIRE(node.bandwidths);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      if (i != j) CHECK((*node.bandwidths)(i, j) == (i / 3 == j / 3 ? 50e9 : 32e9));
}

TEST_CASE("a node without a matrix of bandwidths has devices all the same") {
  if (!hasHwloc()) return;
  NodeFile plain;
  plain.hasBandwidths = false;
  const TestFile file(xmlOf(plain));
  const NodeTopology node = readTopology(file.path());
  CHECK(node.devices.size() == 6);
  CHECK_FALSE(node.bandwidths);
}

TEST_CASE("a display that computes nothing is no device") {
  if (!hasHwloc()) return;
  NodeFile server;
  server.hasDisplay = true;
  const NodeTopology node = readTopology(TestFile(xmlOf(server)).path());
  CHECK(node.devices.size() == 6);
  REQUIRE(node.bandwidths);
  CHECK((*node.bandwidths)(0, 3) == 32e9);
  server.hasBandwidths = false;
  CHECK(readTopology(TestFile(xmlOf(server)).path()).devices.size() == 6);
}

TEST_CASE("where a matrix says 0 there is no such link, and the PCI bus counts") {
  if (!hasHwloc()) return;
  NodeFile apart;
  apart.across = 0;
  const TestFile file(xmlOf(apart));
  const NodeTopology node = readTopology(file.path());
  REQUIRE(node.bandwidths);
  CHECK((*node.bandwidths)(0, 1) == 50e9);
  CHECK((*node.bandwidths)(0, 3) == doctest::Approx(15.75e9));
}

TEST_CASE("a file that cannot be read is named") {
  if (!hasHwloc()) return;
  CHECK(
      messageOf<hpl::SettingsError>([] { readTopology("/no/such/node.xml"); }) ==
      "HPL_TOPOLOGY: /no/such/node.xml: there is no such file to read; lstopo node.xml writes one");
}

TEST_CASE("a wrong topology is refused with the line that is to blame") {
  if (!hasHwloc()) return;
  const std::string xml = xmlOf({});
  CHECK(refusal("hello\n") == "HPL_TOPOLOGY: node.xml, line 1: there is no XML tag");
  CHECK(refusal(changed(xml, "</topology>", "")) ==
        "HPL_TOPOLOGY: node.xml, line 3: <topology> is not closed");
  const std::string crossed = changed(xml, "</distances2>", "</distances>");
  CHECK(refusal(crossed) == "HPL_TOPOLOGY: node.xml, line " +
                                std::to_string(lineWith(crossed, "</distances>")) +
                                ": </distances> closes what is not open");
  CHECK(refusal("<?xml version=\"1.0\"?>\n<page><b/></page>\n") ==
        "HPL_TOPOLOGY: node.xml, line 1: there is no <topology>; lstopo node.xml writes one");
  const std::string atMatrix =
      "HPL_TOPOLOGY: node.xml, line " + std::to_string(lineWith(xml, "<distances2")) + ": ";
  CHECK(
      refusal(changed(xml, "900000 50000 50000", "900000 50000")) ==
      atMatrix +
          "hwloc refuses the topology: an attribute is wrong, or a list has not as many numbers as "
          "it says");
  CHECK(
      contains(refusal(changed(xml, "nbobjs=\"6\"", "nbobjs=\"7\"")), atMatrix + "hwloc refuses"));
}

TEST_CASE("a topology that contradicts itself is refused") {
  if (!hasHwloc()) return;
  const std::string xml = xmlOf({});
  const std::string twice = changed(xml, "opencl0d1", "opencl0d0");
  CHECK(refusal(twice) == "HPL_TOPOLOGY: node.xml, line " +
                              std::to_string(lineWith(xml, "opencl0d1")) +
                              ": device opencl0d0 is listed twice");
  // A device of the matrix that is not there.
  const std::size_t indexes = xml.find("<indexes");
  std::string unknown = xml;
  const std::size_t first = unknown.find('>', indexes) + 1;
  unknown.replace(first, unknown.find(' ', first) - first, "99");
  const std::size_t length = unknown.find("length=\"", indexes) + 8;
  const std::size_t end = unknown.find("</indexes>");
  unknown.replace(length, unknown.find('"', length) - length,
                  std::to_string(end - unknown.find('>', indexes) - 1));
  CHECK(contains(refusal(unknown), "line " + std::to_string(lineWith(unknown, "<distances2")) +
                                       ": the matrix does not tell of all 6 devices of the file"));
  NodeFile none;
  none.gpusOfSocket = 0;
  none.hasBandwidths = false;
  CHECK(contains(refusal(xmlOf(none)), "there is neither an OpenCL device nor a GPU"));
}

TEST_CASE("this machine's topology can be looked at") {
  const auto node = probeTopology();
  if (node) CHECK(node->bandwidths->size() == static_cast<int>(node->devices.size()));
}

TEST_CASE("the first tag that does not match is found with its line") {
  CHECK_FALSE(firstDefect("<a>\n<b x=\"1>2\"/><!-- <c> -->\n</a>"));
  CHECK(firstDefect("<a>\n<b>\n</a>")->line == 3);
  CHECK(firstDefect("<a>\n<b>\n</b>")->line == 1);
  CHECK(firstDefect("<a>\n<b")->line == 2);
  CHECK(firstDefect("<a>\n\n</a></a>")->line == 3);
  CHECK(lineOf("one\ntwo\none", "one", 1) == 3);
  CHECK(lineOf("one", "two") == 0);
}

}  // namespace node_topology_tests
