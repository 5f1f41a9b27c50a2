// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl::tune {

/// The time that trying in a running program may cost: a fraction of the time used so far, and none
/// before a start. Times in seconds.
class Allowance {
 public:
  Allowance(double start, double share) : start_(start), share_(share) {}

  /// True once the time used suffices for trying to begin.
  bool hasBegun(double used) const noexcept { return used >= start_; }
  /// True if a trial of this cost may run after `used`.
  bool covers(double cost, double used) const noexcept {
    return hasBegun(used) && spent_ + cost <= share_ * used;
  }
  /// The time that must have been used before a trial of this cost may run.
  double neededFor(double cost) const noexcept {
    const double needed = (spent_ + cost) / share_;
    return needed > start_ ? needed : start_;
  }
  void spend(double cost) noexcept { spent_ += cost; }
  double spent() const noexcept { return spent_; }

 private:
  double start_;
  double share_;
  double spent_ = 0;
};

}  // namespace hpl::tune
