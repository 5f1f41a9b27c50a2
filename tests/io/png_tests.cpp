// SPDX-License-Identifier: Apache-2.0
// Pictures against stb_image; png_hostile_tests.cpp has damaged ones.
#include "hpl/io/png.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hpl/hpl.h"
#include "tests/io/decoded_picture.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

namespace png_tests {

using namespace hpl;
using namespace io_tests;
using hpl_tests::messageOf;
using io::Color;
using io::Image;

namespace {

Image randomImage(int width, int height, Image::Format format, unsigned values, unsigned seed) {
  std::mt19937 engine(seed);
  Image image(width, height, format);
  for (unsigned char& byte : image.pixels) byte = static_cast<unsigned char>(engine() % values);
  return image;
}

template <class T>
T randomChannel(std::mt19937& engine) {
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(engine() % 65536) / 65535.0f;
  return static_cast<T>(engine());
}

/// The number that stands in the file for a channel.
template <class T>
unsigned storedAs(T value) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<unsigned>(std::lround(65535.0f * value));
  return static_cast<unsigned>(value);
}

/// Three dimensions: height, width, channels.
template <class T>
void channelsRoundTrip(std::mt19937& engine) {
  const TemporaryFolder folder;
  for (int channels = 1; channels <= 4; ++channels) {
    const int height = 1 + static_cast<int>(engine() % 20),
              width = 1 + static_cast<int>(engine() % 40);
    CAPTURE(channels);
    Array<T, 3> a(height, width, channels);
    std::vector<unsigned> expected;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < channels; ++c)
          expected.push_back(storedAs<T>(a(y, x, c) = randomChannel<T>(engine)));
    io::writePng(folder.file("a.png"), a);
    const DecodedPicture picture = decode(folder.file("a.png"));
    CHECK(picture.width == width);
    CHECK(picture.height == height);
    CHECK(picture.channels == channels);
    CHECK(picture.bits == (sizeof(T) == 1 ? 8 : 16));
    CHECK(picture.values == expected);
    io::PngFile file(folder.file("a.png"));
    CHECK(file.width() == width);
    CHECK(file.height() == height);
    CHECK(file.channels() == channels);
    for (int round = 0; round < 2; ++round) {
      Array<T, 3> b = file.read<T, 3>();
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int c = 0; c < channels; ++c)
            CHECK(storedAs<T>(b(y, x, c)) == storedAs<T>(a(y, x, c)));
    }
  }
}

}  // namespace

TEST_CASE("pictures of the host are what they were, seen by another reader") {
  const TemporaryFolder folder;
  unsigned seed = 1;
  for (const auto format : {Image::Format::Gray, Image::Format::Rgb}) {
    for (const int width : {1, 7, 64, 301}) {
      INFO("width ", width, ", seed ", seed);
      const Image image = randomImage(width, 13, format, 256, seed++);
      io::writePng(folder.file("picture.png"), image);
      const DecodedPicture again = decode(folder.file("picture.png"));
      CHECK(again.width == width);
      CHECK(again.height == 13);
      CHECK(again.channels == image.channels());
      CHECK(again.values == std::vector<unsigned>(image.pixels.begin(), image.pixels.end()));
    }
  }
}

TEST_CASE("a picture with palette is read as its colours") {
  const TemporaryFolder folder;
  for (const unsigned colors : {1u, 2u, 3u, 16u, 17u, 256u}) {
    INFO(colors, " colours");
    Image image = randomImage(37, 5, Image::Format::Palette, colors, colors);
    for (unsigned i = 0; i < colors; ++i) {
      const auto channel = static_cast<unsigned char>(i);
      image.palette.push_back({channel, static_cast<unsigned char>(255 - channel), 77});
    }
    io::writePng(folder.file("palette.png"), image);
    const DecodedPicture seen = decode(folder.file("palette.png"));
    Array<uchar, 3> read = io::readPng<uchar, 3>(folder.file("palette.png"));
    REQUIRE(seen.channels == 3);
    REQUIRE(read.getDimension(2) == 3);
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        const Color color = image.palette[*image.pixel(x, y)];
        const auto at = static_cast<std::size_t>(3 * (y * image.width + x));
        CHECK(Color{read(y, x, 0), read(y, x, 1), read(y, x, 2)} == color);
        CHECK(seen.values[at] == color.red);
        CHECK(seen.values[at + 1] == color.green);
      }
    }
  }
}

TEST_CASE("arrays of 1 to 4 channels of 8 and 16 bits and of floats are pictures, and come back") {
  const unsigned seed = 7;
  MESSAGE("seed ", seed);
  std::mt19937 engine(seed);
  channelsRoundTrip<uchar>(engine);
  channelsRoundTrip<ushort>(engine);
  channelsRoundTrip<float>(engine);
}

TEST_CASE("vectors are pixels, and views are parts of pictures") {
  const TemporaryFolder folder;
  Array<uchar3, 2> a(5, 6);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 6; ++x)
      a(y, x) = uchar3(static_cast<uchar>(y), static_cast<uchar>(x), static_cast<uchar>(200));
  io::writePng(folder.file("v.png"), a(Range(1, 3), Range(2, 5)));
  const DecodedPicture picture = decode(folder.file("v.png"));
  CHECK(picture.width == 4);
  CHECK(picture.height == 3);
  CHECK(picture.values[0] == 1);
  CHECK(picture.values[1] == 2);
  CHECK(picture.values[35] == 200);
  Array<uchar4, 2> opaque = io::readPng<uchar4, 2>(folder.file("v.png"));
  CHECK(static_cast<uchar4>(opaque(2, 3)) == uchar4(3, 5, 200, 255));
  Array<float3, 2> scaled = io::readPng<float3, 2>(folder.file("v.png"));
  CHECK(static_cast<float3>(scaled(0, 0))[2] == doctest::Approx(200.0 / 255));
}

TEST_CASE("gray becomes colour where colour is asked for; 8 bits become 16 by repetition") {
  const TemporaryFolder folder;
  Array<uchar, 2> a(1, 2);
  a(0, 0) = 0x12;
  a(0, 1) = 255;
  io::writePng(folder.file("g.png"), a);
  Array<ushort, 2> deep = io::readPng<ushort, 2>(folder.file("g.png"));
  CHECK(deep(0, 0) == 0x1212);
  CHECK(deep(0, 1) == 65535);
  Array<uchar4, 2> colored = io::readPng<uchar4, 2>(folder.file("g.png"));
  CHECK(static_cast<uchar4>(colored(0, 0)) == uchar4(0x12, 0x12, 0x12, 255));
  Array<uchar2, 2> pair = io::readPng<uchar2, 2>(folder.file("g.png"));
  CHECK(static_cast<uchar2>(pair(0, 0)) == uchar2(0x12, 255));
}

TEST_CASE("floats outside of 0 to 1 are cut, and NaN is 0") {
  const TemporaryFolder folder;
  Array<float, 2> a(1, 5);
  a(0, 0) = -3.0f, a(0, 1) = std::numeric_limits<float>::quiet_NaN(), a(0, 2) = 0.5f;
  a(0, 3) = 1.0f, a(0, 4) = std::numeric_limits<float>::infinity();
  io::writePng(folder.file("f.png"), a);
  CHECK(decode(folder.file("f.png")).values == std::vector<unsigned>{0, 0, 32768, 65535, 65535});
}

TEST_CASE("rows run from top to bottom") {
  const TemporaryFolder folder;
  Image image(2, 2, Image::Format::Gray);
  *image.pixel(1, 0) = 200;
  io::writePng(folder.file("rows.png"), image);
  CHECK(decode(folder.file("rows.png")).values == std::vector<unsigned>{0, 200, 0, 0});
}

TEST_CASE("reading that would lose something is refused with what to read instead") {
  const TemporaryFolder folder;
  const std::string name = folder.file("p.png");
  Array<ushort, 3> a(2, 2, 4);
  a = ushort{9};
  io::writePng(name, a);
  CHECK(
      messageOf<io::FileError>([&] { io::readPng<uchar, 3>(name); }) ==
      name +
          ": cannot read the picture: it has 16 bits per channel, of which unsigned char keeps 8: "
          "read it as unsigned short or float");
  CHECK(messageOf<io::FileError>([&] { io::readPng<ushort, 2>(name); }) ==
        name +
            ": cannot read the picture: its pixels have 4 channels (RGB and alpha), and those of "
            "Array<ushort, 2> have 1: read it as an array of ushort4 or of three dimensions");
  CHECK_THROWS_AS((io::readPng<ushort3, 2>(name)), io::FileError);
  CHECK_THROWS_AS((io::readPng<ushort2, 2>(name)), io::FileError);
  CHECK_NOTHROW((io::readPng<ushort4, 2>(name)));
}

TEST_CASE("a picture that cannot be written or read is refused with the reason") {
  const TemporaryFolder folder;
  const Image image(2, 2, Image::Format::Gray);
  CHECK_THROWS_WITH_AS(io::writePng("/no/such/folder/p.png", image),
                       "/no/such/folder/p.png: cannot write the picture: No such file or directory",
                       io::FileError);
  CHECK_THROWS_WITH_AS((io::readPng<uchar, 2>("/no/such/folder/p.png")),
                       "/no/such/folder/p.png: cannot read the picture: No such file or directory",
                       io::FileError);
  CHECK_THROWS_WITH_AS(io::writePng("/dev/full", image),
                       "/dev/full: cannot write the picture: No space left on device",
                       io::FileError);
  Array<uchar, 2> wide(1, 1000001);
  CHECK_THROWS_WITH_AS(
      io::writePng(folder.file("w.png"), wide),
      doctest::Contains("a PNG picture has at most 1000000 pixels a side, and this one "
                        "has 1000001 x 1: write views of the array, or an NPY file"),
      io::FileError);
  CHECK(folder.names().empty());
}

TEST_CASE("impossible pictures are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(Image(0, 3, Image::Format::Gray),
                       "a picture needs at least one pixel, got 0 x 3", ArgumentError);
  Image image(2, 2, Image::Format::Palette);
  CHECK_THROWS_WITH_AS(io::writePng(folder.file("p.png"), image),
                       "a palette has 1 to 256 colours, this one has 0", ArgumentError);
  image.palette = {{1, 2, 3}, {4, 5, 6}};
  image.pixels[3] = 2;
  CHECK_THROWS_WITH_AS(io::writePng(folder.file("p.png"), image),
                       "palette index 2 lies outside a palette of 2 colours", ArgumentError);
  Array<uchar, 3> a(2, 2, 5);
  a.label("five");
  CHECK_THROWS_WITH_AS(
      io::writePng(folder.file("p.png"), a),
      "Array<uchar, 3> 'five' of (2, 2, 5) is no picture: its last extent is the number "
      "of channels, 1 to 4",
      ArgumentError);
  CHECK(folder.names().empty());
}

}  // namespace png_tests
