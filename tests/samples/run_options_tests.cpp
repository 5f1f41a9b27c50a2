// SPDX-License-Identifier: Apache-2.0
#include "samples/common/run_options.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "samples/canny/options.h"
#include "samples/common/plan_choice.h"
#include "samples/gauss/options.h"
#include "samples/jacobi3d/options.h"
#include "samples/life/options.h"
#include "samples/shwa/options.h"
#include "tests/samples/parsed.h"

namespace run_options_tests {

using namespace samples;

namespace {
constexpr SizeRange kRange = {{2000, 4000}, 5, 9000};
}

TEST_CASE("a size is the paper's, one number for both sides, or width and height") {
  CHECK(parseExtent("paper", kRange) == Extent{2000, 4000});
  CHECK(parseExtent("5", kRange) == Extent{5, 5});
  CHECK(parseExtent("9000", kRange) == Extent{9000, 9000});
  CHECK(parseExtent("300x200", kRange) == Extent{200, 300});
}

TEST_CASE("a size that is malformed or out of range is refused with what was expected") {
  for (const char* text : {"", "x", "12x", "x12", "4", "9001", "12x4", "4x12", "-7", "12 x 12",
                           "1e3", "12x12x12", "99999999999", "Paper", "+12"}) {
    INFO(text);
    const std::string message =
        "--size " + std::string(text) +
        ": expected a number for both sides, WIDTHxHEIGHT, or 'paper' (4000x2000), each side from "
        "5 to 9000";
    CHECK_THROWS_WITH_AS(parseExtent(text, kRange), message.c_str(), std::invalid_argument);
  }
}

TEST_CASE("all larger samples know the options of several devices") {
  const auto check = [](auto parse) {
    const auto parsed = parsedBy(parse, {"--devices", "3", "--weights", "1,0.5,2"});
    REQUIRE(parsed.options);
    CHECK(parsed.options->run.devices == 3);
    CHECK(parsed.options->run.weights == std::vector<double>{1, 0.5, 2});
    CHECK(parsedBy(parse, {"--devices", "all"}).options->run.devices == kAllDevices);
    CHECK(parsedBy(parse, {}).options->run.devices == 0);
  };
  check(canny::parseOptions);
  check(gauss::parseOptions);
  check(jacobi3d::parseOptions);
  check(parseLifeOptions);
  check(shwa::parseOptions);
}

TEST_CASE("weights alone say how many devices there are, and measured ones that all are meant") {
  const auto weighted = parsedBy(gauss::parseOptions, {"--weights", "1,3"});
  CHECK(weighted.options->run.devices == 2);
  const auto measured = parsedBy(gauss::parseOptions, {"--weights", "measured"});
  CHECK(measured.options->run.measuredWeights);
  CHECK(measured.options->run.weights.empty());
  CHECK(measured.options->run.devices == kAllDevices);
}

TEST_CASE("wrong options of several devices are refused with the option and the reason") {
  struct Wrong {
    std::vector<const char*> arguments;
    const char* message;
  };
  const char* const badWeights =
      "expected 'measured', or positive numbers separated by commas, one for each device\n";
  const Wrong list[] = {
      {{"--devices", "0"}, "--devices 0: expected 'all' or a number from 1 on\n"},
      {{"--devices", "-1"}, "--devices -1: expected 'all' or a number from 1 on\n"},
      {{"--weights", "1,,2"}, badWeights},
      {{"--weights", "1,0"}, badWeights},
      {{"--weights", "1,2", "--devices", "3"},
       "--weights: 2 numbers for 3 devices (--devices); give one for each\n"},
      {{"--devices", "2", "--device", "0"},
       "--device 0: --devices and --weights choose among the devices of a type: give gpu, cpu or "
       "accelerator\n"},
  };
  for (const Wrong& wrong : list) {
    const auto parsed = parsedBy(gauss::parseOptions, wrong.arguments);
    CHECK_FALSE(parsed.options);
    CHECK(parsed.exitCode == 1);
    INFO(parsed.errors);
    CHECK(parsed.errors.ends_with(wrong.message));
  }
}

TEST_CASE("devices and weights that do not fit this machine are refused") {
  const int there = hpl::getDeviceNumber(hpl::Device().type());
  RunOptions run;
  run.devices = there + 1;
  const std::string tooMany = "--devices " + std::to_string(there + 1) + ": there are " +
                              std::to_string(there) + " of type ";
  CHECK_THROWS_WITH_AS(choosePlan(run), doctest::Contains(tooMany.c_str()), std::invalid_argument);
  run.devices = kAllDevices;
  run.weights.assign(static_cast<std::size_t>(there) + 1, 1.0);
  const std::string unequal = "--weights: " + std::to_string(there + 1) + " numbers for " +
                              std::to_string(there) + " devices";
  CHECK_THROWS_WITH_AS(choosePlan(run), doctest::Contains(unequal.c_str()), std::invalid_argument);
}

}  // namespace run_options_tests
