// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/layout/shape.h"
#include "hpl/runtime/settings.h"
#include "hpl/tune/space.h"

/// The ways in which one kernel can be laid out for a device.
namespace hpl::layout {

/// One form of a kernel. Members that are 0 (and Strategy::Auto) the library chooses as it does
/// without tuning.
struct Variant {
  runtime::Strategy strategy = runtime::Strategy::Auto;
  /// Rows and columns: neighbours per vector (columns: 1 for none). Rows: vectors side by side,
  /// rows (3-D: planes) at once (columns: between the slowest axis and that of rows); rows per
  /// work-item, in three dimensions rows and planes (columns: that a work-item goes along).
  int lanes = 0;
  int vectors = 0;
  int jam = 0;
  int band = 0;
  int depth = 0;
  /// Tile, columns: work-items of a group, elements that each computes. Stream: work-items of a
  /// group, planes (`depth`) that each goes along.
  int width = 0;
  int height = 0;
  int elements = 0;

  bool isDefault() const noexcept { return strategy == runtime::Strategy::Auto; }
  tune::Point toPoint() const;
  /// Ignores names that it does not know; numbers that no strategy understands, from an edited file
  /// perhaps, give the default.
  static Variant from(const tune::Point& point);
  /// "rows, lanes 16, jam 4"; "the library's own choice" for the default.
  std::string toString() const;
};

/// As HPL_STRATEGY names it.
const char* nameOf(runtime::Strategy strategy);

/// The points worth measuring for a launch over `shape`: first the default, then those nearest to
/// it. Ruled out is what a model says cannot win: accumulators that do not fit into registers, code
/// that would take seconds to compile, rows that do not fit into the cache, units without work.
std::vector<tune::Point> variantsOf(const KernelVersion& version,
                                    const runtime::DeviceState& device, const Shape& shape);

}  // namespace hpl::layout
