// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/color_map.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace color_map_tests {

using namespace hpl;
using io::Color;
using io::ColorMap;
using io::ColorScale;
using io::Image;

namespace {

double brightness(const Color& color) {
  return 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue;
}

int distance(const Color& a, const Color& b) {
  return std::max(
      {std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

struct Published {
  const char* name;
  const ColorMap& map;
  int tolerance;
  Color colors[9];  ///< entries 0, 32, 64, ..., 224, 255
};

}  // namespace

TEST_CASE("the maps are near the tables that Matplotlib and K. Moreland have published") {
  // Matplotlib 3.11: _cm_listed.py (viridis, inferno, magma) and _cm.py (coolwarm, 33 colours that
  // it interpolates), as bytes.
  const Published tables[] = {{"viridis",
                               io::viridis(),
                               4,
                               {{68, 1, 84},
                                {71, 45, 123},
                                {59, 82, 139},
                                {44, 114, 142},
                                {33, 145, 140},
                                {40, 174, 128},
                                {94, 201, 98},
                                {173, 220, 48},
                                {253, 231, 37}}},
                              {"magma",
                               io::magma(),
                               9,
                               {{0, 0, 4},
                                {29, 17, 71},
                                {81, 18, 124},
                                {131, 38, 129},
                                {183, 55, 121},
                                {231, 82, 99},
                                {252, 137, 97},
                                {254, 196, 136},
                                {252, 253, 191}}},
                              {"inferno",
                               io::inferno(),
                               9,
                               {{0, 0, 4},
                                {33, 12, 74},
                                {87, 16, 110},
                                {138, 34, 106},
                                {188, 55, 84},
                                {228, 90, 49},
                                {249, 142, 9},
                                {249, 203, 53},
                                {252, 255, 164}}},
                              {"coolwarm",
                               io::coolwarm(),
                               4,
                               {{59, 76, 192},
                                {98, 130, 234},
                                {141, 176, 254},
                                {185, 208, 249},
                                {221, 220, 220},
                                {245, 196, 172},
                                {244, 152, 122},
                                {221, 95, 75},
                                {180, 4, 38}}},
                              {"gray",
                               io::gray(),
                               0,
                               {{0, 0, 0},
                                {32, 32, 32},
                                {64, 64, 64},
                                {96, 96, 96},
                                {128, 128, 128},
                                {160, 160, 160},
                                {192, 192, 192},
                                {224, 224, 224},
                                {255, 255, 255}}}};
  for (const Published& table : tables) {
    CAPTURE(table.name);
    REQUIRE(table.map.size() == 256);
    for (std::size_t i = 0; i < 9; ++i) {
      CAPTURE(i);
      CHECK(distance(table.map[std::min<std::size_t>(32 * i, 255)], table.colors[i]) <=
            table.tolerance);
    }
  }
}

TEST_CASE(
    "brightness grows along the maps for values with one end, and peaks in the middle of "
    "coolwarm") {
  for (const ColorMap* map : {&io::viridis(), &io::inferno(), &io::magma(), &io::gray()})
    for (std::size_t i = 8; i < 256; ++i) CHECK(brightness((*map)[i]) > brightness((*map)[i - 8]));
  const ColorMap& both = io::coolwarm();
  for (std::size_t i = 16; i < 112; ++i) {
    CHECK(brightness(both[i]) > brightness(both[i - 16]));
    CHECK(brightness(both[255 - i]) > brightness(both[255 - i + 16]));
  }
}

TEST_CASE("values become colours, those out of range the ends, NaN a colour of its own") {
  Array<float, 2> values(2, 2);
  values(0, 0) = -5.0f, values(0, 1) = 1.0f, values(1, 0) = 9.0f, values(1, 1) = 0.0f;
  const Image image = io::colorImage(values, ColorScale().range(0, 2).zoom(3));
  CHECK(image.width == 6);
  CHECK(image.height == 6);
  REQUIRE(image.format == Image::Format::Palette);
  CHECK(image.palette == io::viridis());
  CHECK(*image.pixel(0, 0) == 0);
  CHECK(*image.pixel(2, 2) == 0);
  CHECK(*image.pixel(3, 0) == 128);
  CHECK(*image.pixel(0, 5) == 255);
  CHECK(*image.pixel(5, 5) == 0);
  values(1, 1) = std::numeric_limits<float>::quiet_NaN();
  values(0, 0) = std::numeric_limits<float>::infinity();
  const Image colored = io::colorImage(values, ColorScale(io::gray()).range(0, 2).nan({9, 8, 7}));
  REQUIRE(colored.format == Image::Format::Rgb);
  CHECK(colored.pixels ==
        std::vector<unsigned char>{255, 255, 255, 128, 128, 128, 255, 255, 255, 9, 8, 7});
}

TEST_CASE(
    "without a range it goes from the lowest to the highest finite value, of any type of numbers") {
  Array<double, 2> values(1, 5);
  values(0, 0) = -std::numeric_limits<double>::infinity(), values(0, 1) = -1e308;
  values(0, 2) = 0.0, values(0, 3) = 1e308, values(0, 4) = std::numeric_limits<double>::infinity();
  CHECK(io::colorImage(values, io::gray()).pixels ==
        std::vector<unsigned char>{0, 0, 128, 255, 255});
  Array<signed char, 2> small(1, 3);
  small(0, 0) = -128, small(0, 1) = 127, small(0, 2) = 0;
  CHECK(io::colorImage(small, io::gray()).pixels == std::vector<unsigned char>{0, 255, 128});
  Array<half, 2> halves(1, 2);
  halves(0, 0) = half(1.0f), halves(0, 1) = half(3.0f);
  CHECK(io::colorImage(halves, io::gray()).pixels == std::vector<unsigned char>{0, 255});
  Array<bool, 2> flags(1, 2);
  flags(0, 0) = true, flags(0, 1) = false;
  CHECK(io::colorImage(flags, io::gray()).pixels == std::vector<unsigned char>{255, 0});
  Array<int, 2> even(3, 3);
  even = 7;
  CHECK(io::colorImage(even).pixels == std::vector<unsigned char>(9, 0));
  Array<float, 2> nothing(1, 1);
  nothing = std::numeric_limits<float>::quiet_NaN();
  CHECK(io::colorImage(nothing).pixels == std::vector<unsigned char>{255, 0, 255});
}

TEST_CASE("a view is drawn alone") {
  Array<int, 2> a(4, 4);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) a(i, j) = 10 * i + j;
  CHECK(io::colorImage(a(Range(1, 2), Range(1, 3)), ColorScale(io::gray()).range(0, 255)).pixels ==
        std::vector<unsigned char>{11, 12, 13, 21, 22, 23});
}

TEST_CASE("scales that mean nothing are refused") {
  CHECK_THROWS_WITH_AS(ColorScale(ColorMap(1)), "a colour map has 2 to 256 colours, this one has 1",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(
      ColorScale().range(2, 2),
      "a colour scale needs a finite range low < high, got 2 to 2; leave the range out "
      "to have it found",
      ArgumentError);
  CHECK_THROWS_AS(ColorScale().range(0, std::numeric_limits<double>::infinity()), ArgumentError);
  CHECK_THROWS_WITH_AS(ColorScale().zoom(0),
                       "a value is drawn as a square of at least one pixel, got zoom(0)",
                       ArgumentError);
  Array<float, 2> a(3, 2);
  a.label("map") = 0.0f;
  CHECK_THROWS_WITH_AS(
      io::colorImage(a, ColorScale().zoom(30000)),
      "Array<float, 2> 'map' of (3, 2) with 30000 pixels a value would be a picture of "
      "2^31 or more pixels: draw a view of it, or zoom less",
      ArgumentError);
}

}  // namespace color_map_tests
