// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "perf/evaluation/style.h"

/// The five applications of the stencil paper, as functions that a benchmark calls again and again
/// in one process.
namespace evaluation {

/// The bytes of a result.
using Bytes = std::vector<std::byte>;

struct Application {
  std::string name;
  /// Runs the application once on all devices, in shares of these weights (none: equal ones), and
  /// returns its cells. Throws what the application throws.
  std::function<Bytes(const Way&, const std::vector<double>& weights)> run;
};

/// In sizes whose runs take about a tenth of a second on two cores: many short runs tell a small
/// difference better than few long ones. With `small`, in sizes that show whether results agree.
std::vector<Application> applications(bool small);

}  // namespace evaluation
