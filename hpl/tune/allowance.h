// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl::tune {

/// What trying in a running program may cost: a share of the time that was used so far, and
/// nothing before a start. Times in seconds.
class Allowance {
 public:
  Allowance(double start, double share) : start_(start), share_(share) {}

  /// Whether so much has been used that trying may begin.
  bool hasBegun(double used) const noexcept { return used >= start_; }
  /// Whether something of this cost may be tried after `used`.
  bool covers(double cost, double used) const noexcept {
    return hasBegun(used) && spent_ + cost <= share_ * used;
  }
  /// How much must have been used before that is so.
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
