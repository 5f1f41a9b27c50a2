// SPDX-License-Identifier: Apache-2.0
// The random programs of the room `programs` on ranks: annotations, automatic distribution, views,
// assignments, host access, with messages and with shared memory, late or not.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "hpl/ranks/window.h"
#include "hpl/runtime/settings.h"
#include "program_on_ranks.h"
#include "tests/programs/program.h"
#include "tests/ranks/counting_fabric.h"
#include "tests/ranks/delaying_window.h"
#include "tests/ranks/nodes_fabric.h"

namespace random_programs_tests {

using namespace hpl;
using namespace ranks_tests;

namespace {

/// A rank that hangs ends so, and its status says it.
constexpr unsigned kHangs = 300;
constexpr std::chrono::microseconds kLongest{300};

unsigned numberIn(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

struct Setting {
  int ranks;
  int each;
  std::string fabric;
};

/// The failing program with nothing in it that is not needed. All ranks fail alike.
std::string explain(const programs::Program& program, const std::string& wrong) {
  const programs::Program shrunk = programs::shrink(program);
  std::vector<std::string> lines;
  programs::run(shrunk, &lines);
  std::string text = "TEST_FIRST_SEED=" + std::to_string(program.seed) + ": " + wrong +
                     "\nshrunk:\n" + programs::showHead(shrunk);
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Two ranks on each node, and one message between each two nodes.
hpl_tests::WrapFabric nodes(bool isLate, unsigned seed) {
  const auto memory = hpl_tests::memoryOfNodes(2, ranks::Window::bytesFor(2));
  return [=](std::unique_ptr<ranks::Fabric> inner) -> std::unique_ptr<ranks::Fabric> {
    runtime::Settings settings = runtime::settings();
    settings.messages = runtime::Messages::Nodes;
    runtime::overrideSettings(settings);
    if (isLate)
      inner = std::make_unique<hpl_tests::DelayingFabric>(std::move(inner), seed, kLongest);
    return std::make_unique<hpl_tests::NodesFabric>(std::move(inner), 2, memory);
  };
}

hpl_tests::WrapFabric fabricOf(const std::string& name, unsigned seed) {
  if (name == "window") return {};
  if (name == "nodes" || name == "late nodes") return nodes(name != "nodes", seed);
  return [name, seed](std::unique_ptr<ranks::Fabric> inner) -> std::unique_ptr<ranks::Fabric> {
    if (name == "messages") return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
    if (name == "late messages")
      return std::make_unique<hpl_tests::DelayingFabric>(std::move(inner), seed, kLongest);
    return std::make_unique<hpl_tests::DelayingWindow>(std::move(inner), seed, kLongest);
  };
}

}  // namespace

// TEST_SEEDS programs for each setting, from TEST_FIRST_SEED on.
TEST_CASE("random programs of all kinds give the model's values on ranks") {
  const unsigned first = numberIn("TEST_FIRST_SEED", 1);
  const unsigned count = numberIn("TEST_SEEDS", 6);
  for (const Setting& setting :
       {Setting{2, 1, "window"}, Setting{2, 1, "late window"}, Setting{3, 1, "late messages"},
        Setting{3, 1, "late window"}, Setting{2, 2, "late window"}, Setting{2, 2, "messages"},
        Setting{4, 1, "late window"}, Setting{4, 1, "nodes"}, Setting{3, 1, "late nodes"},
        Setting{4, 1, "late nodes"}}) {
    const int devices = setting.ranks * setting.each;
    const auto programs = [&] {
      alarm(kHangs);
      std::string wrong;
      for (unsigned seed = first; seed < first + count && wrong.empty(); ++seed) {
        const programs::Program program = programs::makeProgram(seed, devices);
        // Some with each operation three times, which replays what was planned once.
        programs::Cost cost;
        wrong =
            seed % 4 == 0 ? programs::run(program, {.rounds = 3}, cost) : programs::run(program);
        if (!wrong.empty()) wrong = explain(program, wrong);
      }
      return wrong;
    };
    INFO(setting.ranks << " ranks with " << setting.each << " devices, " << setting.fabric);
    CHECK(saidOn(setting.ranks, setting.each, programs, fabricOf(setting.fabric, first)) == "");
  }
}

// 5069: an assignment from a part that first gets cells of the host, which it then has to send.
TEST_CASE("random programs that failed once give the model's values on two ranks") {
  for (const unsigned seed : {5069U}) {
    for (const char* fabric : {"window", "messages"}) {
      const auto program = [seed] { return programs::run(programs::makeProgram(seed, 2)); };
      CAPTURE(seed);
      CHECK(saidOn(2, 1, program, fabricOf(fabric, seed)) == "");
    }
  }
}

}  // namespace random_programs_tests
