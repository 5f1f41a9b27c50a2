// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/space.h"

#include <doctest/doctest.h>

#include "hpl/error.h"

namespace space_tests {

using hpl::ArgumentError;
using hpl::tune::Point;
using hpl::tune::Space;

TEST_CASE("a space holds every combination of its values") {
  Space space;
  space.dimension("lanes", {4, 8, 16}).dimension("jam", {1, 4});
  const auto points = space.points();
  REQUIRE(points.size() == 6);
  CHECK(space.combinations() == 6);
  CHECK(points.front() == Point{{"lanes", 4}, {"jam", 1}});
  CHECK(points[1] == Point{{"lanes", 4}, {"jam", 4}});
  CHECK(points.back() == Point{{"jam", 4}, {"lanes", 16}});
}

TEST_CASE("requirements prune a space, and a point outside says why") {
  Space space;
  space.dimension("lanes", {4, 8}).require("registers suffice", [](const Point& p) {
    return p.value("lanes") * p.value("jam") <= 16;
  });
  space.dimension("jam", {1, 2, 4});
  CHECK(space.combinations() == 6);
  CHECK(space.points().size() == 5);
  CHECK(space.violatedBy({{"lanes", 8}, {"jam", 2}}).empty());
  CHECK(space.violatedBy({{"lanes", 8}, {"jam", 4}}) == "registers suffice");
  CHECK(space.violatedBy({{"lanes", 5}, {"jam", 4}}) == "'lanes' cannot be 5");
  CHECK(space.violatedBy({{"lanes", 4}}) == "'jam' has no value");
  CHECK(space.violatedBy({{"width", 4}}) == "there is no dimension 'width'");
}

TEST_CASE("a space without dimensions has one point, the default") {
  const auto points = Space().points();
  REQUIRE(points.size() == 1);
  CHECK(points[0] == Point());
  CHECK(points[0].toString() == "default");
}

TEST_CASE("points are read by name and written for people") {
  Point point{{"lanes", 8}};
  point.set("jam", 2);
  point.set("lanes", 16);
  CHECK(point.toString() == "lanes 16, jam 2");
  CHECK(point.value("jam") == 2);
  CHECK(point.value("band", -1) == -1);
  CHECK_FALSE(point == Point{{"lanes", 16}});
  CHECK_FALSE(point == Point{{"lanes", 16}, {"jam", 4}});
}

TEST_CASE("dimensions that make no sense are refused") {
  Space space;
  space.dimension("jam", {1});
  CHECK_THROWS_WITH_AS(space.dimension("band", {}),
                       "tune::Space: dimension 'band' has no values; give it at least one",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(
      space.dimension("band", {4, 4}),
      "tune::Space: dimension 'band' has a value twice; each point would be measured twice",
      ArgumentError);
  CHECK_THROWS_WITH_AS(space.dimension("jam", {2}), "tune::Space: there are two dimensions 'jam'",
                       ArgumentError);
}

}  // namespace space_tests
