// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace hpl::io {

namespace detail {

/// One line of progress: `[#####.....]  50% 500/1000  1.2 k generations/s  ETA 0:04`, no longer
/// than `columns` characters where that is possible (the bar takes what the text leaves).
std::string progressLine(std::int64_t done, std::int64_t total, double seconds,
                         const std::string& unit, int columns);

}  // namespace detail

/// A progress bar on a stream: redrawn at most ten times a second on a terminal; on anything else,
/// a log file for instance, one plain line at the end.
class Progress {
 public:
  enum class Mode { Auto, Bar, Plain, Off };

  /// `unit` is what is counted, in the plural. Auto draws a bar if `stream` is a terminal.
  Progress(std::int64_t total, std::string unit, Mode mode = Mode::Auto,
           std::FILE* stream = stderr);
  /// Finishes the line if finish() was not called, so that later output starts on its own line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Says how many units are done. Cheap: looks at the clock and rarely draws.
  void update(std::int64_t done);

  /// The same as the question of StencilProgram::every(), which it answers with "go on":
  /// `program.every(100, std::ref(progress)).run(steps)`.
  bool operator()(std::int64_t done) {
    update(done);
    return false;
  }

  /// How many units to do before the next update() so that updates come about ten times a second:
  /// what a loop of asynchronous launches does before it waits for the device.
  std::int64_t batch() const { return batch_; }

  /// Draws the final state. Later calls do nothing.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  double seconds() const;
  void draw();

  std::int64_t total_;
  std::int64_t done_ = 0;
  std::int64_t batch_ = 1;
  std::string unit_;
  Mode mode_;
  std::FILE* stream_;
  Clock::time_point start_;
  Clock::time_point lastUpdate_;
  Clock::time_point nextDraw_;
  bool finished_ = false;
};

}  // namespace hpl::io
