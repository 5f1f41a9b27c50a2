// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/faults/sweep.h"

namespace faults_tests {

/// The five applications of the samples at tiny sizes, in the style of that name.
Program lifeProgram(const std::string& style);
Program cannyProgram(const std::string& style);
Program gaussProgram(const std::string& style);
Program jacobiProgram(const std::string& style);
Program shwaProgram(const std::string& style);

/// A stencil that is applied many times, in time tiles, on `devices` devices.
Program iterateProgram(int devices);
/// Annotated parts whose ghosts the library brings up to date; `a += 1` among the launches.
Program autoSyncProgram();
/// Launches without annotations on all devices.
Program automaticProgram();
/// Assignments between arrays and views, fills, host access in between, memory of the caller's.
Program assignmentsProgram();

}  // namespace faults_tests
