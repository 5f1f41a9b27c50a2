// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "samples/common/run_options.h"
#include "samples/jacobi3d/problem.h"

namespace samples::jacobi3d {

/// Options of the command line of `jacobi3d`.
struct Options {
  RunOptions run;
  int side = 48;   ///< points per side, the boundary included
  int points = 7;  ///< of the stencil: 7 or 27
  Boundary boundary = Boundary::Sine;
  float tolerance = 1e-6f;  ///< the iteration ends when no point changes by more
  int every = 100;          ///< iterations between two looks at the change
  std::string png;          ///< a slice through the middle; empty: none
};

/// Reads the command line. Returns nothing if the program is to end with `exitCode`: after --help
/// (0), or after a message on `errors` about a wrong option (1).
std::optional<Options> parseOptions(int argc, const char* const* argv, std::ostream& out,
                                    std::ostream& errors, int& exitCode);

}  // namespace samples::jacobi3d
