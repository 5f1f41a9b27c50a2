// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "library.h"
#include "program.h"

namespace programs_tests {

namespace {

using namespace programs;

unsigned numberIn(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

std::string listingOf(const Program& program) {
  std::vector<std::string> lines;
  const std::string wrong = run(program, &lines);
  std::string text = showHead(program);
  for (const std::string& line : lines) text += line + "\n";
  return text + (wrong.empty() ? "" : "// " + wrong + "\n");
}

// The failing program with nothing in it that is not needed.
std::string explain(const Program& program, const std::string& wrong) {
  return "HPL_DEVICES of " + std::to_string(allDevices().size()) +
         " devices, TEST_SEED=" + std::to_string(program.seed) + ": " + wrong + "\nshrunk:\n" +
         listingOf(shrink(program));
}

// The comparable part of the cost of two runs. In the host's memory either the host or the device
// makes assignments and fills, whichever is idle, so that bytes depend on the moment.
std::string comparable(Cost cost) {
  for (const hpl::Device& device : allDevices())
    if (device.getProperties().sharesHostMemory) cost.in = cost.out = cost.across = 0;
  return show(cost);
}

}  // namespace

// TEST_SEEDS programs, or the one of TEST_SEED; eight settings of devices run them.
TEST_CASE("random programs on several devices give the model's values") {
  const int devices = static_cast<int>(allDevices().size());
  const unsigned only = numberIn("TEST_SEED", 0);
  const unsigned first = only > 0 ? only : numberIn("TEST_FIRST_SEED", 1);
  const unsigned count = only > 0 ? 1 : numberIn("TEST_SEEDS", 100);
  int failures = 0;
  for (unsigned seed = first; seed < first + count && failures < 5; ++seed) {
    const Program program = makeProgram(seed, devices);
    if (only > 0) std::printf("%s", listingOf(program).c_str());
    const std::string wrong = run(program);
    if (wrong.empty()) continue;
    ++failures;
    MESSAGE(explain(program, wrong));
  }
  CHECK(failures == 0);
}

// Whatever an operation found before it is done again in the same way, and whatever room there is
// on the devices, values and bytes are the same.
TEST_CASE("random programs are the same planned anew, replayed, and on devices short of memory") {
  const int devices = static_cast<int>(allDevices().size());
  const unsigned only = numberIn("TEST_SEED", 0);
  const unsigned first = only > 0 ? only : numberIn("TEST_FIRST_SEED", 1);
  const unsigned count = only > 0 ? 1 : numberIn("TEST_SEEDS", 100) / 4 + 1;
  unsigned fitted = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    const Program program = makeProgram(seed, devices);
    Cost anew, replayed, narrow;
    CHECK(run(program, {.rounds = 3, .replays = false}, anew) == "");
    CHECK(run(program, {.rounds = 3}, replayed) == "");
    CHECK(comparable(anew) == comparable(replayed));
    // Room for what one operation needs, and hardly for more; not always for a buffer that grows.
    const std::string wrong = run(program, {.rounds = 3, .memory = 2.6}, narrow);
    if (wrong.find("no data is lost") != std::string::npos) continue;
    CHECK(wrong == "");
    CHECK(comparable(anew) == comparable(narrow));
    ++fitted;
  }
  if (only == 0) CHECK(fitted > count / 2);
}

}  // namespace programs_tests
