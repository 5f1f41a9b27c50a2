// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "samples/common/png.h"
#include "samples/common/raster.h"

namespace samples {

/// 256 colours from dark violet over green to yellow whose brightness grows evenly: the map
/// "viridis", through its fit by polynomials (M. Zucker, public domain).
const std::vector<Color>& viridis();

/// The values as a picture in the colours of viridis(), `low` (and less) in the first and `high`
/// (and more) in the last, each value a square of `cell` pixels. Throws std::invalid_argument
/// unless low < high and cell is at least 1.
Image colorImage(const Raster<float>& values, float low, float high, int cell = 1);

}  // namespace samples
