// SPDX-License-Identifier: Apache-2.0
#include "samples/common/read_picture.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_HDR
#define STBI_NO_LINEAR
// The implementation is C that this project does not control.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

#include "samples/common/files.h"

namespace samples {
namespace {

[[noreturn]] void fail(const std::string& fileName, const std::string& reason) {
  throw FileError(fileName + ": cannot read the picture: " + reason);
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct FreePixels {
  void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

}  // namespace

Raster<unsigned char> readGrayPicture(const std::string& fileName) {
  if (const std::string objection = objectionToReading(fileName); !objection.empty())
    fail(fileName, objection);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(fileName.c_str(), "rb"));
  if (!file) fail(fileName, std::strerror(errno));
  int width = 0;
  int height = 0;
  int channels = 0;
  // A picture may say of itself that it is larger than any memory, or has no pixels at all.
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;
  if (stbi_info_from_file(file.get(), &width, &height, &channels) != 0 &&
      (width < 1 || height < 1 || std::int64_t{width} * height > kMostPixels))
    fail(fileName, "it has " + std::to_string(width) + " x " + std::to_string(height) +
                       " pixels; expected at least one and at most " + std::to_string(kMostPixels));
  const std::unique_ptr<stbi_uc, FreePixels> pixels(
      stbi_load_from_file(file.get(), &width, &height, &channels, STBI_grey));
  if (!pixels) {
    fail(fileName,
         std::string(stbi_failure_reason()) + "; expected a PNG, JPEG, BMP, TGA, GIF or PNM file");
  }
  Raster<unsigned char> picture(height, width);
  std::copy_n(pixels.get(), picture.size(), picture.data());
  return picture;
}

Image grayImage(const Raster<unsigned char>& picture) {
  Image image(picture.width(), picture.height(), Image::Format::Gray);
  std::copy_n(picture.data(), picture.size(), image.pixels.data());
  return image;
}

}  // namespace samples
