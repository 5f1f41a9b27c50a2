// SPDX-License-Identifier: Apache-2.0
#include "samples/common/gif.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/samples/temporary_file.h"

using namespace samples;

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
  const TemporaryFile file("animation.gif");
  for (const int colors : {2, 3, 16, 200, 256}) {
    const auto seed = static_cast<unsigned>(colors);
    INFO("colours and seed ", colors);
    std::mt19937 engine(seed);
    const int width = 1 + static_cast<int>(engine() % 90);
    const int height = 1 + static_cast<int>(engine() % 60);
    const auto size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    std::vector<std::vector<unsigned char>> frames;
    GifWriter gif(file.name(), width, height, grays(colors), 7);
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

    const Animation animation = readGif(file.name());
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
  const TemporaryFile file("small.gif");
  std::mt19937 engine(1);
  std::vector<unsigned char> frame(300 * 300);
  for (unsigned char& index : frame) index = engine() % 2;
  const auto bytesOf = [&](int frames) {
    GifWriter gif(file.name(), 300, 300, grays(2), 5);
    for (int f = 0; f < frames; ++f) {
      frame[45000] ^= 1;
      gif.addFrame(frame);
    }
    gif.close();
    return std::filesystem::file_size(file.name());
  };
  CHECK(bytesOf(101) < bytesOf(1) + 100 * 40);
}

TEST_CASE("a writer that goes out of scope leaves a complete file") {
  const TemporaryFile file("scope.gif");
  const std::vector<unsigned char> frame = {0, 1, 1, 0};
  { GifWriter(file.name(), 2, 2, grays(2), 5).addFrame(frame); }
  CHECK(readGif(file.name()).frames.at(0) == frame);
}

TEST_CASE("an animation that cannot be written or read is refused with the reason") {
  CHECK_THROWS_WITH_AS(
      GifWriter("/no/such/folder/a.gif", 2, 2, grays(2), 5),
      "/no/such/folder/a.gif: cannot write the animation: No such file or directory", ImageError);
  CHECK_THROWS_WITH_AS(readGif("/no/such/folder/a.gif"),
                       doctest::Contains("/no/such/folder/a.gif: cannot read the animation: "),
                       ImageError);
  const TemporaryFile file("broken.gif", "this is no animation");
  CHECK_THROWS_AS(readGif(file.name()), ImageError);
}

TEST_CASE("a full disk is reported") {
  GifWriter gif("/dev/full", 2, 2, grays(2), 5);
  gif.addFrame(std::vector<unsigned char>{0, 1, 1, 0});
  CHECK_THROWS_WITH_AS(gif.close(), doctest::Contains("/dev/full: cannot finish the animation: "),
                       ImageError);
}

TEST_CASE("impossible animations and frames are refused") {
  const TemporaryFile file("impossible.gif");
  CHECK_THROWS_WITH_AS(GifWriter(file.name(), 2, 2, grays(1), 5),
                       "a GIF palette has 2 to 256 colours, this one has 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(GifWriter(file.name(), 70000, 2, grays(2), 5),
                       "a GIF has 1 to 65535 pixels per side and a delay of 0 to 65535, got 70000 "
                       "x 2 pixels and a delay of 5",
                       std::invalid_argument);
  GifWriter gif(file.name(), 2, 2, grays(3), 5);
  CHECK_THROWS_WITH_AS(gif.addFrame(std::vector<unsigned char>(3)),
                       "a frame of 2 x 2 pixels has 4 indices, got 3", std::invalid_argument);
  CHECK_THROWS_WITH_AS(gif.addFrame(std::vector<unsigned char>{0, 3, 0, 0}),
                       "palette index 3 lies outside a palette of 3 colours",
                       std::invalid_argument);
  gif.addFrame(std::vector<unsigned char>{0, 2, 0, 0});
  gif.close();
  CHECK_THROWS_WITH_AS(gif.addFrame(std::vector<unsigned char>(4)),
                       doctest::Contains("the animation is closed already"), ImageError);
}
