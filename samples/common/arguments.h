// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

/// Checks of command lines that all samples make.
namespace samples {

/// Throws std::invalid_argument if an argument is empty, or an option ends with "=": an unset shell
/// variable is a likelier reason than a wish.
inline void refuseEmptyArguments(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (!text.empty() && !(text.starts_with("--") && text.ends_with("="))) continue;
    const std::string of =
        text.empty() ? (i > 1 ? std::string(argv[i - 1]) + " ''" : "''") : std::string(text);
    throw std::invalid_argument(of + ": the value is empty; give one, or leave the option out");
  }
}

/// For CLI::Option::check: ranges of CLI11 let NaN pass.
inline std::string finiteNumber(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(value)) return {};
  return "'" + text + "' is no finite number";
}

/// The only argument of a small sample.
struct NumberArgument {
  const char* program;
  const char* meaning;
  int usual;
  int least;
  int most;
  int multipleOf = 1;
};

/// The number on the command line, or the usual one; --help prints the usage and ends the program.
/// Throws std::invalid_argument for anything else.
inline int numberArgument(int argc, const char* const* argv, const NumberArgument& wanted) {
  const std::string range =
      "from " + std::to_string(wanted.least) + " to " + std::to_string(wanted.most) +
      (wanted.multipleOf > 1 ? ", a multiple of " + std::to_string(wanted.multipleOf) : "");
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--help" && std::string_view(argv[i]) != "-h") continue;
    std::printf("Usage: %s [NUMBER]\n  NUMBER: %s, %s (default: %d)\n", wanted.program,
                wanted.meaning, range.c_str(), wanted.usual);
    std::exit(0);
  }
  if (argc <= 1) return wanted.usual;
  if (argc > 2)
    throw std::invalid_argument("expected one argument, " + std::string(wanted.meaning));
  const std::string_view text = argv[1];
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isNumber = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (!isNumber || number < wanted.least || number > wanted.most || number % wanted.multipleOf != 0)
    throw std::invalid_argument("'" + std::string(text) + "': expected " + wanted.meaning + ", " +
                                range);
  return number;
}

}  // namespace samples
