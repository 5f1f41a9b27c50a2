// SPDX-License-Identifier: Apache-2.0
#include "hpl/dry_run/books.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "hpl/dry_run/detail/loops.h"
#include "tests/messages.h"

namespace books_tests {

using namespace hpl;
using namespace hpl::dry_run;
using hpl_tests::contains;
using Kind = Operation::Kind;

namespace {

/// Two nodes of two devices: 1 GB/s of memory, 1 GFLOP/s and 1 us for a launch; links of 1 GB/s
/// (host), 0.1 GB/s (node) and 0.01 GB/s (network), with latencies of 1, 2 and 4 us.
MachineFile machine() {
  return parseMachineFile(R"({"name": "test", "nodes": [{"count": 2, "devices": [
    {"kind": "gpu", "count": 2, "memory_GiB": 1, "gflops": 1, "bandwidth_GBs": 1, "launch_us": 1}]}],
    "links": {"host": {"bandwidth_GBs": 1, "latency_us": 1},
              "node": {"bandwidth_GBs": 0.1, "latency_us": 2},
              "network": {"bandwidth_GBs": 0.01, "latency_us": 4}}})",
                          "test.json");
}

/// Each device computes, then the next step's messages go to its neighbours.
Operation step(std::uint64_t bytes, double work) {
  Operation operation;
  operation.name = "k";
  for (int d = 0; d < 4; ++d) {
    if (d > 0) operation.messages.push_back({d - 1, d, 0, bytes});
    if (d < 3) operation.messages.push_back({d + 1, d, 0, bytes});
    operation.works.push_back({d, work, 0, false});
  }
  operation.written = {1};
  return operation;
}

constexpr std::uint64_t kArrays[] = {1, 2};
constexpr std::uint64_t kSwapped[] = {2, 1};

std::size_t at(Link link) { return static_cast<std::size_t>(link); }

}  // namespace

TEST_CASE("traffic is counted by link, between nodes one message per pair and operation") {
  Books books(machine());
  Operation operation = step(100, 0);
  operation.messages.push_back({2, 1, 1, 7});  // another piece from node 1 to node 0
  operation.messages.push_back({kHosts, 3, 0, 9});
  books.note(operation, kArrays);
  const Report report = books.report();
  CHECK(report.traffic.messages[at(Link::Network)] == 2);
  CHECK(report.traffic.bytes[at(Link::Network)] == 207);
  CHECK(report.traffic.messages[at(Link::Node)] == 4);
  CHECK(report.traffic.bytes[at(Link::Node)] == 400);
  CHECK(report.traffic.messages[at(Link::Host)] == 1);
  CHECK(report.transfers == 8);
  CHECK(report.launches == 4);
  CHECK(report.profile.deviceToDevice == 607);
  CHECK(report.profile.hostToDevice == 9);
  CHECK(report.profile.deviceToHost == 0);
}

TEST_CASE("operations that are alike are one row, whatever arrays they are on") {
  Books books(machine());
  const int row = books.note(step(100, 0), kArrays);
  CHECK(books.note(step(100, 0), kSwapped) == row);
  books.repeat(row, kArrays);
  CHECK(books.note(step(101, 0), kArrays) != row);
  const Report report = books.report();
  REQUIRE(report.operations.size() == 2);
  CHECK(report.operations[0].times == 3);
  CHECK(report.operations[0].kind == "launch");
  CHECK(report.operations[0].devices == 4);
  CHECK(report.launches == 16);
}

TEST_CASE("a device's time is the larger of arithmetic and memory, after the launch") {
  Books memory(machine()), arithmetic(machine());
  Operation one;
  one.works = {{0, 5000, 2000, false}};
  memory.note(one, {});
  CHECK(memory.report().seconds == doctest::Approx(1e-6 + 5e-6));
  one.works = {{0, 5000, 9000, false}};
  arithmetic.note(one, {});
  CHECK(arithmetic.report().seconds == doctest::Approx(1e-6 + 9e-6));
}

TEST_CASE("messages leave when their cells are computed, and kernels wait for them") {
  Books books(machine());
  Operation first, second;
  first.works = {{0, 10000, 0, false}};
  first.written = {0};
  second.messages = {{0, 1, 0, 1000}};
  second.works = {{1, 3000, 0, false}};
  books.note(first, kArrays);
  CHECK(books.report().seconds == doctest::Approx(11e-6));
  books.note(second, kArrays);
  // 1000 bytes over 0.1 GB/s, 2 us of latency, then the launch and its work.
  CHECK(books.report().seconds == doctest::Approx(11e-6 + 10e-6 + 2e-6 + 1e-6 + 3e-6));
}

TEST_CASE("messages of borders travel while the rest is computed") {
  Books whole(machine()), pieces(machine());
  Operation a = step(1000, 0);
  a.works.clear();
  Operation b = a;
  for (int d = 0; d < 4; ++d) {
    a.works.push_back({d, 400000, 0, false});
    b.works.push_back({d, 10000, 0, true});
    b.works.push_back({d, 390000, 0, false});
  }
  for (int i = 0; i < 20; ++i) {
    whole.note(a, i % 2 == 0 ? kArrays : kSwapped);
    pieces.note(b, i % 2 == 0 ? kArrays : kSwapped);
  }
  const Loop apart = whole.report().loop, together = pieces.report().loop;
  // The slowest message: 1000 bytes between the nodes.
  CHECK(apart.seconds == doctest::Approx(1e-6 + 400e-6 + 100e-6 + 4e-6));
  CHECK(together.seconds == doctest::Approx(2e-6 + 400e-6));
  CHECK(apart.efficiency == doctest::Approx(400.0 / 505));
  CHECK(together.efficiency == doctest::Approx(400.0 / 402));
}

TEST_CASE("the ends of a link send and receive one message at a time") {
  Books books(machine());
  Operation operation;
  operation.messages = {{0, 1, 0, 1000}, {0, 1, 1, 1000}};
  books.note(operation, kArrays);
  CHECK(books.report().seconds == doctest::Approx(2 * 10e-6 + 2e-6));
  Operation network;  // two devices of a node send to two of the other: one parcel
  network.messages = {{0, 2, 0, 1000}, {1, 3, 0, 1000}};
  Books other(machine());
  other.note(network, kArrays);
  CHECK(other.report().seconds == doctest::Approx(200e-6 + 4e-6));
}

TEST_CASE("the loop of a program is found between what comes before and after it") {
  Books books(machine());
  Operation init, read;
  init.kind = Kind::Fill;
  init.works = {{0, 1, 0, false}};
  read.kind = Kind::HostRead;
  read.messages = {{0, kHosts, 0, 5}};
  books.note(init, kArrays);
  for (int i = 0; i < 30; ++i) {
    books.note(step(10, 100), i % 2 == 0 ? kArrays : kSwapped);
    books.note(step(20, 100), i % 2 == 0 ? kArrays : kSwapped);
  }
  books.note(read, kArrays);
  const Loop loop = books.report().loop;
  CHECK(loop.operations == std::vector<int>{1, 2});
  CHECK(loop.times == 30);
  CHECK(loop.launches == 8);
  CHECK(loop.devices == 4);
  CHECK(loop.traffic.bytes[at(Link::Node)] == 4 * 30);
  CHECK(loop.mostTraffic.bytes == 120);
  CHECK(loop.mostTraffic.messages == 8);
  CHECK((loop.mostTraffic.device == 1 || loop.mostTraffic.device == 2));
}

TEST_CASE("a loop that runs twice is that loop, not its two runs") {
  std::vector<int> sequence;
  for (int twice = 0; twice < 2; ++twice) {
    sequence.push_back(7);
    for (int i = 0; i < 40; ++i) sequence.push_back(i % 2);
  }
  const detail::Repetition found = detail::mainRepetition(sequence);
  CHECK(found.period == 2);
  CHECK(found.length == 40);
}

TEST_CASE("the main repetition is that of a search by brute force") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<int> sequence(random() % 40);
    for (int& member : sequence) member = static_cast<int>(random() % 2);
    std::size_t best = 0;
    std::vector<std::size_t> longest(sequence.size() + 1);  // by period
    for (std::size_t begin = 0; begin < sequence.size(); ++begin) {
      for (std::size_t period = 1; begin + 2 * period <= sequence.size(); ++period) {
        std::size_t length = period;
        while (begin + length < sequence.size() &&
               sequence[begin + length] == sequence[begin + length - period])
          ++length;
        if (length < 2 * period) continue;
        best = std::max(best, length);
        longest[period] = std::max(longest[period], length);
      }
    }
    const detail::Repetition found = detail::mainRepetition(sequence);
    std::size_t period = 0;
    while (best > 0 && 4 * longest[period] < best) ++period;
    CHECK(found.period == period);
    CHECK(found.length == longest[period]);
    for (std::size_t i = found.begin + found.period; i < found.begin + found.length; ++i)
      CHECK(sequence[i] == sequence[i - found.period]);
  }
}

TEST_CASE("memory is remembered at its largest, and what does not fit is said") {
  Books books(machine());
  books.occupy(1, std::int64_t{3} << 29);
  books.occupy(1, -(std::int64_t{3} << 29));
  books.occupy(2, 100);
  const Report report = books.report();
  CHECK(report.memory == std::vector<std::uint64_t>{0, std::uint64_t{3} << 29, 100, 0});
  CHECK(report.fullest() == 1);
  CHECK(report.overfull() == 1);
  const std::string text = toText(report);
  CHECK(contains(text, "memory: at most 1.5 GiB of 1.0 GiB on a device (device 1)"));
  CHECK(contains(text, "1 of 4 devices would have to hold more than they can"));
}

TEST_CASE("the report says all there is, as text and as JSON") {
  Books books(machine());
  for (int i = 0; i < 3; ++i) books.note(step(100, 4000), kArrays);
  books.noteHostRead("array \"sum\"", "kernel 'add'", 4);
  books.noteHostRead("array \"sum\"", "kernel 'add'", 4);
  books.remark("until ran to its maximum");
  const Report report = books.report();
  const std::string text = toText(report);
  CHECK(contains(text, "hpl: dry run for test: 4 devices on 2 nodes"));
  CHECK(contains(text, "step, repeated 3 times: launch k"));
  CHECK(contains(text, "array \"sum\", 2 times, 8 B, after kernel 'add'"));
  CHECK(contains(text, "until ran to its maximum"));
  const nlohmann::json json = nlohmann::json::parse(toJson(report));
  CHECK(json["devices"] == 4);
  CHECK(json["launches"] == 12);
  CHECK(json["bytes_device_to_device"] == 1800);
  CHECK(json["links"]["network"]["messages"] == 6);
  CHECK(json["step"]["links"]["node"]["bytes"] == 400);
  CHECK(json["step"]["times"] == 3);
  CHECK(json["host_reads"][0]["times"] == 2);
  CHECK(json["memory_bytes"].size() == 4);
}

TEST_CASE("a program that repeats nothing has no step") {
  Books books(machine());
  books.note(step(100, 4000), kArrays);
  CHECK(books.report().loop.operations.empty());
  CHECK(nlohmann::json::parse(toJson(books.report()))["step"].is_null());
}

TEST_CASE("operations beyond all bounds are summed") {
  Books books(machine());
  std::uint64_t bytes = 0;
  int lastRow = 0;
  for (std::uint64_t i = 1; i <= 300; ++i) {
    Operation operation;
    operation.name = "many";
    operation.messages.assign(20000, {0, 1, 0, i});
    bytes += 20000 * i;
    lastRow = books.note(std::move(operation), kArrays);
  }
  CHECK(lastRow == -1);
  const Report report = books.report();
  CHECK(report.traffic.allBytes() == bytes);
  CHECK(report.operations.size() < 300);
  CHECK(report.operations.back().isSum);
  CHECK(report.operations.back().times + report.operations.size() - 1 == 300);
}

}  // namespace books_tests
