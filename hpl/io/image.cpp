// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/image.h"

#include <fmt/format.h>

#include "hpl/error.h"

namespace hpl::io {

Image::Image(int width, int height, Format format) : width(width), height(height), format(format) {
  if (width < 1 || height < 1) {
    throw ArgumentError(
        fmt::format("a picture needs at least one pixel, got {} x {}", width, height));
  }
  pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                static_cast<std::size_t>(channels()));
}

}  // namespace hpl::io
