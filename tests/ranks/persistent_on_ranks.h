// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <string>

#include "program_on_ranks.h"
#include "tests/stencil_templates/persistent_support.h"

/// Iterations in one launch on each of several ranks.
namespace ranks_tests {

using Program = std::function<std::string(bool isKept)>;

/// Whether groups of two ranks can wait for each other here: the machine has two units.
inline bool canSpinOnTwo() {
  return saidOn(2, 1, [] { return hpl::stencils::whyNotSpinning(hpl::devices(), 1, 1); }).empty();
}

/// In one launch on each of two ranks, of one node or of two, the program says what it says of
/// launches in one process.
inline void expectAsLaunched(const Program& program) {
  if (!canSpinOnTwo()) return;
  const std::string expected = saidOn(1, 1, [&] { return program(false); });
  CHECK(saidOn(2, 1, [&] { return program(true); }) == expected);
  CHECK(saidOnNodes(2, 1, 1, [&] { return program(true); }) == expected);
}

template <class T, int N>
std::string bitsOf(const hpl::Array<T, N>& cells) {
  std::string text;
  for (const T value : stencil_tests::cellsOf(cells)) text += fmt::format("{:a} ", double(value));
  return text + "\n";
}

inline hpl::StencilLauncher onAll(hpl::StencilLauncher launcher) {
  launcher.devices(hpl::devices());
  return launcher;
}

/// One launch, unless a loaded machine has made groups give up.
inline std::string launchesOf(const hpl::StencilRun& run, bool isKept, std::int64_t expected = 1) {
  if (!isKept || hpl::stencils::hasGivenUp(hpl::devices()) || run.launches == expected) return "";
  return fmt::format("{} launches ", run.launches);
}

}  // namespace ranks_tests
