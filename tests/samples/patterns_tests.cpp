// SPDX-License-Identifier: Apache-2.0
// The shipped patterns do what they are famous for, on an unlimited plane.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "samples/common/rle.h"
#include "samples/life/options.h"
#include "tests/samples/plane_life.h"

namespace patterns_tests {

using namespace samples;

namespace {

Pattern shipped(const std::string& name) { return readRle(findPattern(name)); }

}  // namespace

TEST_CASE("every shipped pattern names itself, its author and Conway's rule") {
  const std::vector<std::string> names = shippedPatterns();
  REQUIRE(names.size() >= 6);
  for (const std::string& name : names) {
    INFO(name);
    const Pattern pattern = shipped(name);
    CHECK(pattern.name != "");
    CHECK(pattern.author != "");
    CHECK(pattern.comments.size() >= 1);
    CHECK(pattern.rule == LifeRule{});
    CHECK(std::filesystem::file_size(findPattern(name)) < 200000);
    // The header is as tight as the writer makes it, and the writer agrees with the reader.
    CHECK(parseRle(toRle(pattern), name).runs == pattern.runs);
    int right = 0;
    for (const auto& run : pattern.runs) right = std::max(right, run.column + run.length);
    CHECK(right == pattern.width);
    CHECK(pattern.runs.back().row + 1 == pattern.height);
  }
}

TEST_CASE("the glider moves one cell down and one to the right in 4 generations") {
  PlaneLife life(shipped("glider"));
  auto moved = life.cells();
  for (auto& [row, column] : moved) {
    ++row;
    ++column;
  }
  life.run(4);
  CHECK(life.cells() == moved);
}

TEST_CASE("the Gosper glider gun emits a glider every 30 generations") {
  const Pattern gun = shipped("gosper-glider-gun");
  CHECK(gun.population() == 36);
  PlaneLife life(gun);
  life.run(120);
  std::size_t before = life.population();
  for (int gliders = 0; gliders < 20; ++gliders) {
    life.run(30);
    CHECK(life.population() == before + 5);
    before = life.population();
  }
}

TEST_CASE("the R-pentomino settles at generation 1103 with 116 cells") {
  PlaneLife life(shipped("r-pentomino"));
  life.run(1102);
  const std::size_t last = life.population();
  life.run(1);
  CHECK(life.population() == 116);
  CHECK(last != 116);
  // The rest are still lifes, blinkers and gliders: the population stays for ever.
  for (int g = 0; g < 24; ++g) {
    life.run(1);
    CHECK(life.population() == 116);
  }
}

TEST_CASE("the acorn settles at generation 5206 with 633 cells") {
  PlaneLife life(shipped("acorn"));
  life.run(5206);
  CHECK(life.population() == 633);
  life.run(12);
  CHECK(life.population() == 633);
}

TEST_CASE("the front of the puffer train moves 2 cells every 4 generations") {
  PlaneLife life(shipped("puffer-train"));
  life.run(100);
  // The two spaceships fly to the right.
  const auto front = [&] {
    int right = -1000000;
    for (const auto& [row, column] : life.cells()) right = std::max(right, column);
    return right;
  };
  const std::size_t debris = life.population();
  for (int i = 0; i < 20; ++i) {
    const int before = front();
    life.run(20);
    CHECK(front() == before + 10);
  }
  CHECK(life.population() > debris);
}

TEST_CASE("the spacefiller's population follows its formula") {
  const Pattern pattern = shipped("spacefiller");
  CHECK(pattern.population() == 200);
  PlaneLife life(pattern);
  const std::size_t offsets[] = {511, 608, 563, 580};  // by generation modulo 4
  for (std::size_t t = 1; t <= 200; ++t) {
    life.run(1);
    CHECK(life.population() == ((t + 17) * (t + 17) + offsets[t % 4]) / 4);
  }
}

TEST_CASE("the breeder's population grows with the square of time") {
  const Pattern pattern = shipped("breeder");
  CHECK(pattern.population() == 4060);
  CHECK(pattern.width == 749);
  CHECK(pattern.height == 338);
  // A quadratic function has constant second differences, sampled at whatever even distance.
  PlaneLife life(pattern);
  constexpr int distance = 256;
  std::vector<double> populations;
  for (int i = 0; i <= 4; ++i) {
    populations.push_back(static_cast<double>(life.population()));
    life.run(i < 4 ? distance : 0);
  }
  const auto bend = [&](std::size_t i) {
    return populations[i] - 2 * populations[i + 1] + populations[i + 2];
  };
  CHECK(bend(0) > 150);
  CHECK(bend(1) == doctest::Approx(bend(0)).epsilon(0.1));
  CHECK(bend(2) == doctest::Approx(bend(0)).epsilon(0.1));
}

}  // namespace patterns_tests
