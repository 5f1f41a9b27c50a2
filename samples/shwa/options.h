// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "samples/common/run_options.h"

namespace samples::shwa {

/// Options of the command line of `shwa`, with every default resolved.
struct Options {
  RunOptions run;
  Extent extent;                       ///< cells, the ring of walls included
  std::string scenario = "pollutant";  ///< a name that makeScenario knows
  float courant = 0.35f;               ///< share of a cell that the fastest wave crosses in a step
  std::string png;                     ///< the last state; empty: none
  std::string gif;                     ///< empty: none
  int every = 1;                       ///< steps between two frames
  int delay = 6;                       ///< hundredths of a second per frame
};

/// Reads the command line. Returns nothing if the program is to end with `exitCode`: after --help
/// (0), or after a message on `errors` about a wrong option (1).
std::optional<Options> parseOptions(int argc, const char* const* argv, std::ostream& out,
                                    std::ostream& errors, int& exitCode);

}  // namespace samples::shwa
