// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/detail/declared_once.h"

/// Conditions that are true for every second work-item: `(idx + idy) % 2 == colour`.
namespace hpl::ir::detail {

class ColourFinder {
 public:
  explicit ColourFinder(const Function& entry) : entry_(entry) {}

  /// The colours of the work-items for which the condition is `truth`: one for each of its parts
  /// that must all be so. A part has the same number wherever it stands for the same colour.
  std::vector<Colour> coloursOf(const Expr& condition, bool truth);

 private:
  /// A number whose last bit is that of the sum of the ids along `axes` (bits), and maybe one more,
  /// the same for all work-items.
  struct Parity {
    unsigned axes = 0;
    /// It is that bit itself: 0 or 1.
    bool isBit = false;
    /// It is 0 where the bit is 0, else 1 or -1.
    bool isSignedBit = false;
  };
  void addColours(const Expr& condition, bool truth, std::vector<Colour>& colours);
  std::optional<Parity> parityOf(const Expr& expr);
  std::optional<Parity> parityOf(const Binary& binary);
  std::optional<Parity> remainderOf(const Binary& binary);
  std::optional<Parity> parityOf(const Variable* variable);
  /// The axes of a comparison that all those for which it is `truth` agree on; 0: none.
  unsigned axesOf(const Binary& comparison, bool truth);
  unsigned axesOf(const Expr& condition, bool truth);

  const Function& entry_;
  /// Once a condition names a variable.
  std::optional<DeclaredOnce> once_;
  std::vector<std::pair<const Expr*, bool>> numbered_;
  /// Expressions may share parts exponentially often.
  int nodesLeft_ = 0;
};

}  // namespace hpl::ir::detail
