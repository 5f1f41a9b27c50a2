// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/io/image.h"

namespace io_tests {

/// An animated GIF: every frame complete, as palette indices.
struct Film {
  int width = 0;
  int height = 0;
  std::vector<hpl::io::Color> palette;
  std::vector<std::vector<unsigned char>> frames;
  std::vector<int> delays;  ///< hundredths of a second, per frame
  bool loops = false;
};

/// Reads an animated GIF with a global palette and without transparency. Throws
/// std::runtime_error.
Film readGif(const std::string& fileName);

}  // namespace io_tests
