// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"

/// The effect of a kernel when several devices run it on overlapping parts of its arrays. Ids count
/// from 0 in each part, so two parts compute the same value for a cell that both have only if ids
/// and sizes do no more than say which elements are accessed and which cells at the ends are left
/// out. This analysis finds out which arrays get such values.
namespace hpl::ir {

/// How one argument differs from part to part.
struct PartRole {
  /// A scalar or an array that is not the same for all parts.
  bool differs = false;
  /// A scalar that is each part's domain size along these axes (bits).
  unsigned sizeOf = 0;
  /// The dimensions (bits, 0 the slowest) in which each part has another range of an array.
  unsigned split = 0;
  /// The first parameter with the same memory; -1: itself.
  int sameAs = -1;
};

/// One entry per parameter of the kernel.
using PartRoles = std::vector<PartRole>;

struct PartSummary {
  /// As analyze() finds it, with sizes in scalars understood.
  AccessSummary access;
  /// Every comparison that involves ids comes out alike for all ids at least so far from the first
  /// and the last along each axis.
  std::array<std::int64_t, 3> before{};
  std::array<std::int64_t, 3> after{};
  /// By parameter: the elements that the kernel writes into the array have values that follow
  /// from the elements it reads, from arguments that are the same for all parts, and from
  /// comparisons as above. False for what is no array.
  std::vector<bool> sameEverywhere;
};

/// Analyses a verified kernel, as analyze() does. `alignedAxes` (bits): along these axes id plus
/// origin is the same number in all parts for the work-items that write the same cell, so that
/// values may depend on it.
PartSummary analyzeParts(const Kernel& kernel, const PartRoles& roles, unsigned alignedAxes = 0);

}  // namespace hpl::ir
