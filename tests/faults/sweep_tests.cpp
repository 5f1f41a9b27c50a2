// SPDX-License-Identifier: Apache-2.0
// Every OpenCL call of small programs fails once.
#include <doctest/doctest.h>

#include "hpl/hpl.h"
#include "tests/faults/programs.h"

namespace sweep_tests {

using namespace faults_tests;

namespace {

constexpr int kSamples = 1;

int deviceCount() { return hpl::getDeviceNumber(hpl::Device().type()); }

void sweepAll(const std::vector<Program>& programs) {
  int faults = 0;
  for (const Program& program : programs) faults += sweep(program, kSamples);
  MESSAGE(faults << " faults");
}

}  // namespace

TEST_CASE("a failed call: the samples, distributed by the library") {
  sweepAll({lifeProgram("auto"), cannyProgram("auto"), gaussProgram("auto"), jacobiProgram("auto"),
            shwaProgram("auto")});
}

TEST_CASE("a failed call: the samples in parts with ghosts") {
  sweepAll({lifeProgram("sync"), cannyProgram("sync"), gaussProgram("annotations"),
            jacobiProgram("subarrays"), shwaProgram("annotations")});
}

TEST_CASE("a failed call: the samples as stencils") {
  sweepAll({lifeProgram("stencil"), cannyProgram("stencil"), gaussProgram("template"),
            jacobiProgram("stencil"), shwaProgram("stencil")});
}

TEST_CASE("a failed call: iterations") {
  sweepAll({iterateProgram(1), iterateProgram(deviceCount())});
}

TEST_CASE("a failed call: AUTO_SYNC, automatic distribution, assignments") {
  sweepAll({autoSyncProgram(), automaticProgram(), assignmentsProgram()});
}

}  // namespace sweep_tests
