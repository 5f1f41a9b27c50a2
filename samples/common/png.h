// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace samples {

/// A picture file that could not be written or read; the message starts with the file's name.
class ImageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One entry of a palette, 0 to 255 per channel.
struct Color {
  unsigned char red;
  unsigned char green;
  unsigned char blue;
  bool operator==(const Color&) const = default;
};

/// An 8-bit picture, rows from top to bottom without padding.
struct Image {
  enum class Format {
    Gray,    ///< one byte per pixel: brightness
    Rgb,     ///< three bytes per pixel: red, green, blue
    Palette  ///< one byte per pixel: an index of `palette`
  };

  /// A black picture (or one of palette entry 0).
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

/// Writes a PNG file. Throws ImageError if the file cannot be written, and std::invalid_argument if
/// an index lies outside the palette.
void writePng(const std::string& fileName, const Image& image);

/// Reads a PNG file as gray if it has no colours and as RGB otherwise (palettes are resolved,
/// transparency is dropped). Throws ImageError.
Image readPng(const std::string& fileName);

}  // namespace samples
