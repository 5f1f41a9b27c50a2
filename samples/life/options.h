// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "samples/common/picture.h"
#include "samples/common/rle.h"
#include "samples/common/run_options.h"
#include "samples/life/reference.h"

namespace samples {

/// Options of the command line of `life`, with every default resolved.
struct LifeOptions {
  RunOptions run;    ///< run.iterations: how many generations
  Grid start{1, 1};  ///< generation 0: the pattern or the soup in place
  LifeRule rule;
  Edges edges = Edges::Dead;
  std::string title;  ///< the pattern's name, or a description of the soup
  std::string png;    ///< empty: none
  std::string gif;    ///< empty: none
  int every = 1;      ///< generations between two frames of the animation
  int delay = 5;      ///< hundredths of a second per frame
  Scale scale;        ///< of the PNG
  Scale gifScale;     ///< of the animation, which is smaller by default
  bool show = false;
};

/// Reads the command line and the pattern file. Returns nothing if the program is to end with
/// `exitCode`: after --help (0), or after a message on `errors` about a wrong option (1).
/// Throws PatternError for a missing or malformed pattern file, std::out_of_range for a pattern
/// that does not fit the grid.
std::optional<LifeOptions> parseLifeOptions(int argc, const char* const* argv, std::ostream& out,
                                            std::ostream& errors, int& exitCode);

/// The file that `nameOrFile` means: itself if such a file exists or it looks like a path, else the
/// pattern of that name that comes with the samples. Throws PatternError that lists those patterns.
std::string findPattern(const std::string& nameOrFile);

/// Names of the patterns that come with the samples, sorted.
std::vector<std::string> shippedPatterns();

}  // namespace samples
