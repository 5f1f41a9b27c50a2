// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/tune/search.h"

namespace hpl::layout {

/// "[#####.....]  12/40 variants, round 1, 0:04 of at most 1:00".
std::string tuneLine(const tune::SearchProgress& progress);

/// The line on stderr, for `TuneOptions::progress`: redrawn at most ten times a second on a
/// terminal, written once at the end on anything else.
class TuneBar {
 public:
  explicit TuneBar(std::string kernel);
  void update(const tune::SearchProgress& progress);

 private:
  std::string kernel_;
  bool isTerminal_;
  double nextDraw_ = 0;
};

}  // namespace hpl::layout
