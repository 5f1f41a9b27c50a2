// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "samples/common/run_options.h"

namespace samples::canny {

/// Options of the command line of `canny`.
struct Options {
  RunOptions run;
  Extent extent;           ///< of the synthetic picture
  std::string input;       ///< a picture file; empty: the synthetic picture
  int low = 20;            ///< gradients from here on are weak edges, in Sobel units (0 to 1442)
  int high = 40;           ///< ... and from here on strong ones
  bool hysteresis = true;  ///< keep the weak edges that are connected to strong ones
  std::string png;         ///< empty: none
  std::string inputPng;    ///< where to write the input as the program sees it; empty: none
};

/// Reads the command line. Returns nothing if the program is to end with `exitCode`: after --help
/// (0), or after a message on `errors` about a wrong option (1).
std::optional<Options> parseOptions(int argc, const char* const* argv, std::ostream& out,
                                    std::ostream& errors, int& exitCode);

}  // namespace samples::canny
