// SPDX-License-Identifier: Apache-2.0
// Conditions in copied bodies that are looked up instead of computed.
#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;

/// A condition of one variable's equality with numbers, and of another condition at most.
struct BodyWriter::Tests {
  const ir::Variable* variable = nullptr;
  int count = 0;
  const Expr* other = nullptr;
  /// The other condition is computed in any case, rather than only if it decides.
  bool always = false;
  /// The outcomes for each value of the variable below kMost, and for all others (kMost), where the
  /// other condition holds and where it does not.
  std::uint32_t yes = 0;
  std::uint32_t no = 0;
  static constexpr std::int64_t kMost = 31;
};

bool BodyWriter::testsOf(const Expr& expr, bool always, Tests& tests) const {
  if (context_.interior.truth(expr)) return false;
  const auto* binary = expr.as<ir::Binary>();
  if (binary != nullptr &&
      (binary->op == BinaryOp::LogicalAnd || binary->op == BinaryOp::LogicalOr)) {
    Tests right = tests;
    if (!testsOf(*binary->left, always, tests)) return false;
    right.variable = tests.variable;
    right.count = tests.count;
    right.other = tests.other;
    right.always = tests.always;
    if (!testsOf(*binary->right, false, right)) return false;
    const bool isAnd = binary->op == BinaryOp::LogicalAnd;
    right.yes = isAnd ? tests.yes & right.yes : tests.yes | right.yes;
    right.no = isAnd ? tests.no & right.no : tests.no | right.no;
    tests = right;
    return true;
  }
  if (const auto* unary = expr.as<ir::Unary>(); unary && unary->op == ir::UnaryOp::LogicalNot) {
    if (!testsOf(*unary->operand, always, tests)) return false;
    tests.yes = ~tests.yes;
    tests.no = ~tests.no;
    return true;
  }
  const auto* ref = binary != nullptr ? binary->left->as<ir::VarRef>() : nullptr;
  std::int64_t number = 0;
  if (ref != nullptr && (binary->op == BinaryOp::Eq || binary->op == BinaryOp::Ne) &&
      binary->left->type == kInt && isNumber(*binary->right, number) && number >= 0 &&
      number < Tests::kMost && (tests.variable == nullptr || tests.variable == ref->variable) &&
      variation_.differs(ref->variable)) {
    tests.variable = ref->variable;
    ++tests.count;
    tests.yes = binary->op == BinaryOp::Eq ? 1u << number : ~(1u << number);
    tests.no = tests.yes;
    return true;
  }
  if (tests.other != nullptr) return false;
  tests.other = &expr;
  tests.always = always;
  tests.yes = ~0u;
  tests.no = 0;
  return true;
}

/// `n == 3 || (c && n == 2)` as `(c ? 12 : 8) >> n & 1`: machines compute with truth values of
/// vectors more slowly than they shift. Null: the expression is another one.
const Expr* BodyWriter::tableOfTests(const Expr& expr) {
  Tests tests;
  if (!testsOf(expr, true, tests) || tests.count < 2) return nullptr;
  const auto number = [&](std::uint32_t value) {
    return splat(builder_.number(value, kUint), Scalar::Uint);
  };
  const Expr* table = number(tests.no);
  if (tests.other != nullptr) {
    const Flagged vain(speculative_, !tests.always);
    table = blend(mask(convert(*tests.other)), number(tests.yes), number(tests.no));
  }
  const Expr* value =
      builder_.cast(builder_.ref(copyOf(tests.variable)), widened(kUint, context_.lanes));
  const Expr* most = number(Tests::kMost);
  value = builder_.select(builder_.binary(BinaryOp::Lt, value, most), value, most);
  const Expr* bit =
      builder_.binary(BinaryOp::BitAnd, builder_.binary(BinaryOp::Shr, table, value), number(1));
  return builder_.cast(bit, widened(kInt, context_.lanes));
}

}  // namespace hpl::strategies::detail
