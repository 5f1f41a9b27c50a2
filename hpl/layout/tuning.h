// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hpl {

/// How `eval(k).tune(...)` goes about it.
struct TuneOptions {
  /// At most, compilation included. Less time: fewer variants, the most promising ones first.
  double seconds = 60;
  /// Draws a bar on stderr; on anything but a terminal one line at the end.
  bool progress = false;
};

/// The result of `eval(k).tune(...)`.
struct TuneResult {
  /// The form that launches use from now on, and the one that they used without tuning; in the
  /// words of HPL_EXPLAIN.
  std::string choice;
  std::string defaultChoice;
  /// Seconds of one launch with each.
  double seconds = 0;
  double defaultSeconds = 0;
  /// Variants that a model did not rule out, and those that were measured in the time.
  int variants = 0;
  int measured = 0;
  /// The choice is not the default.
  bool changed = false;
  /// Where it is kept for later processes; empty: nowhere.
  std::string file;

  /// How many times as fast as the default.
  double speedup() const { return seconds > 0 ? defaultSeconds / seconds : 1; }
};

}  // namespace hpl
