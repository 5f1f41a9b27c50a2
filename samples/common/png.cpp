// SPDX-License-Identifier: Apache-2.0
#include "samples/common/png.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "samples/common/files.h"

namespace samples {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open(const std::string& fileName, const char* mode, const char* action) {
  const std::string objection =
      mode[0] == 'r' ? objectionToReading(fileName) : objectionToWriting(fileName);
  if (!objection.empty())
    throw ImageError(fmt::format("{}: cannot {} the picture: {}", fileName, action, objection));
  File file(std::fopen(fileName.c_str(), mode), &std::fclose);
  if (!file) {
    throw ImageError(
        fmt::format("{}: cannot {} the picture: {}", fileName, action, std::strerror(errno)));
  }
  return file;
}

/// libpng's simplified interface reports errors as text instead of jumping over destructors.
struct PngImage : png_image {
  PngImage() : png_image() { version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(this); }
};

void checkPalette(const Image& image) {
  if (image.palette.empty() || image.palette.size() > 256) {
    throw std::invalid_argument(
        fmt::format("a palette has 1 to 256 colours, this one has {}", image.palette.size()));
  }
  const unsigned largest = *std::max_element(image.pixels.begin(), image.pixels.end());
  if (largest >= image.palette.size()) {
    throw std::invalid_argument(fmt::format("palette index {} lies outside a palette of {} colours",
                                            largest, image.palette.size()));
  }
}

}  // namespace

Image::Image(int width, int height, Format format) : width(width), height(height), format(format) {
  if (width < 1 || height < 1) {
    throw std::invalid_argument(
        fmt::format("a picture needs at least one pixel, got {} x {}", width, height));
  }
  pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                static_cast<std::size_t>(channels()));
}

void writePng(const std::string& fileName, const Image& image) {
  PngImage png;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.format == Image::Format::Gray  ? PNG_FORMAT_GRAY
               : image.format == Image::Format::Rgb ? PNG_FORMAT_RGB
                                                    : PNG_FORMAT_RGB_COLORMAP;
  if (image.format == Image::Format::Palette) {
    checkPalette(image);
    png.colormap_entries = static_cast<png_uint_32>(image.palette.size());
  }
  const int rowBytes = image.width * image.channels();
  File file = open(fileName, "wb", "write");
  const bool written = png_image_write_to_stdio(&png, file.get(), 0, image.pixels.data(), rowBytes,
                                                image.palette.data()) != 0;
  if (!written) {
    throw ImageError(fmt::format("{}: cannot write the picture: {}", fileName, png.message));
  }
  // Closing flushes: a full disk is often seen only here.
  if (std::fclose(file.release()) != 0) {
    throw ImageError(
        fmt::format("{}: cannot write the picture: {}", fileName, std::strerror(errno)));
  }
}

Image readPng(const std::string& fileName) {
  PngImage png;
  File file = open(fileName, "rb", "read");
  const auto require = [&](int succeeded) {
    if (succeeded == 0) {
      throw ImageError(fmt::format("{}: cannot read the picture: {}", fileName, png.message));
    }
  };
  require(png_image_begin_read_from_stdio(&png, file.get()));
  const bool colored = (png.format & PNG_FORMAT_FLAG_COLOR) != 0;
  png.format = colored ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  Image image(static_cast<int>(png.width), static_cast<int>(png.height),
              colored ? Image::Format::Rgb : Image::Format::Gray);
  const png_color black = {0, 0, 0};
  require(png_image_finish_read(&png, &black, image.pixels.data(), image.width * image.channels(),
                                nullptr));
  return image;
}

}  // namespace samples
