// SPDX-License-Identifier: Apache-2.0
// Calls that a process makes once: when it begins, and when it ends. The program runs itself again.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>

#include "hpl/hpl.h"
#include "tests/faults/opencl_faults.h"
#include "tests/faults/programs.h"
#include "tests/runtime/subprocess.h"

namespace process_tests {

using namespace faults_tests;

namespace {

constexpr const char* kBeginning = "child: a program that begins";
constexpr const char* kEnd = "child: a program that ends";

int deviceCount() { return hpl::getDeviceNumber(hpl::Device().type()); }

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Runs a child, which a signal ends when it hangs.
subprocess::Result runChild(const std::string& child, const std::string& variables) {
  return subprocess::runShell("timeout -s ABRT 60 " + subprocess::command(child, variables));
}

/// The functions that the child has called, and how often.
std::vector<std::pair<std::string, long>> callsOf(const std::string& child,
                                                  const std::string& variables) {
  const subprocess::Result result = runChild(child, variables + " HPL_FAULT_COUNTS=1");
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  std::vector<std::pair<std::string, long>> calls;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string function;
    long count = 0;
    if (words >> function >> count && hpl_faults_calls(function.c_str()) >= 0)
      calls.emplace_back(function, count);
  }
  REQUIRE_FALSE(calls.empty());
  return calls;
}

/// Uses of a function that is called `count` times: the first, the last, and one in between for
/// each seed.
std::vector<long> usesOf(long count, std::mt19937& random) {
  std::vector<long> uses{1};
  if (count > 1) uses.push_back(count);
  for (int i = 0; i < seeds() && count > 2; ++i)
    uses.push_back(std::uniform_int_distribution<long>(2, count - 1)(random));
  return uses;
}

/// Runs the child with each fault; `variable` names the fault to it.
void sweepChild(const std::string& child, const std::string& variable,
                const std::vector<std::pair<std::string, long>>& calls) {
  std::mt19937 random(1);
  int faults = 0;
  for (const auto& [function, count] : calls) {
    for (const long use : usesOf(count, random)) {
      const std::string fault = textOf({function, use, codesOf(function).front()});
      const subprocess::Result result = runChild(child, variable + "=" + fault);
      CAPTURE(fault);
      INFO(result.output);
      CHECK(result.exitCode == 0);
      ++faults;
    }
  }
  MESSAGE(faults << " faults");
}

void increment(hpl::Array<int, 1> a) { a[hpl::idx] += 1; }

}  // namespace

TEST_CASE("child: a program that begins" * doctest::skip()) {
  const Watchdog watchdog("a program that begins");
  const Program program = autoSyncProgram();
  try {
    const std::vector<double> numbers = program.run();
    CHECK(numbers == program.expected);
  } catch (const hpl::Error& error) {
    std::printf("%s\n", error.what());
  }
  if (!environment("HPL_FAULT_COUNTS").empty()) return;
  hpl_faults_disarm();
  CHECK(program.run() == program.expected);
  // No failure takes a device away.
  const std::string wanted = environment("HPL_FAULTS_DEVICES");
  CHECK((wanted.empty() || std::to_string(deviceCount()) == wanted));
}

TEST_CASE("a failed call while a process begins takes no device away") {
  const std::string devices = "HPL_FAULTS_DEVICES=" + std::to_string(deviceCount());
  std::vector<std::pair<std::string, long>> calls;
  for (const auto& call : callsOf(kBeginning, devices)) {
    // The others are made again and again: sweeps within one process fail them.
    for (const char* once :
         {"clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs", "clGetDeviceInfo",
          "clCreateContext", "clCreateCommandQueue", "clCreateSubDevices", "clSetUserEventStatus",
          "clSetEventCallback", "clCreateUserEvent", "clRetainDevice", "clReleaseDevice"})
      if (call.first == once) calls.push_back(call);
  }
  sweepChild(kBeginning, devices + " HPL_FAULT", calls);
}

TEST_CASE("child: a program that ends" * doctest::skip()) {
  // Arrays of which one lives longer than anything of the library's, with work under way.
  static std::vector<int> memory(3000, 1);
  static hpl::Array<int, 1> mine(3000, memory.data());
  static hpl::Array<int, 1> other(3000);
  const Program program = automaticProgram();
  CHECK(program.run() == program.expected);
  other = 1;
  for (int i = 0; i < 3; ++i) {
    eval(increment).devices(deviceCount())(mine);
    eval(increment)(hpl::PART1(other, 2));
    other.syncGhosts();
  }
  hpl_faults_reset();
  const std::string fault = environment("HPL_FAULTS_AT_END");
  char function[64] = "";
  long use = 0;
  int code = 0;
  if (std::sscanf(fault.c_str(), "%63[A-Za-z]:%ld:%d", function, &use, &code) == 3)
    CHECK(hpl_faults_arm(function, use, code, 1));
}

TEST_CASE("a failed call while a process ends") {
  sweepChild(kEnd, "HPL_FAULTS_AT_END", callsOf(kEnd, ""));
}

#ifdef HPL_FAULTS_LIBRARY
TEST_CASE("a sample says which call failed and ends in order") {
  const std::string faulty = "timeout -s ABRT 60 env LD_PRELOAD=" HPL_FAULTS_LIBRARY
                             " HPL_FAULT=clEnqueueNDRangeKernel:1:-5:1000 ";
  for (const char* command : {HPL_FAULTS_SAMPLES "/life --iterations 4 --no-progress",
                              HPL_FAULTS_SAMPLES "/shwa --iterations 4 --size 40 --no-progress",
                              HPL_FAULTS_SAMPLES "/heat2d --steps 4 --size 40"}) {
    const subprocess::Result result = subprocess::runShell(faulty + command + " 2>&1");
    INFO(result.output);
    CHECK(result.exitCode == 1);
    CHECK(result.output.find("CL_OUT_OF_RESOURCES (-5)") != std::string::npos);
  }
}
#endif

}  // namespace process_tests
