// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/gif.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "hpl/hpl.h"
#include "tests/io/read_gif.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

namespace gif_tests {

using namespace hpl::io;
using namespace io_tests;
using hpl_tests::messageOf;

namespace {

std::vector<Color> grays(int count) {
  std::vector<Color> palette;
  for (int i = 0; i < count; ++i) {
    const auto level = static_cast<unsigned char>(i);
    palette.push_back({level, level, static_cast<unsigned char>(255 - i)});
  }
  return palette;
}

}  // namespace

TEST_CASE("an animation survives writing and reading, frame by frame") {
  const TemporaryFolder folder;
  const std::string file = folder.file("animation.gif");
  for (const int colors : {2, 3, 16, 200, 256}) {
    const auto seed = static_cast<unsigned>(colors);
    INFO("colours and seed ", colors);
    std::mt19937 engine(seed);
    const int width = 1 + static_cast<int>(engine() % 90);
    const int height = 1 + static_cast<int>(engine() % 60);
    const auto size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    std::vector<std::vector<unsigned char>> frames;
    GifWriter gif(file, width, height, grays(colors), 7);
    for (int f = 0; f < 12; ++f) {
      std::vector<unsigned char> frame =
          frames.empty() ? std::vector<unsigned char>(size) : frames.back();
      // Some frames change everywhere, some in a few pixels, some not at all.
      const std::size_t changes = f % 3 == 0 ? size : f % 3 == 1 ? 2 : 0;
      for (std::size_t i = 0; i < changes; ++i) {
        frame[engine() % size] =
            static_cast<unsigned char>(engine() % static_cast<unsigned>(colors));
      }
      gif.addFrame(frame);
      frames.push_back(frame);
    }
    CHECK(gif.frames() == 12);
    gif.close();
    gif.close();

    const Film animation = readGif(file);
    CHECK(animation.width == width);
    CHECK(animation.height == height);
    CHECK(animation.loops);
    CHECK(animation.delays == std::vector<int>(12, 7));
    CHECK(animation.frames == frames);
    const std::vector<Color> palette = grays(colors);
    REQUIRE(animation.palette.size() >= palette.size());
    CHECK(std::equal(palette.begin(), palette.end(), animation.palette.begin()));
  }
}

TEST_CASE("frames that hardly change cost few bytes") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.gif");
  std::mt19937 engine(1);
  std::vector<unsigned char> frame(300 * 300);
  for (unsigned char& index : frame) index = engine() % 2;
  const auto bytesOf = [&](int frames) {
    GifWriter gif(file, 300, 300, grays(2), 5);
    for (int f = 0; f < frames; ++f) {
      frame[45000] ^= 1;
      gif.addFrame(frame);
    }
    gif.close();
    return std::filesystem::file_size(file);
  };
  CHECK(bytesOf(101) < bytesOf(1) + 100 * 40);
}

TEST_CASE("a writer that goes out of scope leaves a complete file") {
  const TemporaryFolder folder;
  const std::string file = folder.file("scope.gif");
  const std::vector<unsigned char> frame = {0, 1, 1, 0};
  { GifWriter(file, 2, 2, grays(2), 5).addFrame(frame); }
  CHECK(readGif(file).frames.at(0) == frame);
}

TEST_CASE("an animation that cannot be written is refused with the reason") {
  CHECK_THROWS_WITH_AS(
      GifWriter("/no/such/folder/a.gif", 2, 2, grays(2), 5),
      "/no/such/folder/a.gif: cannot write the animation: No such file or directory", FileError);
}

TEST_CASE("a full disk is reported") {
  GifWriter gif("/dev/full", 2, 2, grays(2), 5);
  gif.addFrame(std::vector<unsigned char>{0, 1, 1, 0});
  CHECK_THROWS_WITH_AS(gif.close(), doctest::Contains("/dev/full: cannot write the animation: "),
                       FileError);
}

TEST_CASE("impossible animations and frames are refused") {
  const TemporaryFolder folder;
  const std::string file = folder.file("impossible.gif");
  CHECK_THROWS_WITH_AS(GifWriter(file, 2, 2, grays(1), 5),
                       "a GIF palette has 2 to 256 colours, this one has 1", hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(GifWriter(file, 70000, 2, grays(2), 5),
                       "a GIF has 1 to 65535 pixels per side and a delay of 0 to 65535, got 70000 "
                       "x 2 pixels and a delay of 5",
                       hpl::ArgumentError);
  GifWriter gif(file, 2, 2, grays(3), 5);
  CHECK_THROWS_WITH_AS(gif.addFrame(std::vector<unsigned char>(3)),
                       "a frame of 2 x 2 pixels has 4 indices, got 3", hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(gif.addFrame(std::vector<unsigned char>{0, 3, 0, 0}),
                       "palette index 3 lies outside a palette of 3 colours", hpl::ArgumentError);
  gif.addFrame(std::vector<unsigned char>{0, 2, 0, 0});
  gif.close();
  CHECK_THROWS_WITH_AS(gif.addFrame(std::vector<unsigned char>(4)),
                       doctest::Contains("the animation is closed already"), FileError);
}

TEST_CASE("arrays are frames in the colours of a scale, NaN in its own") {
  const TemporaryFolder folder;
  hpl::Array<float, 2> a(3, 4);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) a(i, j) = static_cast<float>(10 * i + j);
  {
    Animation film(folder.file("a.gif"), ColorScale(gray()).range(0, 20).zoom(2).nan({1, 2, 3}), 9);
    CHECK(film.frames() == 0);
    film.add(a);
    a(1, 1) = std::numeric_limits<float>::quiet_NaN();
    film.add(a);
    CHECK(film.frames() == 2);
    CHECK(folder.names().size() == 1);
    CHECK_FALSE(folder.names()[0] == "a.gif");
    film.close();
  }
  const Film film = readGif(folder.file("a.gif"));
  CHECK(film.width == 8);
  CHECK(film.height == 6);
  CHECK(film.delays == std::vector<int>{9, 9});
  REQUIRE(film.frames.size() == 2);
  const auto colorAt = [&](std::size_t frame, int y, int x) {
    return film.palette[film.frames[frame][static_cast<std::size_t>(y * 8 + x)]];
  };
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 8; ++x) {
      const double value = std::min(20, 10 * (y / 2) + x / 2);
      CHECK(std::abs(colorAt(0, y, x).red - 255 * value / 20) <= 1.0);
      if (y / 2 == 1 && x / 2 == 1) {
        CHECK(colorAt(1, y, x) == Color{1, 2, 3});
      } else {
        CHECK(colorAt(1, y, x) == colorAt(0, y, x));
      }
    }
  }
}

TEST_CASE("the range of the first frame holds for all, and so does its shape") {
  const TemporaryFolder folder;
  hpl::Array<int, 2> a(2, 2), other(2, 3);
  a.label("first");
  other.label("other");
  a = 0, other = 0;
  a(0, 1) = 4;
  Animation film(folder.file("a.gif"), gray());
  film.add(a);
  a = 4;
  film.add(a);
  CHECK(
      messageOf<hpl::ArgumentError>([&] { film.add(other); }) ==
      folder.file("a.gif") +
          ": the frames of this animation are arrays of (2, 2), and Array<int, 2> 'other' has (2, "
          "3): frames have one shape");
  film.close();
  const Film read = readGif(folder.file("a.gif"));
  CHECK(read.frames[1] == std::vector<unsigned char>(4, read.frames[0][1]));
}

TEST_CASE("without a frame there is no animation") {
  const TemporaryFolder folder;
  Animation film(folder.file("a.gif"));
  film.close();
  CHECK(folder.names().empty());
}

}  // namespace gif_tests
