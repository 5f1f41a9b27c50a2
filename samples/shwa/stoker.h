// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace samples::shwa {

/// The exact solution of the dam break on flat ground between two depths of water at rest (J. J.
/// Stoker, Water Waves, 1957, section 10.8): a rarefaction into the deep water and a bore into the
/// shallow water; between them depth and velocity are constant.
class DamBreakSolution {
 public:
  /// Depths in metres, `behind` larger than `before`, both positive; std::invalid_argument
  /// otherwise.
  DamBreakSolution(double behind, double before, double gravity);

  /// Depth and velocity between the two waves, and the velocity of the bore.
  double middleDepth() const { return depth_; }
  double middleVelocity() const { return velocity_; }
  double boreVelocity() const { return bore_; }

  /// Depth at `distance` metres to the right of the dam, `time` seconds (positive) after it broke.
  double depth(double distance, double time) const;
  /// Velocity there.
  double velocity(double distance, double time) const;
  /// Whether the water there was behind the dam.
  bool fromBehind(double distance, double time) const { return distance < velocity_ * time; }

 private:
  double behind_;
  double before_;
  double gravity_;
  double depth_;
  double velocity_;
  double bore_;
};

}  // namespace samples::shwa
