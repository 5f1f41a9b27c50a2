// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/stoker.h"

#include <cmath>
#include <stdexcept>

namespace samples::shwa {

DamBreakSolution::DamBreakSolution(double behind, double before, double gravity)
    : behind_(behind), before_(before), gravity_(gravity) {
  if (!(before > 0) || !(behind > before) || !(gravity > 0)) {
    throw std::invalid_argument("a dam break needs 0 < depth before the dam < depth behind it");
  }
  // The velocity behind a bore of depth h, minus that at the end of the rarefaction, grows with h.
  const auto behindBore = [&](double h) {
    return (h - before_) * std::sqrt(gravity_ / 2 * (h + before_) / (h * before_));
  };
  const auto afterRarefaction = [&](double h) {
    return 2 * (std::sqrt(gravity_ * behind_) - std::sqrt(gravity_ * h));
  };
  double low = before_;
  double high = behind_;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (behindBore(middle) < afterRarefaction(middle) ? low : high) = middle;
  }
  depth_ = (low + high) / 2;
  velocity_ = behindBore(depth_);
  bore_ = depth_ * velocity_ / (depth_ - before_);
}

double DamBreakSolution::depth(double distance, double time) const {
  const double ray = distance / time;
  const double celerity = std::sqrt(gravity_ * behind_);
  if (ray <= -celerity) return behind_;
  if (ray < velocity_ - std::sqrt(gravity_ * depth_)) {
    return std::pow(2 * celerity - ray, 2) / (9 * gravity_);
  }
  return ray < bore_ ? depth_ : before_;
}

double DamBreakSolution::velocity(double distance, double time) const {
  const double ray = distance / time;
  const double celerity = std::sqrt(gravity_ * behind_);
  if (ray <= -celerity) return 0;
  if (ray < velocity_ - std::sqrt(gravity_ * depth_)) return 2.0 / 3.0 * (ray + celerity);
  return ray < bore_ ? velocity_ : 0;
}

}  // namespace samples::shwa
