// SPDX-License-Identifier: Apache-2.0
// Compilations that take longer than a second are reported on stderr, once. Each test runs a child
// of its own, whose stderr it reads.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "hpl/hpl.h"
#include "hpl/runtime/programs.h"
#include "hpl/runtime/runtime.h"
#include "tests/launch/planted_builds.h"
#include "tests/messages.h"
#include "tests/runtime/subprocess.h"

namespace slow_compilation_tests {

using namespace hpl;
using hpl::test::SlowCompilations;
using hpl_tests::contains;
using hpl_tests::messageOf;
using namespace std::chrono_literals;

namespace {

void triple(Array<int, 1> out, const Array<int, 1>& in) { out[idx] = 3 * in[idx] + 1; }

/// Launches the kernel and checks what it computed.
void launchTriple() {
  Array<int, 1> in(100), out(100);
  for (int i = 0; i < 100; ++i) in(i) = i;
  eval(triple)(out, in);
  int wrong = 0;
  for (int i = 0; i < 100; ++i) wrong += out(i).value() != 3 * i + 1;
  std::printf("wrong: %d\n", wrong);
}

/// The child's output under `environment`, without what other processes have left on disk.
std::string outputOf(const std::string& child, const std::string& environment = "") {
  const auto result = subprocess::run(child, "HPL_CACHE=off " + environment);
  CHECK_MESSAGE(result.exitCode == 0, result.output);
  return result.output;
}

bool runsOnPocl() {
  return getDeviceNumber() > 0 &&
         defaultDevice().getProperties().platform == "Portable Computing Language";
}

}  // namespace

TEST_CASE("child: a slow build" * doctest::skip()) {
  const SlowCompilations slow(1300ms, 0ms);
  launchTriple();
  launchTriple();
}

TEST_CASE("child: a slow first launch" * doctest::skip()) {
  const SlowCompilations slow(0ms, 1700ms);
  launchTriple();
  launchTriple();
}

TEST_CASE("child: a slow build and a slow first launch" * doctest::skip()) {
  const SlowCompilations slow(1300ms, 1700ms);
  launchTriple();
}

TEST_CASE("child: short compilations" * doctest::skip()) {
  const SlowCompilations slow(50ms, 50ms);
  launchTriple();
  // Longer than the patience, and no compilation is under way.
  std::this_thread::sleep_for(1500ms);
  launchTriple();
}

TEST_CASE("child: a slow build that fails" * doctest::skip()) {
  const SlowCompilations slow(1300ms, 0ms);
  const std::string message = messageOf<BuildError>([] {
    runtime::buildProgram(runtime::Runtime::get().defaultDevice(), "broken",
                          "kernel void broken(global int* a) { *a = nonesuch; }");
  });
  std::printf("%s\n", contains(message, "nonesuch") ? "named" : message.c_str());
}

TEST_CASE("child: the program ends while a first launch is due" * doctest::skip()) {
  const SlowCompilations slow(0ms, 1700ms);
  Array<int, 1> in(100), out(100);
  in = 1;
  eval(triple)(out, in);
}

TEST_CASE("a build that takes longer than a second is reported once, with kernel and strategy") {
  const std::string output = outputOf("child: a slow build");
  CAPTURE(output);
  CHECK(subprocess::occurrences(output, "has been compiling for 1 s on device") == 1);
  CHECK(contains(output, "warning: kernel 'triple' ("));
  CHECK(contains(output, "drivers usually keep the result for the next run\n"));
  CHECK(subprocess::occurrences(output, "wrong: 0\n") == 2);
  const std::string direct = outputOf("child: a slow build", "HPL_STRATEGY=direct");
  CHECK_MESSAGE(contains(direct, "warning: kernel 'triple' (direct: "), direct);
}

TEST_CASE("HPL_LOG=error hides reports of long compilations") {
  for (const char* child : {"child: a slow build", "child: a slow first launch"}) {
    const std::string output = outputOf(child, "HPL_LOG=error");
    CAPTURE(output);
    CHECK_FALSE(contains(output, "kernel 'triple'"));
    CHECK(subprocess::occurrences(output, "wrong: 0\n") == 2);
  }
}

TEST_CASE("a first launch that the driver does not begin for a second is reported once") {
  if (!runsOnPocl()) return;
  const std::string output = outputOf("child: a slow first launch");
  CAPTURE(output);
  CHECK(subprocess::occurrences(output, "its first launch on device ") == 1);
  CHECK(contains(output, "warning: kernel 'triple' ("));
  CHECK(contains(output,
                 "was due 1 s ago and has not begun, most likely because the driver compiles it"));
  CHECK(subprocess::occurrences(output, "wrong: 0\n") == 2);
}

TEST_CASE("a kernel that is slow to build and slow to begin is reported once") {
  if (!runsOnPocl()) return;
  const std::string output = outputOf("child: a slow build and a slow first launch");
  CAPTURE(output);
  CHECK(subprocess::occurrences(output, "kernel 'triple'") == 1);
  CHECK(contains(output, "wrong: 0\n"));
}

TEST_CASE("short compilations are not reported, however long the program runs") {
  const std::string output = outputOf("child: short compilations");
  CAPTURE(output);
  CHECK_FALSE(contains(output, "compil"));
  CHECK(subprocess::occurrences(output, "wrong: 0\n") == 2);
}

TEST_CASE("a slow build that fails is reported, and its error comes as ever") {
  const std::string output = outputOf("child: a slow build that fails");
  CAPTURE(output);
  CHECK(subprocess::occurrences(output, "kernel 'broken' has been compiling for 1 s") == 1);
  CHECK(contains(output, "named\n"));
}

TEST_CASE("a program may end while a first launch is due") {
  if (!runsOnPocl()) return;
  const std::string output = outputOf("child: the program ends while a first launch is due");
  CHECK_MESSAGE(subprocess::occurrences(output, "its first launch on device ") == 1, output);
}

}  // namespace slow_compilation_tests
