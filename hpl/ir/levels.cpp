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
constexpr std::int64_t kMostSubtracted = 1 << 16;

bool isWhole(const Type& type) { return type.isIntegerScalar() && type.scalar != Scalar::Bool; }

/// As in LevelScalar.
struct Period {
  std::uint64_t period = 0;
  std::uint64_t least = 0;
};

/// The periods of scalars, by parameter.
using Periods = std::map<int, Period>;

/// The period of a scalar that is used in both ways.
Period common(const Period& a, const Period& b) {
  const bool isPeriodic = a.period != 0 && b.period != 0;
  const std::uint64_t period = isPeriodic ? std::lcm(a.period, b.period) : 0;
  return {period <= kMostPeriod ? period : 0, std::max(a.least, b.least)};
}

void add(Periods& periods, int parameter, const Period& period) {
  const auto [known, isNew] = periods.emplace(parameter, period);
  if (!isNew) known->second = common(known->second, period);
}

/// `sum % number`, where remainders of the scalars tell the value if none is below `least`.
struct Remainder {
  const Expr* sum;
  std::uint64_t number;
  std::uint64_t least;
};

/// What LevelReader::isSum looks at, and has found.
struct SumSearch {
  bool mayWrap = false;
  int left = kMostNodes;
  std::uint64_t subtracted = 0;  ///< all numbers that are subtracted
  int scalars = 0;
};

class LevelReader {
 public:
  explicit LevelReader(const Function& entry) : once_(entry) {}

  /// The scalars of an index that is the same for all work-items; empty: it is none, or a number.
  Periods periodsOf(const Expr& index) {
    Periods periods;
    left_ = kMostNodes;
    return collect(index, {}, periods) ? periods : Periods{};
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
    SumSearch search;
    search.mayWrap = number == 2 && (!isRemainder || !binary->left->type.isSigned());
    if (!isSum(*binary->left, search)) return std::nullopt;
    return Remainder{binary->left, number, search.subtracted};
  }

  /// A parameter that the entry does not change; -1: it is none.
  int parameterOf(const Variable& variable) const {
    const bool isScalar = variable.paramIndex >= 0 && isWhole(variable.type) && variable.rank == 0;
    return isScalar && !once_.isAssigned(&variable) ? variable.paramIndex : -1;
  }
  const Expr* valueOf(const Variable& variable) const { return once_.valueOf(&variable); }

 private:
  /// A sum that is not negative where each scalar is as large as all numbers that are subtracted;
  /// one that wraps or is negative keeps its last bit.
  bool isSum(const Expr& expr, SumSearch& search) const {
    if (!isWhole(expr.type) || --search.left < 0) return false;
    if (const auto number = detail::numberOf(expr)) return search.mayWrap || *number >= 0;
    if (const auto* cast = expr.as<Cast>())
      return (search.mayWrap || detail::isWide(expr.type)) && isSum(*cast->operand, search);
    if (const auto* ref = expr.as<VarRef>()) {
      if (parameterOf(*ref->variable) >= 0) return ++search.scalars > 0;
      const Expr* value = valueOf(*ref->variable);
      return value != nullptr && isSum(*value, search);
    }
    const auto* binary = expr.as<Binary>();
    if (binary == nullptr) return false;
    if (binary->op == BinaryOp::Sub && !search.mayWrap) return isDifference(*binary, search);
    const bool isLikeSum = binary->op == BinaryOp::Sub || binary->op == BinaryOp::BitXor;
    return (binary->op == BinaryOp::Add || (search.mayWrap && isLikeSum)) &&
           isSum(*binary->left, search) && isSum(*binary->right, search);
  }

  /// A number less than a sum with a scalar in it.
  bool isDifference(const Binary& binary, SumSearch& search) const {
    const auto number = detail::numberOf(*binary.right);
    if (!number || *number < 0 || *number > kMostSubtracted) return false;
    const int scalarsBefore = search.scalars;
    search.subtracted += static_cast<std::uint64_t>(*number);
    return isSum(*binary.left, search) && search.scalars > scalarsBefore;
  }

  /// `period`: that of a remainder around the expression.
  bool collect(const Expr& expr, const Period& period, Periods& periods) {
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
      return collect(*remainder->sum, {remainder->number, remainder->least}, periods);
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
    bool isKnown = true, isSubtracted = false;
    const auto* binary = sum.as<Binary>();
    forEachOperand(sum, [&](const Expr& operand) {
      const auto part = isKnown ? remainderOf(operand, by) : std::nullopt;
      isKnown = part.has_value();
      const std::uint64_t value = part.value_or(0) % by;
      total += isSubtracted ? by - value : value;
      isSubtracted = binary != nullptr && binary->op == BinaryOp::Sub;
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
        const Period both =
            scalar.parameter < 0 ? period : common({scalar.period, scalar.least}, period);
        scalar.parameter = parameter;
        scalar.period = both.period;
        scalar.least = both.least;
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
