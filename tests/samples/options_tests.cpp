// SPDX-License-Identifier: Apache-2.0
#include "samples/life/options.h"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/samples/temporary_file.h"

namespace options_tests {

using namespace samples;

namespace {

struct Parsed {
  std::optional<LifeOptions> options;
  int exitCode;
  std::string out;
  std::string errors;
};

Parsed parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "life");
  std::ostringstream out;
  std::ostringstream errors;
  int exitCode = -1;
  auto options =
      parseLifeOptions(static_cast<int>(arguments.size()), arguments.data(), out, errors, exitCode);
  return {std::move(options), exitCode, out.str(), errors.str()};
}

}  // namespace

TEST_CASE("without options the glider gun runs in the middle of a plane") {
  const Parsed parsed = parse({});
  REQUIRE(parsed.options);
  CHECK(parsed.exitCode == 0);
  const LifeOptions& options = *parsed.options;
  CHECK(options.title == "Gosper glider gun");
  CHECK(options.start.width() == 256);
  CHECK(options.start.height() == 256);
  CHECK(population(options.start) == 36);
  CHECK(options.edges == Edges::Dead);
  CHECK(options.rule == LifeRule{});
  CHECK(options.run.iterations == 1000);
  CHECK(options.every == 5);
  CHECK(options.scale.cell == 4);
  CHECK(options.gifScale.cell == 2);
  CHECK(options.run.progress);
  CHECK_FALSE(options.run.check);
}

TEST_CASE("every option is understood") {
  const Parsed parsed = parse({"--pattern",     "glider", "--width",  "40",    "--height", "30",
                               "--generations", "12",     "--edges",  "torus", "--png",    "a.png",
                               "--gif",         "a.gif",  "--every",  "3",     "--delay",  "9",
                               "--cell",        "5",      "--device", "cpu",   "--check",  "--show",
                               "--no-progress", "--rule", "B36/S23"});
  REQUIRE(parsed.options);
  const LifeOptions& options = *parsed.options;
  CHECK(options.start.width() == 40);
  CHECK(options.start.height() == 30);
  CHECK(options.run.iterations == 12);
  CHECK(options.edges == Edges::Torus);
  CHECK(options.png == "a.png");
  CHECK(options.gif == "a.gif");
  CHECK(options.every == 3);
  CHECK(options.delay == 9);
  CHECK(options.scale.cell == 5);
  CHECK(options.gifScale.cell == 5);
  CHECK(options.run.device == "cpu");
  CHECK(options.run.check);
  CHECK(options.show);
  CHECK_FALSE(options.run.progress);
  CHECK(ruleText(options.rule) == "B36/S23");
}

TEST_CASE("a pattern brings its rule, its board and its size") {
  const TemporaryFile file("torus.rle", "x = 3, y = 3, rule = B36/S23:T50,60\nbo$2bo$3o!");
  const std::string name = file.name();
  const Parsed parsed = parse({"-p", name.c_str()});
  REQUIRE(parsed.options);
  CHECK(parsed.options->start.width() == 50);
  CHECK(parsed.options->start.height() == 60);
  CHECK(parsed.options->edges == Edges::Torus);
  const Parsed dead = parse({"-p", name.c_str(), "--edges", "dead", "--size", "70"});
  REQUIRE(dead.options);
  CHECK(dead.options->start.width() == 70);
  CHECK(dead.options->edges == Edges::Dead);
  const Parsed breeder = parse({"-p", "breeder"});
  REQUIRE(breeder.options);
  CHECK(breeder.options->start.width() == 2 * 749);
  CHECK(breeder.options->start.height() == 2 * 338);
}

TEST_CASE("a soup has the size, the density and the seed that are asked for") {
  const Parsed parsed = parse({"--random", "0.25", "--size", "300", "--seed", "9"});
  REQUIRE(parsed.options);
  Grid soup(300, 300);
  fillWithSoup(soup, 0.25, 9);
  CHECK(parsed.options->start == soup);
  CHECK(parsed.options->title == "random soup, density 0.25, seed 9");
  const Parsed small = parse({"--random", "0.5", "--width", "3", "--height", "2"});
  REQUIRE(small.options);
  CHECK(small.options->start.width() == 3);
  CHECK(small.options->start.height() == 2);
}

TEST_CASE("the help shows the patterns and examples") {
  const Parsed parsed = parse({"--help"});
  CHECK_FALSE(parsed.options);
  CHECK(parsed.exitCode == 0);
  for (const std::string text :
       {"--pattern", "gosper-glider-gun", "r-pentomino", "Examples:", "--device list", "--check"}) {
    INFO(text);
    CHECK(parsed.out.find(text) != std::string::npos);
  }
}

TEST_CASE("listing devices needs no pattern") {
  const Parsed parsed = parse({"--device", "list", "--pattern", "no-such-pattern"});
  REQUIRE(parsed.options);
  CHECK(parsed.options->run.device == "list");
}

TEST_CASE("wrong options end the program with a message") {
  struct Case {
    std::vector<const char*> arguments;
    std::string message;
  };
  const Case cases[] = {
      {{"--size", "0"}, "--size"},
      {{"--size", "10", "--width", "20"}, "--size excludes --width"},
      {{"--random", "1.5"}, "--random"},
      {{"--random", "0.5", "--pattern", "glider"}, "--pattern excludes --random"},
      {{"--edges", "sphere"}, "--edges"},
      {{"--generations", "-1"}, "--generations"},
      {{"--cell", "2", "--block", "2"}, "--cell excludes --block"},
      {{"--every", "0"}, "--every"},
      {{"--rule", "B9"}, "rule 'B9' is not understood"},
      {{"--no-such-option"}, "--no-such-option"},
  };
  for (const Case& c : cases) {
    const Parsed parsed = parse(c.arguments);
    INFO("expected: ", c.message, ", found: ", parsed.errors);
    CHECK_FALSE(parsed.options);
    CHECK(parsed.exitCode == 1);
    CHECK(parsed.errors.find(c.message) != std::string::npos);
  }
}

TEST_CASE("a missing pattern is refused with the names there are") {
  CHECK_THROWS_WITH_AS(parse({"--pattern", "no-such-pattern"}),
                       doctest::Contains("no-such-pattern: no such file, and no pattern of that "
                                         "name in "),
                       PatternError);
  CHECK_THROWS_WITH_AS(parse({"--pattern", "no-such-pattern"}),
                       doctest::Contains("The patterns there: acorn, breeder, "), PatternError);
  CHECK_THROWS_WITH_AS(parse({"--pattern", "folder/no.rle"}),
                       "folder/no.rle: cannot read the pattern file: No such file or directory",
                       PatternError);
}

TEST_CASE("a malformed pattern is refused with its line and column") {
  const TemporaryFile file("bad.rle", "x = 3, y = 3\nbo$zzz!");
  const std::string name = file.name();
  CHECK_THROWS_WITH_AS(parse({"--pattern", name.c_str()}),
                       doctest::Contains("bad.rle:2:4: expected a run count, 'b' (dead), "),
                       PatternError);
}

TEST_CASE("a pattern larger than the grid is refused with both sizes") {
  CHECK_THROWS_WITH_AS(parse({"--pattern", "breeder", "--size", "100"}),
                       doctest::Contains("the pattern of 749 x 338 cells (width x height) does not "
                                         "fit a grid of 100 x 100"),
                       std::out_of_range);
}

}  // namespace options_tests
