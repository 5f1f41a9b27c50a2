// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/common/raster.h"

namespace samples {

/// A synthetic photograph, the same for the same extent everywhere: a shaded sphere, bars, a star
/// of growing fineness, a checkerboard and a faint square on a background that gets brighter from
/// left to right, with the grain of a film.
Raster<unsigned char> testPicture(Extent extent);

}  // namespace samples
