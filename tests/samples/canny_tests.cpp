// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "samples/canny/find_edges.h"
#include "samples/canny/reference.h"
#include "samples/canny/tile_linker.h"
#include "samples/common/test_picture.h"
#include "tests/samples/one_device.h"
#include "tests/samples/parsed.h"

namespace canny_tests {

using namespace samples;

namespace {

/// Dark on the left, `step` brighter from column `edge` on.
Raster<unsigned char> stepPicture(int height, int width, int edge, int step) {
  Raster<unsigned char> picture(height, width, 50);
  for (int row = 0; row < height; ++row) {
    for (int column = edge; column < width; ++column) {
      picture.at(row, column) = static_cast<unsigned char>(50 + step);
    }
  }
  return picture;
}

/// Hysteresis by sweeps over the whole picture until nothing changes.
Raster<unsigned char> sweptHysteresis(Raster<unsigned char> labels) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int row = 1; row + 1 < labels.height(); ++row) {
      for (int column = 1; column + 1 < labels.width(); ++column) {
        if (labels.at(row, column) != 128) continue;
        for (int n = 0; n < 9; ++n) {
          if (labels.at(row + n / 3 - 1, column + n % 3 - 1) != 255) continue;
          labels.at(row, column) = 255;
          changed = true;
          break;
        }
      }
    }
  }
  return labels;
}

Raster<unsigned char> onDevice(const Raster<unsigned char>& picture, int low, int high,
                               bool hysteresis) {
  canny::Options options;
  options.low = low;
  options.high = high;
  options.hysteresis = hysteresis;
  Progress progress(1, "pictures", Progress::Mode::Off);
  return canny::findEdges(picture, options, oneDevice(), progress);
}

}  // namespace

TEST_CASE("a step of brightness is an edge of one pixel") {
  const Raster<unsigned char> labels = canny::referenceLabels(stepPicture(12, 20, 9, 100), 50, 100);
  for (int row = 0; row < 12; ++row) {
    for (int column = 0; column < 20; ++column) {
      const bool edge = row >= 1 && row <= 10 && column == 9;
      CHECK(labels.at(row, column) == (edge ? 255 : 0));
    }
  }
}

TEST_CASE("the gradient of a step is what the masks say: 4 * 87 / 159 of its height") {
  // A step of 100, smoothed by columns of 17, 38, 49, 38, 17, has a Sobel gradient of 218.9.
  const Raster<unsigned char> picture = stepPicture(9, 20, 10, 100);
  CHECK(canny::referenceLabels(picture, 218, 218).at(4, 10) == 255);
  CHECK(canny::referenceLabels(picture, 218, 220).at(4, 10) == 128);
  CHECK(canny::referenceLabels(picture, 220, 220).at(4, 10) == 0);
}

TEST_CASE("the edge of a disc is a closed thin ring where the disc ends") {
  constexpr int side = 101;
  constexpr double radius = 33.3;
  Raster<unsigned char> picture(side, side, 40);
  const auto distance = [](int row, int column) { return std::hypot(row - 50, column - 50); };
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      if (distance(row, column) < radius) picture.at(row, column) = 200;
    }
  }
  const Raster<unsigned char> labels = canny::referenceLabels(picture, 60, 120);
  int count = 0;
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      if (labels.at(row, column) == 0) continue;
      ++count;
      CHECK(std::abs(distance(row, column) - radius) < 1.6);
      int neighbours = -1;
      for (int n = 0; n < 9; ++n) {
        neighbours += labels.at(row + n / 3 - 1, column + n % 3 - 1) != 0 ? 1 : 0;
      }
      CHECK(neighbours >= 2);
    }
  }
  // A line of eight-connected pixels around a circle has between 4 sqrt(2) r and 8 r of them.
  CHECK(count >= static_cast<int>(4 * std::sqrt(2.0) * radius) - 4);
  CHECK(count <= static_cast<int>(8 * radius));
}

TEST_CASE("an even ramp and an even picture have no edges") {
  Raster<unsigned char> ramp(30, 60);
  for (int row = 0; row < 30; ++row) {
    for (int column = 0; column < 60; ++column) {
      ramp.at(row, column) = static_cast<unsigned char>(4 * column);
    }
  }
  const Raster<unsigned char> labels = canny::referenceLabels(ramp, 1, 1);
  // Near the pixels that are not smoothed the ramp is uneven by rounding; inside it is even.
  for (int row = 4; row < 26; ++row) {
    for (int column = 4; column < 56; ++column) CHECK(labels.at(row, column) == 0);
  }
  CHECK(canny::referenceLabels(Raster<unsigned char>(8, 9, 77), 1, 1) ==
        Raster<unsigned char>(8, 9, 0));
}

TEST_CASE("following edges gives the same as sweeping until nothing changes") {
  std::mt19937 engine(7);
  for (int i = 0; i < 50; ++i) {
    INFO("picture ", i, " of seed 7");
    Raster<unsigned char> labels(3 + i % 17, 3 + i % 23);
    for (int row = 0; row < labels.height(); ++row) {
      for (int column = 0; column < labels.width(); ++column) {
        const auto dice = engine() % 20;
        labels.at(row, column) = dice == 0 ? 255 : dice < 10 ? 128 : 0;
      }
    }
    CHECK(canny::referenceHysteresis(labels) == sweptHysteresis(labels));
  }
}

TEST_CASE("the device finds the same edges as the reference, in pictures from 5 x 5 pixels on") {
  for (const Extent extent : {Extent{5, 5}, Extent{5, 9}, Extent{23, 37}}) {
    INFO(extent.width, " x ", extent.height);
    const Raster<unsigned char> picture = testPicture(extent);
    const Raster<unsigned char> labels = canny::referenceLabels(picture, 15, 90);
    CHECK(onDevice(picture, 15, 90, false) == labels);
    CHECK(onDevice(picture, 15, 90, true) == canny::referenceHysteresis(labels));
  }
}

TEST_CASE("the device follows a weak edge that is longer than a batch of sweeps") {
  // A step that gets lower from row to row: strong at its upper end only.
  Raster<unsigned char> picture(120, 12, 50);
  for (int row = 0; row < 120; ++row) {
    const int height = std::max(30, 205 - 3 * row);
    for (int column = 6; column < 12; ++column) {
      picture.at(row, column) = static_cast<unsigned char>(50 + height);
    }
  }
  const Raster<unsigned char> labels = canny::referenceLabels(picture, 20, 200);
  REQUIRE(labels.at(100, 6) == 128);
  const Raster<unsigned char> linked = onDevice(picture, 20, 200, true);
  CHECK(linked.at(100, 6) == 255);
  CHECK(linked == canny::referenceHysteresis(labels));
}

/// A weak line of one pixel that winds through the picture, its first pixel strong: two columns of
/// nothing between its bends, so that it meets the borders of tiles again and again.
Raster<unsigned char> windingLine(Extent extent, bool downwards) {
  Raster<unsigned char> labels(extent.height, extent.width, 0);
  const auto at = [&](int along, int across) -> unsigned char& {
    return downwards ? labels.at(across, along) : labels.at(along, across);
  };
  const int alongEnd = (downwards ? extent.width : extent.height) - 2;
  const int acrossEnd = (downwards ? extent.height : extent.width) - 2;
  for (int along = 1; along <= alongEnd; along += 3) {
    for (int across = 1; across <= acrossEnd; ++across) at(along, across) = 128;
    const int turn = along % 2 == 1 ? acrossEnd : 1;
    for (int next = along + 1; next < along + 3 && along + 3 <= alongEnd; ++next)
      at(next, turn) = 128;
  }
  at(1, 1) = 255;
  return labels;
}

/// The labels after the tiles of one device.
Raster<unsigned char> tiled(const Raster<unsigned char>& labels) {
  canny::Bytes cells(labels.height(), labels.width());
  cells.copyFrom(labels.data());
  canny::TileLinker linker(labels.height(), labels.width(), hpl::Device());
  linker.link(cells);
  Raster<unsigned char> result(labels.extent());
  cells.copyTo(result.data());
  return result;
}

TEST_CASE("edges grow through all tiles of a picture, wherever they wind") {
  using canny::kTileColumns, canny::kTileRows;
  for (const Extent extent : {Extent{1, 1}, Extent{2, 5}, Extent{3, 3}, Extent{kTileRows, 40},
                              Extent{kTileRows + 1, kTileColumns + 1}, Extent{70, 530},
                              Extent{5 * kTileRows, 2 * kTileColumns + 2}}) {
    for (const bool downwards : {true, false}) {
      if (extent.height < 3 || extent.width < 3) continue;
      INFO(extent.width, " x ", extent.height, downwards ? ", downwards" : ", across");
      const Raster<unsigned char> line = windingLine(extent, downwards);
      const Raster<unsigned char> linked = tiled(line);
      CHECK(linked == canny::referenceHysteresis(line));
      CHECK(std::count(linked.cells().begin(), linked.cells().end(), 128) == 0);
    }
  }
}

TEST_CASE("tiles link random labels as sweeps over the whole picture do") {
  std::mt19937 engine(29);
  for (int i = 0; i < 40; ++i) {
    INFO("picture ", i, " of seed 29");
    Raster<unsigned char> labels(1 + static_cast<int>(engine() % 110),
                                 1 + static_cast<int>(engine() % 600), 0);
    const unsigned weak = 4 + engine() % 10;  // of twenty; from four on, lines meet
    for (int row = 1; row + 1 < labels.height(); ++row) {
      for (int column = 1; column + 1 < labels.width(); ++column) {
        const auto dice = engine() % 2000;
        labels.at(row, column) = dice == 0 ? 255 : dice < 100 * weak ? 128 : 0;
      }
    }
    CHECK(tiled(labels) == sweptHysteresis(labels));
  }
}

TEST_CASE("one linker takes one picture after another") {
  const Extent extent{75, 300};
  canny::TileLinker linker(extent.height, extent.width, hpl::Device());
  canny::Bytes cells(extent.height, extent.width);
  for (int i = 0; i < 4; ++i) {
    INFO("picture ", i);
    const Raster<unsigned char> picture =
        i % 2 == 0 ? windingLine(extent, i == 0) : Raster<unsigned char>(75, 300, 128);
    cells.copyFrom(picture.data());
    linker.link(cells);
    Raster<unsigned char> result(extent);
    cells.copyTo(result.data());
    CHECK(result == canny::referenceHysteresis(picture));
  }
}

TEST_CASE("canny understands its options and says what is wrong with them") {
  const auto parsed = parsedBy(canny::parseOptions,
                               {"--size", "30x20", "--low", "7", "--high", "9", "--no-hysteresis",
                                "--png", "a.png", "-n", "3", "--check", "--no-progress"});
  REQUIRE(parsed.options);
  CHECK(parsed.options->extent == Extent{20, 30});
  CHECK(parsed.options->low == 7);
  CHECK(parsed.options->high == 9);
  CHECK_FALSE(parsed.options->hysteresis);
  CHECK(parsed.options->png == "a.png");
  CHECK(parsed.options->run.iterations == 3);
  CHECK(parsed.options->run.check);
  CHECK_FALSE(parsed.options->run.progress);
  CHECK(parsedBy(canny::parseOptions, {"--size", "paper"}).options->extent == Extent{4096, 4096});

  const auto low = parsedBy(canny::parseOptions, {"--low", "50", "--high", "49"});
  CHECK_FALSE(low.options);
  CHECK(low.exitCode == 1);
  CHECK(low.errors == "--high 49 is below --low 50: a strong edge has the larger gradient\n");
  CHECK(parsedBy(canny::parseOptions, {"--size", "9000000"})
            .errors.starts_with("--size 9000000: expected a number for both sides"));
  const auto both = parsedBy(canny::parseOptions, {"--size", "9", "--input", "a.png"});
  CHECK(both.errors.find("--input excludes --size") != std::string::npos);
  const auto help = parsedBy(canny::parseOptions, {"--help"});
  CHECK(help.exitCode == 0);
  CHECK(help.out.find("Examples:") != std::string::npos);
  CHECK(parsedBy(canny::parseOptions, {"-d", "list", "--size", "0"}).options);
}

}  // namespace canny_tests
