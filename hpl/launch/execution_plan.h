// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "hpl/runtime/device.h"

namespace hpl {

/// How an ExecutionPlan finds the shares of its devices.
enum class PlanSearch : unsigned char {
  NONE,  ///< the percentages that were given
  ONCE   ///< measured at the first launch of each kernel with arguments of each shape
};

/// The devices that share a launch, and the percentage of the work of each.
///
///     ExecutionPlan plan({{Device(GPU, 0), 70}, {Device(CPU, 0), 30}});
///     eval(k).plan(plan)(PART1(a), PART1(b));
class ExecutionPlan {
 public:
  struct Share {
    Device device;
    /// Share of the work; the shares need not add up to 100.
    double percentage = 0;
  };

  /// Fixed shares. Throws ArgumentError when there are none, when a percentage is not positive and
  /// finite, or when a device is named twice.
  explicit ExecutionPlan(std::vector<Share> shares, PlanSearch search = PlanSearch::NONE);
  ExecutionPlan(std::initializer_list<Share> shares, PlanSearch search = PlanSearch::NONE)
      : ExecutionPlan(std::vector<Share>(shares), search) {}
  /// Equal shares, to be measured.
  explicit ExecutionPlan(const std::vector<Device>& devices, PlanSearch search = PlanSearch::ONCE);

  const std::vector<Share>& shares() const noexcept { return shares_; }
  PlanSearch search() const noexcept { return search_; }

 private:
  std::vector<Share> shares_;
  PlanSearch search_;
};

}  // namespace hpl
