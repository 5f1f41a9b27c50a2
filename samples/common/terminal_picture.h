// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "samples/common/grid.h"

namespace samples {

/// The grid as lines of text, at most `columns` characters wide: each character shows two pixels,
/// one above the other, through half blocks (UTF-8). A grid that is too large is scaled down; a
/// pixel is lit if any of its cells is alive.
std::string terminalPicture(GridView grid, int columns);

}  // namespace samples
