// SPDX-License-Identifier: Apache-2.0
#include "samples/common/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "samples/common/arguments.h"

namespace samples {
namespace {

/// A positive number that is all of `text`; 0 for anything else.
int number(std::string_view text) {
  int value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? value : 0;
}

constexpr std::pair<const char*, Style> kStyles[] = {{"single", Style::Single},
                                                     {"subarrays", Style::Subarrays},
                                                     {"annotations", Style::Annotations},
                                                     {"sync", Style::Sync},
                                                     {"auto", Style::Auto},
                                                     {"stencil", Style::Stencil},
                                                     {"template", Style::Template}};

Style parseStyle(const std::string& text) {
  for (const auto& [name, style] : kStyles) {
    if (text == name) return style;
  }
  throw std::invalid_argument(fmt::format(
      "--style {}: expected single, subarrays, annotations, sync, auto, stencil or template",
      text));
}

int parseCount(const char* option, const std::string& text) {
  if (const int value = number(text); value > 0) return value;
  throw std::invalid_argument(fmt::format("{} {}: expected a number from 1 on", option, text));
}

/// Throws std::invalid_argument for options that contradict each other.
void checkStyle(const RunOptions& options) {
  const bool single = options.style == Style::Single;
  const bool weighted = options.measuredWeights || !options.weights.empty();
  const auto refuse = [](std::string_view option, std::string_view reason) {
    throw std::invalid_argument(fmt::format("{}: {}", option, reason));
  };
  if (single && (options.devices != 0 || weighted || options.ghostWidth != 0)) {
    refuse(options.devices != 0 ? "--devices"
           : weighted           ? "--weights"
                                : "--ghost-width",
           "style single runs on one device; choose another --style");
  }
  const bool isNumber = !options.device.empty() &&
                        options.device.find_first_not_of("0123456789") == std::string::npos;
  if (!single && isNumber) {
    refuse("--device " + options.device,
           fmt::format("style {} runs on all devices of a type: give gpu, cpu or accelerator, and "
                       "--devices for some of them",
                       styleName(options.style)));
  }
  if ((options.style == Style::Auto || options.style == Style::Stencil) &&
      options.ghostWidth != 0) {
    refuse("--ghost-width", fmt::format("style {} has no ghosts to widen; the library moves what "
                                        "is needed",
                                        styleName(options.style)));
  }
  if (options.measuredWeights &&
      (options.style == Style::Subarrays || options.style == Style::Annotations)) {
    refuse("--weights measured",
           fmt::format("style {} updates ghosts by hand and needs numbers to know where they are; "
                       "styles sync and auto can measure",
                       styleName(options.style)));
  }
  if (weighted && options.style == Style::Template)
    refuse("--weights", "style template prepares equal shares; choose another --style");
  const auto count = static_cast<int>(options.weights.size());
  if (options.devices != 0 && count != 0 && count != options.devices) {
    refuse("--weights", fmt::format("{} numbers for {} devices (--devices); give one for each",
                                    count, options.devices));
  }
}

}  // namespace

const char* styleName(Style style) {
  for (const auto& [name, value] : kStyles) {
    if (style == value) return name;
  }
  throw std::invalid_argument("no such style");
}

std::vector<double> parseWeights(const std::string& text) {
  std::vector<double> weights;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    double value = 0;
    const auto parsed = std::from_chars(text.data() + begin, text.data() + end, value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + end || !std::isfinite(value) ||
        value <= 0) {
      throw std::invalid_argument(
          fmt::format("--weights {}: expected 'measured', or positive numbers separated by commas, "
                      "one for each device",
                      text));
    }
    weights.push_back(value);
    begin = end + 1;
  }
  return weights;
}

int ghostWidth(const RunOptions& options, int radius) {
  if (options.ghostWidth == 0 || options.ghostWidth >= radius) {
    return std::max(options.ghostWidth, radius);
  }
  throw std::invalid_argument(
      fmt::format("--ghost-width {}: the stencil reads {} rows up and down; give {} or more",
                  options.ghostWidth, radius, radius));
}

void addRunOptions(CLI::App& app, RunOptions& options, const std::string& meaning) {
  app.add_option("-n,--iterations", options.iterations, meaning)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("-d,--device", options.device,
                 "list, a number of that list, or a type: gpu, cpu, accelerator (default: the "
                 "first GPU, else accelerator, else CPU)");
  app.add_flag("--check", options.check, "compare the result with a computation on the host");
  app.add_flag_callback(
      "--no-progress", [&options] { options.progress = false; }, "no progress bar");
}

void addStyleOptions(CLI::App& app, RunOptions& options) {
  const auto add = [&app](const char* name, auto set, const char* type, const char* help) {
    app.add_option_function<std::string>(name, std::move(set), help)->type_name(type);
  };
  add(
      "--style", [&options](const std::string& text) { options.style = parseStyle(text); }, "STYLE",
      "how the host distributes the work: single (one device), subarrays, annotations, sync, "
      "auto, stencil or template (default: single)");
  add(
      "--devices",
      [&options](const std::string& text) { options.devices = parseCount("--devices", text); },
      "NUMBER", "run on so many devices of --device's type (default: all)");
  add(
      "--weights",
      [&options](const std::string& text) {
        options.measuredWeights = text == "measured";
        options.weights = options.measuredWeights ? std::vector<double>() : parseWeights(text);
      },
      "W1,W2,...", "shares of the devices, or 'measured' (default: equal)");
  add(
      "--ghost-width",
      [&options](const std::string& text) {
        options.ghostWidth = parseCount("--ghost-width", text);
      },
      "ROWS",
      "ghosts of each part on each side: more than the stencil reads means fewer exchanges");
}

std::string sizeHelp(const SizeRange& range) {
  return fmt::format("a number for both sides, WIDTHxHEIGHT, or 'paper' ({}x{})", range.paper.width,
                     range.paper.height);
}

Extent parseExtent(const std::string& text, const SizeRange& range) {
  if (text == "paper") return range.paper;
  const std::size_t cross = text.find('x');
  const bool square = cross == std::string::npos;
  const std::string_view all = text;
  const int width = number(square ? all : all.substr(0, cross));
  const int height = square ? width : number(all.substr(cross + 1));
  const auto fits = [&](int side) { return side >= range.smallest && side <= range.largest; };
  if (fits(width) && fits(height)) return {height, width};
  throw std::invalid_argument(fmt::format("--size {}: expected {}, each side from {} to {}", text,
                                          sizeHelp(range), range.smallest, range.largest));
}

bool parseCommandLine(CLI::App& app, int argc, const char* const* argv, const RunOptions& options,
                      const std::function<void()>& resolve, std::ostream& out, std::ostream& errors,
                      int& exitCode) {
  exitCode = 0;
  try {
    refuseEmptyArguments(argc, argv);
    app.parse(argc, argv);
    if (options.device == "list") return true;
    checkStyle(options);
    resolve();
    return true;
  } catch (const CLI::ParseError& error) {
    exitCode = app.exit(error, out, errors) == 0 ? 0 : 1;
  } catch (const std::invalid_argument& error) {
    errors << error.what() << '\n';
    exitCode = 1;
  }
  return false;
}

}  // namespace samples
