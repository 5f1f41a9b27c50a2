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

int parseDevices(const std::string& text) {
  if (text == "all") return kAllDevices;
  if (const int value = number(text); value > 0) return value;
  throw std::invalid_argument(
      fmt::format("--devices {}: expected 'all' or a number from 1 on", text));
}

/// Throws std::invalid_argument for options of several devices that contradict each other. As many
/// devices as weights, where those alone were given.
void resolveDevices(RunOptions& options) {
  const auto count = static_cast<int>(options.weights.size());
  if (options.devices == 0) options.devices = options.measuredWeights ? kAllDevices : count;
  if (options.devices > 0 && count > 0 && count != options.devices)
    throw std::invalid_argument(
        fmt::format("--weights: {} numbers for {} devices (--devices); give one for each", count,
                    options.devices));
  const bool isNumber = !options.device.empty() &&
                        options.device.find_first_not_of("0123456789") == std::string::npos;
  if (options.devices != 0 && isNumber)
    throw std::invalid_argument(
        fmt::format("--device {}: --devices and --weights choose among the devices of a type: give "
                    "gpu, cpu or accelerator",
                    options.device));
}

}  // namespace

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

void addDeviceOptions(CLI::App& app, RunOptions& options) {
  const auto add = [&app](const char* name, auto set, const char* type, const char* help) {
    app.add_option_function<std::string>(name, std::move(set), help)->type_name(type);
  };
  add(
      "--devices", [&options](const std::string& text) { options.devices = parseDevices(text); },
      "N", "n devices of the type of --device share the work, or 'all' (default: one device)");
  add(
      "--weights",
      [&options](const std::string& text) {
        options.measuredWeights = text == "measured";
        options.weights = options.measuredWeights ? std::vector<double>() : parseWeights(text);
      },
      "W1,W2,...", "shares of the devices, or 'measured' (default: equal)");
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

bool parseCommandLine(CLI::App& app, int argc, const char* const* argv, RunOptions& options,
                      const std::function<void()>& resolve, std::ostream& out, std::ostream& errors,
                      int& exitCode) {
  exitCode = 0;
  try {
    refuseEmptyArguments(argc, argv);
    app.parse(argc, argv);
    if (options.device == "list") return true;
    resolveDevices(options);
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
