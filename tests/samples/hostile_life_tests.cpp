// SPDX-License-Identifier: Apache-2.0
// Sizes, numbers and files that cannot be meant; hostile_arguments.py runs the programs.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <sstream>
#include <string>
#include <vector>

#include "samples/common/arguments.h"
#include "samples/common/io.h"
#include "samples/common/read_picture.h"
#include "samples/common/rle.h"
#include "samples/life/options.h"
#include "tests/samples/temporary_file.h"

namespace hostile_life_tests {

using namespace samples;

namespace {

/// The message with which life's options end.
std::string refusal(std::vector<std::string> arguments) {
  std::vector<const char*> list{"life"};
  for (const std::string& argument : arguments) list.push_back(argument.c_str());
  std::ostringstream out, errors;
  int exitCode = -1;
  const auto options =
      parseLifeOptions(static_cast<int>(list.size()), list.data(), out, errors, exitCode);
  CHECK_FALSE(options);
  CHECK(exitCode == 1);
  return errors.str();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a small file that asks for a huge grid is refused before there is one") {
  const TemporaryFile huge("huge.rle", "x = 1000000000, y = 1000000000\no!\n");
  const std::string pattern = refusal({"--pattern", huge.name()});
  INFO(pattern);
  CHECK(contains(pattern,
                 "the pattern or its board has 1000000000 cells on a side, and a grid has "
                 "at most 100000: choose a smaller pattern"));
  const TemporaryFile board("board.rle", "x = 1, y = 1, rule = B3/S23:T1,2000000000\no!\n");
  CHECK(contains(refusal({"--pattern", board.name()}), "has 2000000000 cells on a side"));
  const TemporaryFile wide("wide.rle", "x = 90000, y = 90000\no!\n");
  const std::string implied = refusal({"--pattern", wide.name()});
  INFO(implied);
  CHECK(contains(implied,
                 "the grid would have 100000 x 100000 cells (width x height), more than "
                 "256 million: give --size, or --width and --height, if that is meant"));
}

TEST_CASE("life refuses densities that are no numbers, and values that are empty") {
  for (const char* density : {"nan", "-nan", "inf", "NAN"})
    CHECK(contains(refusal({"--random", density}), "is no finite number"));
  CHECK(refusal({"--rule", ""}) ==
        "--rule '': the value is empty; give one, or leave the option out\n");
  CHECK(contains(refusal({"--png="}), "--png=: the value is empty"));
  CHECK(contains(refusal({""}), "'': the value is empty"));
}

TEST_CASE("a picture without rows, or with too many, is refused with its name") {
  const TemporaryFile flat("flat.pgm", "P5 10 0 255\n");
  CHECK_THROWS_WITH_AS(readGrayPicture(flat.name()), doctest::Contains("flat.pgm: "), FileError);
  const TemporaryFile huge("huge.pgm", "P5 1000000 1000000 255\n");
  CHECK_THROWS_WITH_AS(readGrayPicture(huge.name()),
                       doctest::Contains("huge.pgm: cannot read the picture: "), FileError);
}

TEST_CASE("a pipe in the place of a file is refused, not waited for") {
  const TemporaryFile file("pipe", "");
  const std::string pipe = file.name() + ".fifo";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(readGrayPicture(pipe), doctest::Contains("it is no regular file"),
                       FileError);
  CHECK_THROWS_WITH_AS(readRle(pipe), doctest::Contains("it is no regular file"), PatternError);
  CHECK_THROWS_WITH_AS(writePng(pipe, Image(1, 1, Image::Format::Gray)),
                       doctest::Contains("it is a pipe"), FileError);
  remove(pipe.c_str());
}

TEST_CASE("the number of a small sample is whole, in range and a multiple of what it needs") {
  const NumberArgument wanted{"sample", "elements", 64, 32, 1024, 32};
  const auto number = [&](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "sample");
    return numberArgument(static_cast<int>(arguments.size()), arguments.data(), wanted);
  };
  CHECK(number({}) == 64);
  CHECK(number({"96"}) == 96);
  for (const char* wrong : {"", "0", "-32", "31", "33", "1056", "96x", "x", "9.6e1", "nan"})
    CHECK_THROWS_WITH_AS(
        number({wrong}),
        doctest::Contains("': expected elements, from 32 to 1024, a multiple of 32"),
        std::invalid_argument);
  CHECK_THROWS_AS(number({"32", "32"}), std::invalid_argument);
}

}  // namespace hostile_life_tests
