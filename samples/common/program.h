// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>

#include "samples/common/device_choice.h"
#include "samples/common/io.h"

namespace samples {

/// What main() of a larger sample does: parse the command line, list the devices if asked to, else
/// run; errors go to stderr behind the program's name, with exit code 1.
template <class Options>
int programMain(const char* name, int argc, char** argv,
                std::optional<Options> (*parse)(int, const char* const*, std::ostream&,
                                                std::ostream&, int&),
                int (*run)(const Options&)) {
  try {
    int exitCode = 0;
    const auto options = parse(argc, argv, std::cout, std::cerr, exitCode);
    if (!options) return exitCode;
    if (options->run.device != "list") return run(*options);
    listDevices();
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::cerr << name << ": " << error.what() << '\n';
    return 1;
  }
}

/// The mode of a progress bar that --no-progress may have switched off.
inline Progress::Mode progressMode(bool wanted) {
  return wanted ? Progress::Mode::Auto : Progress::Mode::Off;
}

}  // namespace samples
