// SPDX-License-Identifier: Apache-2.0
#include "samples/common/run_options.h"

#include <doctest/doctest.h>

#include <stdexcept>

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
