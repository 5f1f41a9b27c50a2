// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <vector>

/// The options from a sample's command line.
template <class Options>
struct Parsed {
  std::optional<Options> options;
  int exitCode = -1;
  std::string out;
  std::string errors;
};

/// Parses a command line (without the program's name) by a sample's parseOptions.
template <class Options>
Parsed<Options> parsedBy(std::optional<Options> (*parse)(int, const char* const*, std::ostream&,
                                                         std::ostream&, int&),
                         std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  std::ostringstream out;
  std::ostringstream errors;
  Parsed<Options> parsed;
  parsed.options =
      parse(static_cast<int>(arguments.size()), arguments.data(), out, errors, parsed.exitCode);
  parsed.out = out.str();
  parsed.errors = errors.str();
  return parsed;
}
