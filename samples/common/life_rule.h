// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace samples {

/// The finite board that a rule may name: `:T100,200` (torus) or `:P100,200` (plane with dead
/// edges). An extent of 0 is unlimited.
struct Board {
  enum class Kind { Unspecified, Torus, Plane };
  Kind kind = Kind::Unspecified;
  int width = 0;
  int height = 0;
  bool operator==(const Board&) const = default;
};

/// A two-state rule that counts the eight neighbours. Bit n of `birth` says that a dead cell with n
/// living neighbours comes alive, bit n of `survive` that a living one stays alive.
struct LifeRule {
  unsigned birth = 1u << 3;
  unsigned survive = 1u << 2 | 1u << 3;
  Board board = {};
  bool operator==(const LifeRule&) const = default;
};

/// Reads `B3/S23`, `b3s23`, `S23/B3`, the older `23/3` (survival first) and `Life`, each with an
/// optional board: `:T100,200`, `:T100` (square), `:P100,200`.
/// Throws std::invalid_argument whose message names the offending part and says what was expected.
LifeRule parseRule(std::string_view text);

/// The rule in the form that parseRule reads, `B3/S23:T100,200`.
std::string ruleText(const LifeRule& rule);

}  // namespace samples
