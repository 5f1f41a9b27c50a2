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

/// RunOptions::devices for all of a type.
constexpr int kAllDevices = -1;

/// The options that all larger samples have.
struct RunOptions {
  int iterations = 1;
  std::string device;  ///< empty: the library's choice; `list`; a number; or a type
  bool check = false;
  bool progress = true;
  /// How many of the type that `device` names share the work; kAllDevices; 0: `device` alone.
  int devices = 0;
  std::vector<double> weights;  ///< one per device, in proportion; empty: equal
  bool measuredWeights = false;
};

/// Adds --iterations, --device, --check and --no-progress. `options.iterations` is the default;
/// `meaning` says what one iteration is.
void addRunOptions(CLI::App& app, RunOptions& options, const std::string& meaning);

/// Adds --devices and --weights, for samples that run on several devices.
void addDeviceOptions(CLI::App& app, RunOptions& options);

/// The numbers of `text`, separated by commas. Throws std::invalid_argument that names --weights,
/// the text and what was expected, unless all are positive and finite.
std::vector<double> parseWeights(const std::string& text);

/// The values of --size: `paper`, one number for both sides, or `WIDTHxHEIGHT`.
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
bool parseCommandLine(CLI::App& app, int argc, const char* const* argv, RunOptions& options,
                      const std::function<void()>& resolve, std::ostream& out, std::ostream& errors,
                      int& exitCode);

}  // namespace samples
