// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "samples/common/raster.h"

namespace CLI {
class App;
}

namespace samples {

/// How the host distributes the work (stencil paper, Section 2.2 and Table II).
enum class Style {
  Single,       ///< one device
  Subarrays,    ///< explicit views in a loop over devices; ghosts updated by hand
  Annotations,  ///< PART1(a, r); ghosts updated by hand
  Sync,         ///< PART1(a, r) and syncGhosts()
  Auto,         ///< eval(k).devices(...) alone: the library distributes
  Stencil,      ///< point functions: the library distributes, and knows the borders
  Template      ///< PART1(a, r), syncGhosts(), and kernels of the in-kernel stencil templates
};

/// The word that --style takes.
const char* styleName(Style style);

/// The options that all larger samples have. Those of several devices are checked against each
/// other by parseCommandLine; ghostWidth() checks that one against the stencil.
struct RunOptions {
  int iterations = 1;
  std::string device;  ///< empty: the library's choice; `list`; a number; or a type
  bool check = false;
  bool progress = true;
  Style style = Style::Single;
  int devices = 0;              ///< how many of the type that `device` names; 0: all
  std::vector<double> weights;  ///< one per device, in proportion; empty: equal
  bool measuredWeights = false;
  int ghostWidth = 0;  ///< rows of ghosts on each side of a part; 0: as few as possible
};

/// Adds --iterations, --device, --check and --no-progress. `options.iterations` is the default;
/// `meaning` says what one iteration is.
void addRunOptions(CLI::App& app, RunOptions& options, const std::string& meaning);

/// Adds --style, --devices, --weights and --ghost-width, for samples that run on several devices.
void addStyleOptions(CLI::App& app, RunOptions& options);

/// The rows of ghosts that a run with a stencil of `radius` rows has: what --ghost-width says, else
/// `radius`. Throws std::invalid_argument that names the option if it says less than `radius`.
int ghostWidth(const RunOptions& options, int radius);

/// The numbers of `text`, separated by commas. Throws std::invalid_argument that names --weights,
/// the text and what was expected, unless all are positive and finite.
std::vector<double> parseWeights(const std::string& text);

/// What --size accepts: `paper`, one number for both sides, or `WIDTHxHEIGHT`.
struct SizeRange {
  Extent paper;  ///< what `paper` means: the size in Table I of the paper
  int smallest;  ///< of each side
  int largest;
};

/// The extent that `text` names. Throws std::invalid_argument that names the option, the text and
/// what was expected.
Extent parseExtent(const std::string& text, const SizeRange& range);

/// The help text of a --size option that parseExtent reads.
std::string sizeHelp(const SizeRange& range);

/// Parses the command line, checks that the options of several devices fit together, then calls
/// `resolve` unless --device list was given (a wrong value must not stand in its way). Returns
/// false if the program is to end with `exitCode`: after --help (0), or after a message on `errors`
/// about a wrong option (1); std::invalid_argument from `resolve` is such a message too.
bool parseCommandLine(CLI::App& app, int argc, const char* const* argv, const RunOptions& options,
                      const std::function<void()>& resolve, std::ostream& out, std::ostream& errors,
                      int& exitCode);

}  // namespace samples
