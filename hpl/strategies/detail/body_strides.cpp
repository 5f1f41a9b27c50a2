// SPDX-License-Identifier: Apache-2.0
// Elements that neighbours access side by side, two apart, or in pairs, in copied bodies. Multigrid
// and other methods of several resolutions read a[2 * idx] and a[idx / 2].
#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Expr;

namespace {

bool isWideInteger(const ir::Type& type) {
  return type.isScalar() && type.isInteger() && ir::sizeOf(type) >= 4;
}

ir::Component picked(const Expr* vector, int first, int count, int step) {
  ir::Component lanes{vector, {}};
  for (int i = 0; i < count; ++i)
    lanes.lanes.push_back(static_cast<std::uint8_t>(first + i * step));
  return lanes;
}

std::optional<int> knownGrowth(BinaryOp op, std::optional<int> left, std::optional<int> right) {
  if (!left || !right) return std::nullopt;
  const int result = op == BinaryOp::Add ? *left + *right : *left - *right;
  return result >= 0 && result <= 2 ? std::optional<int>(result) : std::nullopt;
}

}  // namespace

std::optional<int> BodyWriter::growth(const Expr& index) const {
  if (!variation_.differs(index)) return 0;
  if (const auto known = context_.interior.growth(index, context_.axis)) return known;
  if (!isWideInteger(index.type)) return std::nullopt;
  if (const auto* ref = index.as<ir::VarRef>()) {
    const Expr* value = context_.source.constantValue(ref->variable);
    return value != nullptr && context_.source.isPure(*value) ? growth(*value) : std::nullopt;
  }
  if (const auto* cast = index.as<ir::Cast>())
    return isWideInteger(cast->operand->type) ? growth(*cast->operand) : std::nullopt;
  const auto* binary = index.as<ir::Binary>();
  if (binary == nullptr) return std::nullopt;
  if (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub)
    return knownGrowth(binary->op, growth(*binary->left), growth(*binary->right));
  std::int64_t number = 0;
  const bool doubles =
      (binary->op == BinaryOp::Mul && isNumber(*binary->right, number) && number == 2) ||
      (binary->op == BinaryOp::Shl && isNumber(*binary->right, number) && number == 1);
  if (doubles && growth(*binary->left) == 1) return 2;
  const bool isDouble =
      binary->op == BinaryOp::Mul && isNumber(*binary->left, number) && number == 2;
  return isDouble && growth(*binary->right) == 1 ? std::optional<int>(2) : std::nullopt;
}

const Expr* BodyWriter::doubleOf(const Expr& index) {
  if (!isWideInteger(index.type)) return nullptr;
  if (const auto* ref = index.as<ir::VarRef>()) {
    const Expr* value = context_.source.constantValue(ref->variable);
    return value != nullptr && context_.source.isPure(*value) ? doubleOf(*value) : nullptr;
  }
  if (const auto* cast = index.as<ir::Cast>()) return doubleOf(*cast->operand);
  const auto* binary = index.as<ir::Binary>();
  std::int64_t number = 0;
  if (binary == nullptr || !isNumber(*binary->right, number)) return nullptr;
  const bool halves =
      (binary->op == BinaryOp::Div && number == 2) || (binary->op == BinaryOp::Shr && number == 1);
  if (!halves || growth(*binary->left) != 1) return nullptr;
  // Division rounds towards zero, which is downwards for no negative number only.
  const ir::IndexForm form = formOf(*binary->left);
  const bool isPositive =
      form.isAffine() && form.isExact() && form.axis == context_.axis && form.range.lo >= 0;
  return isPositive ? binary->left : nullptr;
}

BodyWriter::Spacing BodyWriter::spacingOf(const ir::Access& access) {
  const auto refuse = [&] {
    throw Refused{"neighbours access elements of '" + access.array->name +
                  "' that are not side by side" + at(where_)};
  };
  int total = 0;
  bool isHalf = false;
  const auto add = [&](const std::vector<const Expr*>& indices) {
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const auto own = growth(*indices[d]);
      if (own == 0) continue;
      const bool last = d + 1 == indices.size();
      if (!own && last && !isHalf && doubleOf(*indices[d]) != nullptr) {
        isHalf = true;
        continue;
      }
      if (!own || !last) refuse();
      total += *own;
    }
  };
  add(access.indices);
  const ir::Variable* array = access.array;
  while (array->role == ir::Role::Alias) {
    const Expr* target = context_.source.bindingOf(array);
    if (target == nullptr) throw Refused{"an alias moves" + at(where_)};
    const auto* element = target->as<ir::Access>();
    add(element->indices);
    array = element->array;
  }
  if (total > 2 || (isHalf && (total > 0 || access.array->role == ir::Role::Alias))) refuse();
  if (isHalf) return Spacing::InPairs;
  return total == 0 ? Spacing::Same : total == 1 ? Spacing::Each : Spacing::EverySecond;
}

bool BodyWriter::liesInRow(const ir::Access& access) {
  const Spacing spacing = spacingOf(access);
  if (spacing != Spacing::Same && spacing != Spacing::Each)
    throw Refused{"neighbours access elements of '" + access.array->name +
                  "' that are not side by side" + at(where_)};
  return spacing == Spacing::Each;
}

/// The even lanes of the vector that begins at the first lane's element, and the odd ones of the
/// vector that ends at the last lane's: nothing is read that no lane asked for.
const Expr* BodyWriter::everySecond(const ir::Access& access, const ir::Type& type) {
  std::string key;
  const ir::Access first = located(access, context_.lanes, key);
  ir::Access second = first;
  second.indices.back() = builder_.add(second.indices.back(), context_.lanes - 1);
  const int half = context_.lanes / 2;
  const ir::Type piece = widened(type.element(), half);
  const Expr* evens =
      builder_.make(piece, picked(keep("low", builder_.make(type, first)), 0, half, 2));
  const Expr* odds =
      builder_.make(piece, picked(keep("high", builder_.make(type, second)), 1, half, 2));
  return builder_.make(type, ir::Construct{{evens, odds}});
}

/// Even lanes have the elements from (first lane) / 2 on, odd ones those from (first lane + 1) / 2
/// on, whether the first lane's number is even or odd.
const Expr* BodyWriter::inPairs(const ir::Access& access, const ir::Type& type) {
  std::string key;
  const int half = context_.lanes / 2;
  const ir::Access first = located(access, half, key);
  ir::Access second = first;
  const Expr* whole = scalar(*doubleOf(*access.indices.back()));
  second.indices.back() = builder_.cast(
      builder_.binary(BinaryOp::Div, builder_.add(whole, 1), builder_.number(2, whole->type)),
      first.indices.back()->type);
  const ir::Type piece = widened(type.element(), half);
  const Expr* evens = keep("even", builder_.make(piece, first));
  const Expr* odds = keep("odd", builder_.make(piece, second));
  ir::Construct lanes;
  for (int lane = 0; lane < context_.lanes; ++lane)
    lanes.args.push_back(
        builder_.make(type.element(), picked(lane % 2 == 0 ? evens : odds, lane / 2, 1, 1)));
  return builder_.make(type, std::move(lanes));
}

BodyWriter::Value BodyWriter::loadApart(const Expr& expr, const ir::Access& access,
                                        Spacing spacing) {
  // Vectors with more lanes have no names for theirs.
  constexpr int kMostLanes = 16;
  if (context_.lanes < 4 || context_.lanes > kMostLanes || lazy_ || expr.type.isVector())
    throw Refused{"neighbours access elements of '" + access.array->name +
                  "' that are not side by side" + at(where_)};
  const ir::Type type = wide(storedScalar(expr.type));
  const Expr* value =
      spacing == Spacing::EverySecond ? everySecond(access, type) : inPairs(access, type);
  return {keep(access.array->name + "_at", value), Value::Kind::Vector};
}

}  // namespace hpl::strategies::detail
