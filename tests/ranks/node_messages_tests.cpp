// SPDX-License-Identifier: Apache-2.0
// One message for each two nodes, which one rank of each gathers and hands out.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/window.h"
#include "hpl/ranks/world.h"
#include "hpl/runtime/settings.h"
#include "program_on_ranks.h"
#include "tests/ranks/delaying_fabric.h"
#include "tests/ranks/nodes_fabric.h"

namespace node_messages_tests {

using namespace hpl;
using namespace ranks_tests;

namespace {

/// Two ranks on each node; late where there is a seed.
hpl_tests::WrapFabric onNodes(runtime::Messages messages, int nodes, unsigned lateWithSeed = 0) {
  const auto memory = hpl_tests::memoryOfNodes(nodes, ranks::Window::bytesFor(2));
  return [=](std::unique_ptr<ranks::Fabric> inner) -> std::unique_ptr<ranks::Fabric> {
    runtime::Settings settings = runtime::settings();
    settings.messages = messages;
    runtime::overrideSettings(settings);
    if (lateWithSeed != 0)
      inner = std::make_unique<hpl_tests::DelayingFabric>(std::move(inner), lateWithSeed,
                                                          std::chrono::microseconds(2000));
    return std::make_unique<hpl_tests::NodesFabric>(std::move(inner), 2, memory);
  };
}

void nineAround(Grid out, const Grid& in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] = in[idy - 1][idx - 1] + 2 * in[idy - 1][idx] + 3 * in[idy][idx - 1] +
                    in[idy + 1][idx + 1] - in[idy][idx + 1];
  }
}

/// Blocks of rows and columns, of which several meet at a node's border.
void step(Grid& a, Grid& b) {
  eval(nineAround)
      .devices(getDeviceNumber())(PART12(b, 1, 1, AUTO_SYNC), PART12(a, 1, 1, AUTO_SYNC));
  swap(a, b);
}

std::string blocks(int steps) {
  Grid a(40, 52), b(40, 52), c(40, 52), d(40, 52);
  setCells(a, 1);
  setCells(b, 2);
  setCells(c, 3);
  setCells(d, 4);
  for (int i = 0; i < steps; ++i) {
    step(a, b);
    step(c, d);
  }
  return cellsOf(a) + cellsOf(b) + cellsOf(c) + cellsOf(d);
}

}  // namespace

TEST_CASE("what one node has for another is one message") {
  const auto messagesOf = [](runtime::Messages messages) {
    const auto reports = hpl_tests::inWorlds(
        4,
        [] {
          listDevices({4, 1, ranks::world()->rank()});
          Grid a(40, 52), b(40, 52);
          setCells(a, 1);
          setCells(b, 2);
          for (int i = 0; i < 5; ++i) step(a, b);
          memory::detail::waitForLetters();
          const auto before = hpl_tests::sent().messages.load();
          for (int i = 0; i < 20; ++i) step(a, b);
          memory::detail::waitForLetters();
          return std::to_string(hpl_tests::sent().messages - before);
        },
        onNodes(messages, 2));
    std::string all;
    for (const auto& report : reports) all += report.said + report.thrown + " ";
    return all;
  };
  // Each rank borders on both of the other node.
  CHECK(messagesOf(runtime::Messages::Ranks) == "40 40 40 40 ");
  CHECK(messagesOf(runtime::Messages::Nodes) == "0 20 20 0 ");
}

TEST_CASE("cells that pass by way of other ranks are the same, also where messages are late") {
  const auto program = [] { return blocks(40); };
  const std::string expected = saidOn(1, 1, program);
  for (const unsigned seed : {0U, 1U}) {
    CAPTURE(seed);
    for (const auto& [ranks, each] :
         {std::pair(4, 1), std::pair(4, 2), std::pair(3, 2), std::pair(6, 1)}) {
      INFO(ranks << " ranks with " << each << " devices");
      CHECK(saidOn(ranks, each, program,
                   onNodes(runtime::Messages::Nodes, (ranks + 1) / 2, seed)) == expected);
    }
  }
}

TEST_CASE("what is too large for the memory of a node passes between ranks") {
  const auto program = [] {
    Grid a(8, 1'200'000), b(8, 1'200'000);
    setCells(a, 1);
    setCells(b, 2);
    for (int i = 0; i < 3; ++i) step(a, b);
    const int all = sum(a), others = sum(b), most = max(a);
    return fmt::format("{} {} {}", all, others, most);
  };
  CHECK(saidOn(4, 1, program, onNodes(runtime::Messages::Nodes, 2)) == saidOn(1, 1, program));
}

TEST_CASE("ranks of a node without shared memory send their own messages, and are told so") {
  const auto withoutWindow = [](std::unique_ptr<ranks::Fabric> inner) {
    runtime::Settings settings = runtime::settings();
    settings.messages = runtime::Messages::Nodes;
    runtime::overrideSettings(settings);
    return std::make_unique<hpl_tests::NodesFabric>(std::move(inner), 2, nullptr);
  };
  const auto joins = [] {
    return fmt::format("{} {}", ranks::world()->joinsNodes() ? "joined" : "apart", blocks(5));
  };
  CHECK(saidOn(4, 1, joins, withoutWindow) == "apart " + saidOn(1, 1, [] { return blocks(5); }));
}

}  // namespace node_messages_tests
