// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace hpl::io {

/// A colour, 0 to 255 per channel.
struct Color {
  unsigned char red;
  unsigned char green;
  unsigned char blue;
  bool operator==(const Color&) const = default;
};

/// An 8-bit picture on the host, rows from top to bottom without padding.
struct Image {
  enum class Format {
    Gray,    ///< one byte per pixel: brightness
    Rgb,     ///< three bytes per pixel: red, green, blue
    Palette  ///< one byte per pixel: an index of `palette`
  };

  /// A black picture (or one of palette entry 0). Throws ArgumentError unless there is a pixel.
  Image(int width, int height, Format format);

  int channels() const { return format == Format::Rgb ? 3 : 1; }
  unsigned char* pixel(int x, int y) { return pixels.data() + offset(x, y); }
  const unsigned char* pixel(int x, int y) const { return pixels.data() + offset(x, y); }

  int width;
  int height;
  Format format;
  std::vector<unsigned char> pixels;
  std::vector<Color> palette;  ///< 1 to 256 entries, for Format::Palette only

 private:
  std::size_t offset(int x, int y) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
            static_cast<std::size_t>(x)) *
           static_cast<std::size_t>(channels());
  }
};

}  // namespace hpl::io
