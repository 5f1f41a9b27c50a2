// SPDX-License-Identifier: Apache-2.0
#include "hpl/dry_run/machine_file.h"

#include <doctest/doctest.h>

#include <string>

#include "hpl/error.h"
#include "tests/messages.h"

namespace machine_file_tests {

using namespace hpl;
using namespace hpl::dry_run;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

const std::string kGpu =
    R"({"kind": "gpu", "count": 2, "memory_GiB": 80, "gflops": 1000, "bandwidth_GBs": 2000, "launch_us": 5})";
const std::string kSpeeds = R"({
  "host":    {"bandwidth_GBs": 25, "latency_us": 10},
  "node":    {"bandwidth_GBs": 100, "latency_us": 5},
  "network": {"bandwidth_GBs": 12.5, "latency_us": 3}})";

std::string machine(const std::string& device, const std::string& links = kSpeeds) {
  return "{\n\"nodes\": [\n{\"count\": 3, \"devices\": [\n" + device + "\n]}],\n\"links\":\n" +
         links + "\n}\n";
}

std::string problem(const std::string& text) {
  return messageOf<SettingsError>([&] { parseMachineFile(text, "m.json"); });
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("a machine file lists its devices node by node") {
  const MachineFile m = parseMachineFile(machine(kGpu), "m.json");
  CHECK(m.name == "m.json");
  CHECK(m.nodes == 3);
  REQUIRE(m.devices.size() == 6);
  CHECK(m.devices[3].node == 1);
  CHECK(m.modelOf(3).properties.globalMemory == std::size_t{80} << 30);
  CHECK(m.modelOf(3).properties.type == GPU);
  CHECK(m.modelOf(3).operationsPerSecond == doctest::Approx(1e12));
  CHECK(m.modelOf(3).bytesPerSecond == doctest::Approx(2e12));
  CHECK(m.modelOf(3).launchOverhead == doctest::Approx(5e-6));
  CHECK(m.speedOf(Link::Network).bytesPerSecond == doctest::Approx(12.5e9));
  CHECK(m.speedOf(Link::Network).latency == doctest::Approx(3e-6));
}

TEST_CASE("the way between two devices depends on device, context and node") {
  const MachineFile own = parseMachineFile(machine(kGpu), "m.json");
  CHECK(own.linkBetween(-1, 2) == Link::Host);
  CHECK(own.linkBetween(2, -1) == Link::Host);
  CHECK(own.linkBetween(2, 2) == Link::Device);
  CHECK(own.linkBetween(2, 3) == Link::Node);
  CHECK(own.linkBetween(1, 2) == Link::Network);
  const std::string shared = replaced(kGpu, "}", R"(, "context": "shared"})");
  const MachineFile m = parseMachineFile(
      machine(shared,
              replaced(kSpeeds, "{", R"({"context": {"bandwidth_GBs": 1, "latency_us": 0},)")),
      "m.json");
  CHECK(m.linkBetween(2, 3) == Link::Context);
  CHECK(m.linkBetween(1, 2) == Link::Network);
}

TEST_CASE("nodes and devices of several kinds stand one after another") {
  const std::string cpu =
      R"({"kind": "cpu", "name": "Zen", "memory_GiB": 0.5, "gflops": 1, "bandwidth_GBs": 1, "launch_us": 0})";
  const MachineFile m =
      parseMachineFile(R"({"name": "two", "nodes": [{"devices": [)" + kGpu + "," + cpu +
                           R"(]}, {"devices": [)" + cpu + R"(]}], "links": )" + kSpeeds + "}",
                       "m.json");
  CHECK(m.name == "two");
  REQUIRE(m.devices.size() == 4);
  CHECK(m.modelOf(2).properties.name == "Zen");
  CHECK(m.modelOf(2).properties.globalMemory == std::size_t{1} << 29);
  CHECK(m.modelOf(3).properties.type == CPU);
  CHECK(m.devices[3].node == 1);
}

TEST_CASE("a malformed machine file is refused with its line") {
  CHECK(contains(problem("{\n\"nodes\": [\n{,\n"),
                 "m.json, line 3: this is no JSON: parse error at line 3"));
  CHECK(contains(problem(""), "m.json, line 1: this is no JSON"));
  CHECK(contains(problem("[]"), "m.json, line 1: the machine is an object, not a list"));
  CHECK(
      contains(problem("{\n\"nodes\": 1,\n\n\"nodes\": 2}"),
               "m.json, line 4: \"nodes\" stands here for the second time; it is on line 2, too"));
}

TEST_CASE("a machine without devices is refused") {
  CHECK(contains(problem("{\n\"nodes\": [],\n\"links\": {}}"),
                 "m.json, line 2: \"nodes\" is a list of at least one node"));
  CHECK(contains(problem(machine("")),
                 "m.json, line 3: \"devices\" is a list of at least one device"));
  CHECK(contains(problem("{\"links\": {}}"), "m.json, line 1: the machine needs \"nodes\""));
  CHECK(contains(problem("{\n\"nodes\": 4}"),
                 "m.json, line 2: \"nodes\" is a list of at least one node, not a number"));
}

TEST_CASE("speeds that no link has are refused with their line") {
  CHECK(contains(
      problem(machine(kGpu, replaced(kSpeeds, "100", "-100"))),
      "m.json, line 9: \"bandwidth_GBs\" of a link is -100; it has to be a number above 0"));
  CHECK(contains(problem(machine(kGpu, replaced(kSpeeds, "100", "0"))),
                 "is 0; it has to be a number above 0"));
  CHECK(contains(problem(machine(kGpu, replaced(kSpeeds, "\"bandwidth_GBs\": 100, ", ""))),
                 "m.json, line 9: a link needs \"bandwidth_GBs\""));
  CHECK(
      contains(problem(machine(kGpu, replaced(kSpeeds, "\"latency_us\": 3", "\"latency_us\": -3"))),
               "m.json, line 10: \"latency_us\" of a link is -3; it has to be a number from 0"));
  CHECK(contains(
      problem(machine(replaced(kGpu, "2000", "-1"))),
      "m.json, line 4: \"bandwidth_GBs\" of a device is -1; it has to be a number above 0"));
  CHECK(contains(problem(machine(replaced(kGpu, "80", "\"80\""))),
                 "\"memory_GiB\" of a device is a text; it has to be a number above 0"));
}

TEST_CASE("links that the machine needs are named when they are missing") {
  CHECK(contains(problem(machine(kGpu, replaced(kSpeeds, "\"node\"", "\"context\""))),
                 "m.json, line 7: \"links\" needs \"node\": some node has several devices"));
  CHECK(contains(problem(machine(kGpu, "{}")),
                 "m.json, line 7: \"links\" needs \"host\": arrays begin in the hosts' memory"));
  CHECK(contains(problem(machine(replaced(kGpu, "}", ", \"context\": \"shared\"}"))),
                 "\"links\" needs \"context\": some devices share a context"));
  const std::string one = replaced(machine(kGpu), "\"count\": 3", "\"count\": 1");
  const std::string network = kSpeeds.substr(kSpeeds.find(",\n  \"network\""));
  CHECK_NOTHROW(parseMachineFile(replaced(one, network, "}"), "m.json"));
  CHECK(contains(problem(replaced(machine(kGpu), network, "}")),
                 "needs \"network\": there are several nodes"));
}

TEST_CASE("unknown keys are refused with the nearest match") {
  CHECK(contains(
      problem(machine(replaced(kGpu, "bandwidth_GBs", "bandwith_GBs"))),
      "m.json, line 4: a device has no \"bandwith_GBs\"; did you mean \"bandwidth_GBs\"?"));
  CHECK(contains(problem(machine(kGpu, replaced(kSpeeds, "\"host\"", "\"hots\""))),
                 "\"links\" has no \"hots\"; did you mean \"host\"? (it may have context, host, "
                 "node, network)"));
  const std::string odd = problem(machine(replaced(kGpu, "\"count\"", "\"quantity\"")));
  CHECK(contains(odd, "a device has no \"quantity\" (it may have count, kind, name,"));
}

TEST_CASE("values of the wrong kind are refused") {
  CHECK(contains(problem(machine(replaced(kGpu, "\"gpu\"", "\"tpu\""))),
                 "\"kind\" is \"gpu\", \"cpu\" or \"accelerator\", not \"tpu\""));
  CHECK(contains(problem(machine(replaced(kGpu, "\"count\": 2", "\"count\": 2.5"))),
                 "\"count\" is a whole number from 1 to 1000000"));
  CHECK(contains(problem(machine(replaced(kGpu, "\"count\": 2", "\"count\": 0"))),
                 "\"count\" is a whole number from 1"));
  CHECK(contains(problem(machine(replaced(kGpu, "\"count\": 2", "\"count\": 400000"))),
                 "up to this node there are more than 1000000 devices"));
  CHECK(contains(problem(machine(replaced(kGpu, "}", ", \"context\": \"mine\"}"))),
                 "\"context\" is \"own\" or \"shared\", not \"mine\""));
}

TEST_CASE("a machine file that cannot be read is named") {
  CHECK(messageOf<SettingsError>([] { readMachineFile("/no/such/machine.json"); }) ==
        "HPL_DRY_RUN=/no/such/machine.json: the machine file cannot be read; docs/dry-run.md shows "
        "one");
}

}  // namespace machine_file_tests
