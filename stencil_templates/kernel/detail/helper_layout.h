// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/runtime/device.h"
#include "stencil_templates/kernel/detail/reach.h"
#include "stencil_templates/kernel/form.h"

/// The meaning of the integers of a helper array. Both sides of a stencil template use this: the
/// preparation writes the array, the kernel reads it.
namespace hpl::kernel_stencils {

enum HelperWord : int {
  /// signatureOf() of what the helper was prepared for.
  kSignature = 0,
  /// Extents of the device's part, slowest dimension first.
  kExtent = 1,
  /// Whether the first (last) element of the part in each dimension is the array's: 0 or 1.
  kBeforeIsBorder = 4,
  kAfterIsBorder = 7,
  /// Elements that each work-item of a tile computes, one behind the other along x.
  kPerThread = 10,
  /// Elements from one row (plane) of the tile to the next.
  kTileRow = 11,
  kTilePlane = 12,
  kHelperWords = 13
};

/// Tells helpers of other extents, ranks and forms apart.
int signatureOf(int rank, const Reach& reach, bool tile);

/// Whether the kernel has the tile form there.
bool usesTile(StencilForm form, const Device& device);

}  // namespace hpl::kernel_stencils
