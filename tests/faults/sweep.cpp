// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/sweep.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "hpl/error.h"
#include "hpl/runtime/programs.h"
#include "tests/faults/opencl_faults.h"

namespace faults_tests {

struct Watchdog::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool isOver = false;
  std::thread thread;
};

Watchdog::Watchdog(std::string task, int seconds) : state_(new State) {
  state_->thread = std::thread([state = state_, task = std::move(task), seconds] {
    std::unique_lock lock(state->mutex);
    const auto isOver = [state] { return state->isOver; };
    if (state->changed.wait_for(lock, std::chrono::seconds(seconds), isOver)) return;
    std::fprintf(stderr, "%s does not end\n", task.c_str());
    std::abort();
  });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->isOver = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
  delete state_;
}

int seeds() {
  const char* wish = std::getenv("TEST_SEEDS");
  return wish != nullptr ? std::max(1, std::atoi(wish)) : 1;
}

std::string textOf(const Fault& fault) {
  return fault.function + ":" + std::to_string(fault.use) + ":" + std::to_string(fault.code) +
         (fault.times == 1 ? "" : ":" + std::to_string(fault.times));
}

std::vector<int> codesOf(const std::string& function) {
  constexpr int kOutOfMemory = -4;
  constexpr int kOutOfResources = -5;
  constexpr int kOutOfHostMemory = -6;
  constexpr int kBuildFailure = -11;
  constexpr int kFailedBefore = -14;
  if (function == "clCreateBuffer" || function == "clEnqueueNDRangeKernel")
    return {kOutOfMemory, kOutOfResources};
  if (function == "clWaitForEvents") return {kOutOfResources, kFailedBefore};
  if (function == "clBuildProgram") return {kOutOfHostMemory, kBuildFailure};
  return {kOutOfResources};
}

namespace {

/// The uses, of `count`, that are to fail: the first, the last, and as many as `samples` others.
std::vector<long> usesOf(long count, int samples, std::mt19937& random) {
  std::set<long> uses{1, count};
  for (int i = 0; i < samples; ++i)
    uses.insert(std::uniform_int_distribution<long>(1, count)(random));
  return {uses.begin(), uses.end()};
}

void checkNumbers(const Program& program, const std::vector<double>& numbers, const char* when) {
  if (numbers == program.expected) return;
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = numbers.size(); i-- > 0;) {
    if (i < program.expected.size() && numbers[i] == program.expected[i]) continue;
    ++wrong;
    first = i;
  }
  FAIL_CHECK(when << ": " << wrong << " of " << numbers.size() << " numbers are wrong; number "
                  << first << " is " << numbers[first]);
}

/// The functions that compile: a program that runs for the second time does not call them.
bool compiles(const std::string& function) {
  constexpr const char* kNames[] = {
      "clBuildProgram",        "clCreateProgramWithBinary", "clCreateProgramWithSource",
      "clGetProgramBuildInfo", "clGetProgramInfo",          "clReleaseProgram",
      "clRetainProgram"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* name) { return function == name; });
}

/// Whatever was compiled is compiled again.
void forgetPrograms() { hpl::runtime::clearProgramCache(); }

void tryFault(const Program& program, const Fault& fault) {
  const std::string text = program.name + " with " + textOf(fault);
  CAPTURE(text);
  const Watchdog watchdog(text);
  if (compiles(fault.function)) forgetPrograms();
  REQUIRE(hpl_faults_arm(fault.function.c_str(), fault.use, fault.code, fault.times));
  try {
    const std::vector<double> numbers = program.run();
    hpl_faults_disarm();
    checkNumbers(program, numbers, "without an exception");
  } catch (const hpl::Error&) {
    hpl_faults_disarm();
  } catch (const std::exception& error) {
    hpl_faults_disarm();
    FAIL_CHECK("an exception that is not the library's: " << std::string(error.what()));
  }
  try {
    checkNumbers(program, program.run(), "the second time");
  } catch (const std::exception& error) {
    FAIL_CHECK("the second time: " << std::string(error.what()));
  }
}

/// The functions that the program calls, and how often.
std::vector<std::pair<std::string, long>> callsOf(const Program& program) {
  std::vector<std::pair<std::string, long>> calls;
  for (const bool anew : {true, false}) {
    if (anew) forgetPrograms();
    hpl_faults_reset();
    checkNumbers(program, program.run(), "without a fault");
    for (int i = 0; const char* name = hpl_faults_name(i); ++i) {
      const long count = hpl_faults_calls(name);
      if (count > 0 && compiles(name) == anew) calls.emplace_back(name, count);
    }
  }
  return calls;
}

}  // namespace

int sweep(const Program& program, int samples) {
  int faults = 0;
  {
    const Watchdog watchdog(program.name, 400);
    checkNumbers(program, program.run(), "the first time");
  }
  const auto all = callsOf(program);
  REQUIRE_FALSE(all.empty());
  for (int seed = 1; seed <= seeds(); ++seed) {
    CAPTURE(seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    for (const auto& [function, count] : all) {
      for (const int code : codesOf(function)) {
        for (const long use : usesOf(count, samples, random)) {
          tryFault(program, {function, use, code});
          ++faults;
        }
      }
    }
  }
  return faults;
}

}  // namespace faults_tests
