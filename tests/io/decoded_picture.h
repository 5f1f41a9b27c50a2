// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace io_tests {

/// A picture as stb_image, which shares nothing with libpng, decodes it.
struct DecodedPicture {
  int width = 0;
  int height = 0;
  int channels = 0;
  int bits = 8;
  std::vector<unsigned> values;  ///< rows from top to bottom, channels together
};

/// Throws std::runtime_error.
DecodedPicture decode(const std::string& file);

}  // namespace io_tests
