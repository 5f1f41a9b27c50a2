// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/detail/tune_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hpl::layout {
namespace {

std::string clockText(double seconds) {
  const auto whole = std::lround(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// The share of points that were begun, which compiles; then the share of points that are out.
double shareDone(const tune::SearchProgress& progress) {
  if (progress.finished) return 1;
  const auto points = static_cast<double>(std::max<std::size_t>(1, progress.points));
  if (progress.round <= 1) return 0.7 * static_cast<double>(progress.begun) / points;
  return 0.7 + 0.3 * (1 - static_cast<double>(progress.remaining) / points);
}

}  // namespace

std::string tuneLine(const tune::SearchProgress& progress) {
  constexpr int kLength = 30;
  const int done = static_cast<int>(shareDone(progress) * kLength);
  const std::string bar = std::string(static_cast<std::size_t>(done), '#') +
                          std::string(static_cast<std::size_t>(kLength - done), '.');
  if (progress.finished)
    return fmt::format("[{}] {} of {} variants, {} rounds, in {}", bar, progress.begun,
                       progress.points, progress.round, clockText(progress.seconds));
  return fmt::format("[{}] {}/{} variants, round {}, {} of at most {}", bar,
                     progress.round <= 1 ? progress.begun : progress.remaining, progress.points,
                     progress.round, clockText(progress.seconds), clockText(progress.budget));
}

TuneBar::TuneBar(std::string kernel) : kernel_(std::move(kernel)), isTerminal_(isatty(2) != 0) {}

void TuneBar::update(const tune::SearchProgress& progress) {
  constexpr double kInterval = 0.1;
  if (!progress.finished && (!isTerminal_ || progress.seconds < nextDraw_)) return;
  nextDraw_ = progress.seconds + kInterval;
  const std::string line = fmt::format("tuning {} {}", kernel_, tuneLine(progress));
  // The end of a longer line before is cleared.
  std::fputs(fmt::format("{}{}{}{}", isTerminal_ ? "\r" : "", line, isTerminal_ ? "\x1b[K" : "",
                         progress.finished ? "\n" : "")
                 .c_str(),
             stderr);
}

}  // namespace hpl::layout
