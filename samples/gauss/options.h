// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "samples/common/run_options.h"

namespace samples::gauss {

/// Options of the command line of `gauss`.
struct Options {
  RunOptions run;
  Extent extent;       ///< of the synthetic picture
  std::string input;   ///< a picture file; empty: the synthetic picture
  double sigma = 2.0;  ///< of one iteration, in pixels
  std::string png;     ///< empty: none
};

/// Reads the command line. Returns nothing if the program is to end with `exitCode`: after --help
/// (0), or after a message on `errors` about a wrong option (1).
std::optional<Options> parseOptions(int argc, const char* const* argv, std::ostream& out,
                                    std::ostream& errors, int& exitCode);

}  // namespace samples::gauss
