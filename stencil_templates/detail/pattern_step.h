// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hpl/hpl.h"

namespace hpl {

/// The most dimensions of a StencilPattern, as many as arrays have.
inline constexpr int kMostPatternDimensions = 8;

/// A neighbour with a weight that is not zero; offsets of the slowest dimension first, 0 beyond the
/// pattern's number of dimensions.
struct PatternNeighbour {
  std::array<int, kMostPatternDimensions> offset{};
  double weight = 0;
};

namespace stencils {

/// The data from which the kernels of a pattern are recorded.
struct PatternPlan {
  /// How far it reaches before and after a cell, slowest dimension first.
  std::vector<std::pair<int, int>> shape;
  std::vector<PatternNeighbour> neighbours;
  double factor = 1;

  int rank() const { return static_cast<int>(shape.size()); }
  /// Dimensions that a work-item loops over: those before the last three, which are OpenCL's.
  int looped() const { return rank() > 3 ? rank() - 3 : 0; }
};

/// Records the kernel that reads these neighbours only. Its parameters: out, in, and how many cells
/// there are along each looped dimension. T: float or double.
template <class T>
void specificPattern(const PatternPlan& plan);
extern template void specificPattern<float>(const PatternPlan&);
extern template void specificPattern<double>(const PatternPlan&);

/// The same for all patterns of this rank: out, in, weights, the cells along each looped dimension,
/// the first and the last offset of each dimension, factor.
template <class T>
void genericPattern(const PatternPlan& plan);
extern template void genericPattern<float>(const PatternPlan&);
extern template void genericPattern<double>(const PatternPlan&);

/// The same for all patterns of this box, whose bounds are constants of the kernel, so that the
/// library knows which cells it reads: out, in, weights, the cells along each looped dimension,
/// factor.
template <class T>
void boxPattern(const PatternPlan& plan);
extern template void boxPattern<float>(const PatternPlan&);
extern template void boxPattern<double>(const PatternPlan&);

/// A kernel of a pattern, to be launched on arrays. Keep it as long as it is to be launched.
class PatternStep {
 public:
  PatternStep(PatternPlan plan, void (*record)(const PatternPlan&));
  PatternStep(const PatternStep&) = delete;
  PatternStep& operator=(const PatternStep&) = delete;

  /// Throws ShapeError for shapes that differ, ArgumentError when the arrays share cells, and what
  /// eval throws. `weights` and `factor` of generic kernels.
  FRunner launch(const launch::LaunchOptions& options, const launch::Argument& in,
                 const launch::Argument& out, const launch::Argument* weights = nullptr,
                 const launch::Argument* factor = nullptr) const;
  /// The same for boxPattern, whose bounds are no arguments.
  FRunner launchBox(const launch::LaunchOptions& options, const launch::Argument& in,
                    const launch::Argument& out, const launch::Argument& weights,
                    const launch::Argument& factor) const;

  /// Throws ShapeError when an array is smaller than the box that the pattern reads.
  void checkReach(const launch::Argument& in) const;

 private:
  struct Source {
    PatternPlan plan;
    void (*record)(const PatternPlan&);
  };
  /// out, in, weights unless null, and the cells along each looped dimension.
  std::vector<launch::Argument> argumentsOf(const launch::Argument& in, const launch::Argument& out,
                                            const launch::Argument* weights) const;
  FRunner launchWith(const launch::LaunchOptions& options, const launch::Argument& in,
                     const std::vector<launch::Argument>& arguments) const;

  Source source_;
  launch::EntryHandle entry_;
};

/// Throws ArgumentError for a negative number.
void checkPatternSteps(std::int64_t steps);

}  // namespace stencils
}  // namespace hpl
