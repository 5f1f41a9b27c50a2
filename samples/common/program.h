// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>

#include "samples/common/device_choice.h"
#include "samples/common/io.h"
#include "samples/common/session.h"

namespace samples {

/// Keeps ranks other than the first one quiet: they would show the same again.
template <class Options>
void showOnFirstRank(const Session& session, Options& options) {
  options.run.progress = options.run.progress && session.isFirst();
  if constexpr (requires { options.png; }) options.png = session.file(options.png);
  if constexpr (requires { options.gif; }) options.gif = session.file(options.gif);
  if constexpr (requires { options.inputPng; }) options.inputPng = session.file(options.inputPng);
}

/// The main() of a larger sample: parses the command line, lists the devices if asked to, else
/// runs, on several ranks if there are any; errors go to stderr behind the program's name, with
/// exit code 1.
template <class Options>
int programMain(const char* name, int argc, char** argv,
                std::optional<Options> (*parse)(int, const char* const*, std::ostream&,
                                                std::ostream&, int&),
                int (*run)(const Options&)) {
  try {
    int exitCode = 0;
    auto options = parse(argc, argv, std::cout, std::cerr, exitCode);
    if (!options) return exitCode;
    const Session session(argc, argv);
    showOnFirstRank(session, *options);
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
