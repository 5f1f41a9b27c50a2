// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

/// One OpenCL call of a program fails; then the program runs again.
namespace faults_tests {

/// A small program.
struct Program {
  std::string name;
  /// Runs it once, from its beginning to its end. Throws hpl::Error.
  std::function<std::vector<double>()> run;
  /// The numbers that come out, computed in another way.
  std::vector<double> expected;
};

/// Calls of `function` from the use-th on fail `times` times with `code`.
struct Fault {
  std::string function;
  long use = 1;
  int code = -5;
  long times = 1;
};

/// "clFlush:3:-5", what HPL_FAULT takes.
std::string textOf(const Fault& fault);

/// The codes with which a function may fail.
std::vector<int> codesOf(const std::string& function);

/// Fails each OpenCL function that the program calls at its first uses, its last uses, and at
/// `samples` others: the program throws an hpl::Error or ends with the right numbers, and in either
/// case runs as it should right after. A program that does not end aborts the process, with a
/// message that names the fault. Reports to doctest; returns the number of faults.
int sweep(const Program& program, int samples);

/// Ends the process, with a message, unless it is destroyed in time.
class Watchdog {
 public:
  explicit Watchdog(std::string task, int seconds = 150);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  struct State;
  State* state_;
};

/// TEST_SEEDS, 1 by default: how much is tried of what chance decides.
int seeds();

}  // namespace faults_tests
