// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "library.h"
#include "program.h"
#include "tests/device_type.h"
#include "tests/dry_run/machine_of.h"
#include "tests/runtime/subprocess.h"

namespace dry_run_tests {

using namespace hpl;

namespace {

constexpr unsigned kPrograms = 8;

/// The lines that the child printed.
std::string countersIn(const subprocess::Result& result) {
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  std::string lines;
  for (std::size_t at = 0; (at = result.output.find("moved by program ", at)) != std::string::npos;
       ++at)
    lines += result.output.substr(at, result.output.find('\n', at) - at) + "\n";
  return lines;
}

}  // namespace

TEST_CASE("child: counters of random programs" * doctest::skip()) {
  const int count = getDeviceNumber();
  for (unsigned seed = 1; seed <= kPrograms; ++seed) {
    const std::string wrong = programs::run(programs::makeProgram(seed, count));
    const ProfilingData cost = getProfile();
    std::printf("moved by program %u: %llu %llu %llu bytes, %llu launches %s\n", seed,
                static_cast<unsigned long long>(cost.bytesHostToDevice),
                static_cast<unsigned long long>(cost.bytesDeviceToHost),
                static_cast<unsigned long long>(cost.bytesDeviceToDevice),
                static_cast<unsigned long long>(cost.launches), wrong.c_str());
  }
}

TEST_CASE("random programs move in a dry run what they move on devices") {
  const DeviceProperties like = Device().getProperties();
  const subprocess::TemporaryFolder folder;
  const int count = getDeviceNumber();
  const std::string machine = folder / "machine.json";
  hpl_tests::writeMachine(machine, count, like);
  const std::string child = "child: counters of random programs";
  const std::string common = "HPL_ZERO_COPY=off HPL_TUNE=off ";
  const std::string devices =
      "HPL_DEVICES='" + hpl_tests::deviceType() + ":0*" + std::to_string(count) + "'";
  const std::string real = countersIn(subprocess::run(child, common + devices));
  const std::string dry = countersIn(subprocess::run(child, common + "HPL_DRY_RUN=" + machine));
  CHECK(dry == real);
}

}  // namespace dry_run_tests
