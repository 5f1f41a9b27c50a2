// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "samples/common/run_options.h"

/// The five applications of the stencil paper, as functions that a benchmark calls again and again
/// in one process.
namespace perf {

/// The bytes of a result.
using Bytes = std::vector<std::byte>;

struct Application {
  std::string name;
  /// Runs the application once on all devices and returns its cells. Narrowest ghosts: width 0.
  /// Throws what the sample throws.
  std::function<Bytes(samples::Style, int ghostWidth)> run;
};

/// In sizes whose runs take about a tenth of a second on two cores: many short runs tell a small
/// difference better than few long ones. With `small`, in sizes that show whether results agree.
std::vector<Application> applications(bool small);

}  // namespace perf
