// SPDX-License-Identifier: Apache-2.0
#include "samples/common/png.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/samples/temporary_file.h"

using namespace samples;

namespace {

Image randomImage(int width, int height, Image::Format format, unsigned values, unsigned seed) {
  std::mt19937 engine(seed);
  Image image(width, height, format);
  for (unsigned char& byte : image.pixels) byte = static_cast<unsigned char>(engine() % values);
  return image;
}

}  // namespace

TEST_CASE("gray and RGB pictures survive writing and reading") {
  const TemporaryFile file("picture.png");
  unsigned seed = 1;
  for (const auto format : {Image::Format::Gray, Image::Format::Rgb}) {
    for (const int width : {1, 7, 64, 301}) {
      INFO("width ", width, ", seed ", seed);
      const Image image = randomImage(width, 13, format, 256, seed++);
      writePng(file.name(), image);
      const Image again = readPng(file.name());
      CHECK(again.width == width);
      CHECK(again.height == 13);
      CHECK(again.format == format);
      CHECK(again.pixels == image.pixels);
    }
  }
}

TEST_CASE("a picture with palette is read as its colours") {
  const TemporaryFile file("palette.png");
  for (const unsigned colors : {1u, 2u, 3u, 16u, 17u, 256u}) {
    INFO(colors, " colours");
    Image image = randomImage(37, 5, Image::Format::Palette, colors, colors);
    for (unsigned i = 0; i < colors; ++i) {
      const auto channel = static_cast<unsigned char>(i);
      image.palette.push_back({channel, static_cast<unsigned char>(255 - channel), 77});
    }
    writePng(file.name(), image);
    const Image again = readPng(file.name());
    REQUIRE(again.format == Image::Format::Rgb);
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        const unsigned char* pixel = again.pixel(x, y);
        CHECK(Color{pixel[0], pixel[1], pixel[2]} == image.palette[*image.pixel(x, y)]);
      }
    }
  }
}

TEST_CASE("rows run from top to bottom") {
  const TemporaryFile file("rows.png");
  Image image(2, 2, Image::Format::Gray);
  *image.pixel(1, 0) = 200;
  writePng(file.name(), image);
  CHECK(readPng(file.name()).pixels == std::vector<unsigned char>{0, 200, 0, 0});
}

TEST_CASE("a picture that cannot be written or read is refused with the reason") {
  const Image image(2, 2, Image::Format::Gray);
  CHECK_THROWS_WITH_AS(writePng("/no/such/folder/p.png", image),
                       "/no/such/folder/p.png: cannot write the picture: No such file or directory",
                       ImageError);
  CHECK_THROWS_WITH_AS(readPng("/no/such/folder/p.png"),
                       "/no/such/folder/p.png: cannot read the picture: No such file or directory",
                       ImageError);
  const TemporaryFile file("broken.png", "this is no picture");
  CHECK_THROWS_AS(readPng(file.name()), ImageError);
  CHECK_THROWS_WITH_AS(writePng("/dev/full", image),
                       doctest::Contains("/dev/full: cannot write the picture"), ImageError);
}

TEST_CASE("impossible pictures are refused") {
  CHECK_THROWS_WITH_AS(Image(0, 3, Image::Format::Gray),
                       "a picture needs at least one pixel, got 0 x 3", std::invalid_argument);
  const TemporaryFile file("impossible.png");
  Image image(2, 2, Image::Format::Palette);
  CHECK_THROWS_WITH_AS(writePng(file.name(), image),
                       "a palette has 1 to 256 colours, this one has 0", std::invalid_argument);
  image.palette = {{1, 2, 3}, {4, 5, 6}};
  image.pixels[3] = 2;
  CHECK_THROWS_WITH_AS(writePng(file.name(), image),
                       "palette index 2 lies outside a palette of 2 colours",
                       std::invalid_argument);
}
