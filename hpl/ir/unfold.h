// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hpl/ir/kernel.h"

/// Kernels of one dimension over a grid in a vector, which take the place of a cell from the number
/// of its work-item: `Int x = i % w, y = i / w;`. Over the grid's rows and columns nothing is
/// divided, and analyses know neighbours.
namespace hpl::ir {

/// The number by which a kernel divides its work-items' numbers.
struct RowLength {
  /// The position of a scalar parameter that the kernel does not change, or -1.
  int parameter = -1;
  std::int64_t number = 0;
  friend bool operator==(const RowLength&, const RowLength&) = default;
};

/// That of a verified kernel of one dimension whose work-items know nothing of groups and have no
/// atomics, probes and calls; nothing: it takes no remainder, or those of several lengths.
std::optional<RowLength> rowLengthOf(const Kernel& kernel);

/// The kernel for launches of two dimensions, `length` wide: work-item (x, y) does what work-item
/// y * szx + x of the other one does.
std::shared_ptr<const Kernel> unfolded(const Kernel& kernel, const RowLength& length);

}  // namespace hpl::ir
