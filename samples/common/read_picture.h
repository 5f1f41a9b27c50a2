// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "samples/common/io.h"
#include "samples/common/raster.h"

namespace samples {

/// Reads a PNG, JPEG, BMP, TGA, GIF (first frame) or PNM file as brightness, 0 to 255; colours are
/// weighted as the eye does. Throws FileError with the file's name and the reason.
Raster<unsigned char> readGrayPicture(const std::string& fileName);

/// The picture of these brightnesses.
Image grayImage(const Raster<unsigned char>& picture);

}  // namespace samples
