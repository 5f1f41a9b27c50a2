// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace hpl::io {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);

std::string rateText(double rate) {
  if (rate >= 1e6) return fmt::format("{:.2f} M ", rate / 1e6);
  if (rate >= 1e3) return fmt::format("{:.2f} k ", rate / 1e3);
  return fmt::format("{:.1f} ", rate);
}

std::string clockText(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

int terminalColumns(std::FILE* stream) {
  winsize size = {};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

/// The batch that takes about one interval at the speed of the last one. It at most doubles, since
/// the first batches include compiling the kernel or run from a cold cache.
std::int64_t nextBatch(std::int64_t batch, std::int64_t count, double seconds) {
  constexpr std::int64_t most = 1 << 16;
  const double fitting = static_cast<double>(count) * 0.1 / std::max(seconds, 1e-9);
  return std::clamp(static_cast<std::int64_t>(std::min<double>(fitting, most)), std::int64_t{1},
                    std::min(most, 2 * batch));
}

}  // namespace

std::string detail::progressLine(std::int64_t done, std::int64_t total, double seconds,
                                 const std::string& unit, int columns) {
  const double share =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 1;
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = fmt::format(" {:3}% {}/{}  {}{}/s", static_cast<int>(share * 100), done, total,
                                 rateText(rate), unit);
  if (done >= total) {
    text += "  in " + clockText(seconds);
  } else if (rate > 0) {
    text += "  ETA " + clockText(static_cast<double>(total - done) / rate);
  }
  const int room = columns - static_cast<int>(text.size()) - 2;
  if (room < 4) return text.substr(1);
  const int length = std::min(room, 40);
  const int filled = static_cast<int>(share * length);
  return "[" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(length - filled), '.') + "]" + text;
}

Progress::Progress(std::int64_t total, std::string unit, Mode mode, std::FILE* stream)
    : total_(total),
      unit_(std::move(unit)),
      mode_(mode),
      stream_(stream),
      start_(Clock::now()),
      lastUpdate_(start_),
      nextDraw_(start_ + kInterval) {
  if (mode_ == Mode::Auto) mode_ = isatty(fileno(stream)) != 0 ? Mode::Bar : Mode::Plain;
}

Progress::~Progress() { finish(); }

void Progress::update(std::int64_t done) {
  const auto now = Clock::now();
  batch_ =
      nextBatch(batch_, done - done_, std::chrono::duration<double>(now - lastUpdate_).count());
  done_ = done;
  lastUpdate_ = now;
  if (mode_ != Mode::Bar || finished_) return;
  if (now < nextDraw_) return;
  nextDraw_ = now + kInterval;
  draw();
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  if (mode_ == Mode::Off) return;
  if (mode_ == Mode::Bar) {
    draw();
    std::fputc('\n', stream_);
  } else {
    fmt::print(stream_, "{}\n", detail::progressLine(done_, total_, seconds(), unit_, 0));
  }
  std::fflush(stream_);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::draw() {
  const std::string line =
      detail::progressLine(done_, total_, seconds(), unit_, terminalColumns(stream_) - 1);
  // Carriage return, the line, then erase what a longer line left behind.
  fmt::print(stream_, "\r{}\033[K", line);
  std::fflush(stream_);
}

}  // namespace hpl::io
