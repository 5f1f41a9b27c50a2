// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/point_cost.h"
#include "stencil_templates/boundary.h"
#include "stencil_templates/detail/grid_ends.h"
#include "stencil_templates/detail/point_function.h"

/// The data from which the kernel of a launch-level stencil is generated.
namespace hpl::stencils {

using strategies::PointCost;

/// How far a point function reads from the centre of one input; dimensions from slow to fast.
struct Reach {
  std::array<ir::Interval, 3> offsets{};
  /// The offsets other than 0 that are known when the kernel is captured.
  std::array<std::vector<std::int64_t>, 3> constants;
  /// See strategies::TimeRead.
  bool isFirstStraight = false;

  /// Cells before and after the centre.
  std::int64_t before(int dim) const { return std::max<std::int64_t>(0, -offsets[index(dim)].lo); }
  std::int64_t after(int dim) const { return std::max<std::int64_t>(0, offsets[index(dim)].hi); }
  std::int64_t beyond(int dim, bool high) const { return high ? after(dim) : before(dim); }

 private:
  static std::size_t index(int dim) { return static_cast<std::size_t>(dim); }
};

/// The boundaries of one input, per face; what is not stated is empty.
using FaceBoundaries = std::array<std::optional<Boundary>, 6>;

/// The face that ends dimension `dim` of `dims`.
constexpr Face faceOf(int dims, int dim, bool high) {
  return static_cast<Face>((3 - dims + dim) * 2 + (high ? 1 : 0));
}
const char* nameOf(Face face);

/// One input of a stencil: its elements, its boundaries and how far it is read.
struct InputPlan {
  ir::Type type;
  FaceBoundaries faces;
  Reach reach;
  /// The array has ghosts beyond the ends of these dimensions: reach.before(d) cells before the
  /// grid, where it begins, and reach.after(d) behind it.
  std::array<bool, 3> joined{};

  bool isJoined(int dim) const { return joined[static_cast<std::size_t>(dim)]; }
  /// Cells of the array before the grid's first.
  std::int64_t shift(int dim) const { return isJoined(dim) ? reach.before(dim) : 0; }
  BoundaryKind kind(int dims, int dim, bool high) const {
    const auto& face = faces[static_cast<std::size_t>(faceOf(dims, dim, high))];
    return face ? face->kind() : BoundaryKind::Untouched;
  }
  const BoundaryValue* value(int dims, int dim, bool high) const {
    return faces[static_cast<std::size_t>(faceOf(dims, dim, high))]->value();
  }
  /// Slices of the slowest dimension, at its beginning and at its end, from which cells beyond
  /// its faces take their values.
  std::int64_t firstSlices(int dims) const;
  std::int64_t lastSlices(int dims) const;
};

/// A stencil ready to be captured. As a kernel its parameters are: the inputs, the outputs, for
/// each input its first and its last slices where `slices` is set and there are any, the scalars.
struct StencilRecipe {
  std::shared_ptr<const PointFunction> point;
  std::vector<InputPlan> inputs;
  std::vector<ir::Type> outputs;
  /// For several devices: values from an end of the slowest dimension, where it is not joined to
  /// the other one, are read through views of a few slices, so that no device needs the whole
  /// array.
  bool slices = false;
  GridEnds ends;
  /// For iterations: cells that are not computed get the value that input k has for output k, so
  /// that the two arrays may take turns. Else they are left alone.
  bool keepsRims = false;

  int dims() const { return point->signature().dims; }
  /// Joins the ends of those of the dimensions that are periodic, input by input.
  void joinEnds(const GridEnds& wanted);
  /// Cells beside a face whose results cannot be known: the largest reach beyond it among the
  /// inputs for which it is Untouched.
  std::int64_t untouched(int dim, bool high) const;
  /// The largest reach beyond a face among all inputs that have no ghosts there.
  std::int64_t rim(int dim, bool high) const;

  /// Records the kernel into the active capture. Throws KernelError when the point function reads
  /// further than `inputs` say: it may depend on the device or on host values.
  void record() const;

 private:
  void checkReach() const;
};

/// Facts about a point function: how far it reads from each input, and its cost.
struct PointFacts {
  std::vector<Reach> reach;
  PointCost cost;
};

/// The facts, found by capturing the function once. Throws KernelError for reads that are not at
/// the centre plus an interval of constants, for outputs that are never assigned or are read, and
/// for barriers.
PointFacts findFacts(const PointFunction& point, const std::vector<ir::Type>& outputs);

}  // namespace hpl::stencils
