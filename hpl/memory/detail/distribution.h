// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hpl/geometry/region.h"
#include "hpl/runtime/detail/device_state.h"

namespace hpl::memory::detail {

/// What one device has of a distributed array.
struct DistributedPart {
  runtime::DeviceState* device = nullptr;
  /// The cells that the device works on: core and ghosts.
  geometry::Box full;
  /// The cells whose value there is the array's.
  geometry::Region core;

  /// The cells that another part owns.
  geometry::Region ghosts() const { return differenceOf(geometry::Region(full), core); }
};

/// How an array is spread over devices (DESIGN.md section 5). Immutable; compared by address, since
/// a root keeps one object for equal distributions.
struct Distribution {
  enum class Origin {
    Annotated,  ///< PART1(a, r) and the like: one part per device
    Explicit    ///< launches that wrote overlapping views on several devices
  };

  Origin origin = Origin::Annotated;
  std::vector<DistributedPart> parts;
  /// Whether some part has ghosts.
  bool hasGhosts = false;

  /// The part on a device that contains the box, or null.
  const DistributedPart* partOn(const runtime::DeviceState& device, const geometry::Box& box) const;
  /// Whether the part has ghosts, so that the device needs memory of its own for it.
  static bool needsOwnBuffer(const DistributedPart& part) { return !part.core.contains(part.full); }
  /// Whether the parts have ghosts of each other, if they have common cells at all; where they have
  /// not, plain sequential consistency holds.
  bool areNeighbours(const DistributedPart& a, const DistributedPart& b) const;
};

/// An annotated distribution: a plain split grown by overlaps. Parts of empty `full` are left out.
std::shared_ptr<const Distribution> annotatedDistribution(std::vector<DistributedPart> parts);

/// The views of a root that devices have written, from which explicit distributions follow:
/// - Only launches that write make a view a part: a device that only reads somebody else's cells
///   wants their present values.
/// - A view inside a part of the same device is a piece of that part.
/// - A view that overlaps a part of its own device without lying inside says that the program
///   has cut the array anew: the other parts are forgotten.
/// - The same view on another device has moved there.
/// - Two parts of different devices are ghost neighbours when they overlap and neither contains
///   the other (geometry::areGhostNeighbours); all others are sequentially consistent.
/// - The views that one launch writes on several devices are one cut: none of them makes the others
///   forgotten.
class ExplicitParts {
 public:
  struct Part {
    runtime::DeviceState* device;
    geometry::Box box;
  };

  /// One launch has written these views.
  void add(std::span<const Part> written);
  /// The present parts; null when there are none.
  const std::shared_ptr<const Distribution>& distribution() const noexcept { return current_; }
  void clear() noexcept;

 private:
  bool isKnown(const Part& view) const;
  bool isCutAnewBy(const Part& view) const;
  static std::shared_ptr<const Distribution> distributionOf(const std::vector<Part>& parts);

  std::vector<Part> parts_;
  std::shared_ptr<const Distribution> current_;
};

}  // namespace hpl::memory::detail
