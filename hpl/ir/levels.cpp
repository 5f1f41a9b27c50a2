// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/levels.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "hpl/ir/detail/declared_once.h"
#include "hpl/ir/detail/literal.h"
#include "hpl/ir/detail/search.h"
#include "hpl/ir/rewrite.h"

namespace hpl::ir {
namespace {

/// Longer indices are not followed. A sum of that many scalars below kEndOfPeriodic does not
/// overflow.
constexpr int kMostNodes = 32;
constexpr std::uint64_t kMostPeriod = 16;

bool isWhole(const Type& type) { return type.isIntegerScalar() && type.scalar != Scalar::Bool; }

/// The periods of scalars (LevelScalar::period), by parameter.
using Periods = std::map<int, std::uint64_t>;

/// The period of a scalar that is used in both ways.
std::uint64_t common(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t period = a == 0 || b == 0 ? 0 : std::lcm(a, b);
  return period <= kMostPeriod ? period : 0;
}

void add(Periods& periods, int parameter, std::uint64_t period) {
  const auto [known, isNew] = periods.emplace(parameter, period);
  if (!isNew) known->second = common(known->second, period);
}

/// `sum % number`, where remainders of the scalars tell the value.
struct Remainder {
  const Expr* sum;
  std::uint64_t number;
};

class LevelReader {
 public:
  explicit LevelReader(const Function& entry) : once_(entry) {}

  /// The scalars of an index that is the same for all work-items; empty: it is none, or a number.
  Periods periodsOf(const Expr& index) {
    Periods periods;
    left_ = kMostNodes;
    return collect(index, 0, periods) ? periods : Periods{};
  }

  std::optional<Remainder> remainderOf(const Expr& expr) const {
    const auto* binary = expr.as<Binary>();
    if (binary == nullptr) return std::nullopt;
    const auto right = detail::numberOf(*binary->right);
    const bool isRemainder = binary->op == BinaryOp::Rem;
    if (!right || (!isRemainder && (binary->op != BinaryOp::BitAnd || *right != 1)))
      return std::nullopt;
    const std::uint64_t number = isRemainder ? static_cast<std::uint64_t>(*right) : 2;
    if (number < 2 || number > kMostPeriod) return std::nullopt;
    // -1 % 2 is -1, and 2^32 is no multiple of 3.
    int left = kMostNodes;
    const bool mayWrap = number == 2 && (!isRemainder || !binary->left->type.isSigned());
    return isSum(*binary->left, mayWrap, left) ? std::optional(Remainder{binary->left, number})
                                               : std::nullopt;
  }

  /// A parameter that the entry does not change; -1: it is none.
  int parameterOf(const Variable& variable) const {
    const bool isScalar = variable.paramIndex >= 0 && isWhole(variable.type) && variable.rank == 0;
    return isScalar && !once_.isAssigned(&variable) ? variable.paramIndex : -1;
  }
  const Expr* valueOf(const Variable& variable) const { return once_.valueOf(&variable); }

 private:
  /// A sum that is not negative; one that wraps or is negative keeps its last bit.
  bool isSum(const Expr& expr, bool mayWrap, int& left) const {
    if (!isWhole(expr.type) || --left < 0) return false;
    if (const auto number = detail::numberOf(expr)) return mayWrap || *number >= 0;
    if (const auto* cast = expr.as<Cast>())
      return (mayWrap || detail::isWide(expr.type)) && isSum(*cast->operand, mayWrap, left);
    if (const auto* ref = expr.as<VarRef>()) {
      if (parameterOf(*ref->variable) >= 0) return true;
      const Expr* value = valueOf(*ref->variable);
      return value != nullptr && isSum(*value, mayWrap, left);
    }
    const auto* binary = expr.as<Binary>();
    if (binary == nullptr) return false;
    const bool isLikeSum = binary->op == BinaryOp::Sub || binary->op == BinaryOp::BitXor;
    return (binary->op == BinaryOp::Add || (mayWrap && isLikeSum)) &&
           isSum(*binary->left, mayWrap, left) && isSum(*binary->right, mayWrap, left);
  }

  /// `period`: that of a remainder around the expression; 0: there is none.
  bool collect(const Expr& expr, std::uint64_t period, Periods& periods) {
    if (!isWhole(expr.type) || --left_ < 0) return false;
    if (expr.as<Constant>() != nullptr) return true;
    if (const auto* ref = expr.as<VarRef>()) {
      if (const int parameter = parameterOf(*ref->variable); parameter >= 0) {
        add(periods, parameter, period);
        return true;
      }
      const Expr* value = valueOf(*ref->variable);
      return value != nullptr && collect(*value, period, periods);
    }
    if (const auto remainder = remainderOf(expr))
      return collect(*remainder->sum, remainder->number, periods);
    // Where levels by these operators are small, so are the scalars.
    const auto* binary = expr.as<Binary>();
    const bool isKnown =
        binary != nullptr && (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub ||
                              binary->op == BinaryOp::Mul || binary->op == BinaryOp::BitXor);
    if (!isKnown && expr.as<Cast>() == nullptr) return false;
    bool all = true;
    forEachOperand(expr,
                   [&](const Expr& operand) { all = all && collect(operand, period, periods); });
    return all;
  }

  detail::DeclaredOnce once_;
  int left_ = 0;
};

class LevelWriter : public ExprRewriter {
 public:
  LevelWriter(const Kernel& kernel, std::span<const LevelScalar> scalars,
              std::span<const std::uint64_t> values)
      : ExprRewriter(*kernel.arena), reader_(*kernel.entry) {
    for (std::size_t i = 0; i < scalars.size(); ++i)
      known_[scalars[i].parameter] = {scalars[i].period, values[i]};
  }
  using ExprRewriter::rewrite;

 private:
  struct Known {
    std::uint64_t period = 0;
    std::uint64_t value = 0;
  };

  const Expr* replacementOf(const Expr* expr) override {
    if (const auto* ref = expr->as<VarRef>()) {
      const auto known = known_.find(reader_.parameterOf(*ref->variable));
      const bool isValue = known != known_.end() && known->second.period == 0;
      return isValue ? number(*expr, known->second.value) : withOthers(expr);
    }
    if (const auto remainder = reader_.remainderOf(*expr))
      if (const auto value = remainderOf(*remainder->sum, remainder->number))
        return number(*expr, *value);
    return withOthers(expr);
  }

  const Expr* number(const Expr& like, std::uint64_t value) {
    return make(like, like.type, Constant{value, 0});
  }

  /// The remainder of a sum (LevelReader::remainderOf); nothing where a scalar is not known.
  std::optional<std::uint64_t> remainderOf(const Expr& sum, std::uint64_t by) const {
    if (const auto number = detail::numberOf(sum)) return static_cast<std::uint64_t>(*number) % by;
    if (const auto* ref = sum.as<VarRef>()) {
      const int parameter = reader_.parameterOf(*ref->variable);
      if (parameter < 0) return remainderOf(*reader_.valueOf(*ref->variable), by);
      const auto found = known_.find(parameter);
      if (found == known_.end() || found->second.period % by != 0) return std::nullopt;
      return found->second.value % by;
    }
    std::uint64_t total = 0;
    bool isKnown = true;
    forEachOperand(sum, [&](const Expr& operand) {
      const auto part = isKnown ? remainderOf(operand, by) : std::nullopt;
      isKnown = part.has_value();
      total += part.value_or(0);
    });
    return isKnown ? std::optional(total % by) : std::nullopt;
  }

  LevelReader reader_;
  std::map<int, Known> known_;
};

}  // namespace

std::vector<LevelScalar> levelScalarsOf(const Kernel& kernel, const AccessSummary& summary) {
  if (kernel.entry->body == nullptr) return {};
  std::vector<const Variable*> inPlace;
  for (const ArrayAccess& access : summary.arrays)
    if (access.read && access.written && access.array->space == Space::Global)
      inPlace.push_back(access.array);
  if (inPlace.empty()) return {};
  LevelReader reader(*kernel.entry);
  std::map<int, LevelScalar> all;
  const auto note = [&](const Expr& expr) {
    const auto* access = expr.as<Access>();
    if (access == nullptr ||
        std::find(inPlace.begin(), inPlace.end(), access->array) == inPlace.end())
      return false;
    for (std::size_t d = 0; d < access->indices.size(); ++d)
      for (const auto& [parameter, period] : reader.periodsOf(*access->indices[d])) {
        LevelScalar& scalar = all[parameter];
        scalar.period = scalar.parameter < 0 ? period : common(scalar.period, period);
        scalar.parameter = parameter;
        const LevelScalar::Use use{access->array->paramIndex, d};
        if (std::find(scalar.uses.begin(), scalar.uses.end(), use) == scalar.uses.end())
          scalar.uses.push_back(use);
      }
    return false;
  };
  detail::Search(note).finds(*kernel.entry->body);
  std::vector<LevelScalar> scalars;
  scalars.reserve(all.size());
  for (auto& [parameter, scalar] : all) scalars.push_back(std::move(scalar));
  return scalars;
}

std::shared_ptr<const Kernel> withLevels(const Kernel& kernel, std::span<const LevelScalar> scalars,
                                         std::span<const std::uint64_t> values) {
  return withBody(kernel, LevelWriter(kernel, scalars, values).rewrite(kernel.entry->body));
}

}  // namespace hpl::ir
