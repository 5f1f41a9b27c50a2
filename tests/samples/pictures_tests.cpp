// SPDX-License-Identifier: Apache-2.0
// Reading pictures, the synthetic picture.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "samples/common/io.h"
#include "samples/common/read_picture.h"
#include "samples/common/test_picture.h"
#include "tests/samples/temporary_file.h"

namespace pictures_tests {

using namespace samples;

TEST_CASE("a gray picture is read as it was written") {
  const TemporaryFile file("gray.png");
  const Raster<unsigned char> picture = testPicture({23, 37});
  writePng(file.name(), grayImage(picture));
  CHECK(readGrayPicture(file.name()) == picture);
}

TEST_CASE("colours are read as brightness, green counting most and blue least") {
  const TemporaryFile file("colors.png");
  Image image(3, 1, Image::Format::Rgb);
  for (int x = 0; x < 3; ++x) image.pixel(x, 0)[x] = 200;
  writePng(file.name(), image);
  const Raster<unsigned char> gray = readGrayPicture(file.name());
  CHECK(gray.at(0, 0) == doctest::Approx(0.299 * 200).epsilon(0.02));
  CHECK(gray.at(0, 1) == doctest::Approx(0.587 * 200).epsilon(0.02));
  CHECK(gray.at(0, 2) == doctest::Approx(0.114 * 200).epsilon(0.05));
}

TEST_CASE("other formats are read: PNM as the simplest") {
  const TemporaryFile file("tiny.pgm", "P5 3 2 255\nabcdef");
  const Raster<unsigned char> picture = readGrayPicture(file.name());
  CHECK(picture.extent() == Extent{2, 3});
  CHECK(picture.cells() == std::vector<unsigned char>{'a', 'b', 'c', 'd', 'e', 'f'});
}

TEST_CASE("a file that is missing or no picture is refused with its name and the reason") {
  CHECK_THROWS_WITH_AS(readGrayPicture("/no/such/photo.jpg"),
                       "/no/such/photo.jpg: cannot read the picture: No such file or directory",
                       FileError);
  const TemporaryFile file("text.jpg", "this is no picture");
  CHECK_THROWS_WITH_AS(
      readGrayPicture(file.name()),
      doctest::Contains("text.jpg: cannot read the picture: unknown image type; expected a PNG"),
      FileError);
}

TEST_CASE("the synthetic picture is the same each time and uses the range of brightness") {
  const Raster<unsigned char> picture = testPicture({120, 160});
  CHECK(picture == testPicture({120, 160}));
  const auto [low, high] = std::minmax_element(picture.cells().begin(), picture.cells().end());
  CHECK(*low < 40);
  CHECK(*high > 215);
  CHECK(testPicture({1, 1}).size() == 1);
}

TEST_CASE("a raster needs at least one cell") {
  CHECK_THROWS_WITH_AS(Raster<float>(0, 7),
                       "a raster needs at least one cell, got 7 x 0 (width x height)",
                       std::invalid_argument);
}

}  // namespace pictures_tests
