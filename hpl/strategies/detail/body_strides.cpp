// SPDX-License-Identifier: Apache-2.0
// Elements that neighbours access side by side, two apart, or in pairs, in copied bodies. Multigrid
// and other methods of several resolutions read a[2 * idx] and a[idx / 2].
#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Expr;

namespace {

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
    if (variation_.strides().counts(ref->variable)) return 1;
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

void BodyWriter::refuseSpacing(const ir::Access& access) const {
  throw Refused{"neighbours access elements of '" + access.array->name +
                "' that are not side by side" + at(where_)};
}

/// Vectors with more lanes have no names for theirs; of fewer, nothing is gained.
void BodyWriter::requireFewLanes(const ir::Access& access) const {
  constexpr int kMostLanes = 16;
  if (context_.lanes < 4 || context_.lanes > kMostLanes) refuseSpacing(access);
}

BodyWriter::Spacing BodyWriter::spacingOf(const ir::Access& access) {
  int total = 0;
  bool isHalf = false;
  const auto add = [&](const std::vector<const Expr*>& indices) {
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const auto own = growth(*indices[d]);
      if (own == 0) continue;
      const bool last = d + 1 == indices.size();
      if (!own && last && !isHalf && doubleOf(*indices[d]) != nullptr) {
        // Every second id's half grows by one.
        if (context_.laneStep == 1) isHalf = true;
        if (context_.laneStep == 2) ++total;
        continue;
      }
      if (!own || !last) refuseSpacing(access);
      total += *own * context_.laneStep;
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
  if (total > 2 || (isHalf && (total > 0 || access.array->role == ir::Role::Alias)))
    refuseSpacing(access);
  if (isHalf) return Spacing::InPairs;
  return total == 0 ? Spacing::Same : total == 1 ? Spacing::Each : Spacing::EverySecond;
}

bool BodyWriter::liesInRow(const ir::Access& access) {
  const Spacing spacing = spacingOf(access);
  if (spacing != Spacing::Same && spacing != Spacing::Each) refuseSpacing(access);
  return spacing == Spacing::Each;
}

/// Nothing is read that lies beyond the first and the last lane's elements.
BodyWriter::Pair BodyWriter::pairAround(const ir::Access& access, const ir::Type& type) {
  std::string key;
  const ir::Access first = located(access, context_.lanes, key);
  ir::Access second = first;
  second.indices.back() = builder_.add(second.indices.back(), context_.lanes - 1);
  const Expr* lowPlace = builder_.make(type, first);
  const Expr* highPlace = builder_.make(type, second);
  return {lowPlace, highPlace, keep("low", lowPlace), keep("high", highPlace)};
}

/// The even lanes of the first vector, the odd ones of the second.
const Expr* BodyWriter::everySecond(const Pair& pair) {
  const ir::Type& type = pair.low->type;
  const int half = type.lanes / 2;
  const ir::Type piece = widened(type.element(), half);
  const Expr* evens = builder_.make(piece, picked(pair.low, 0, half, 2));
  const Expr* odds = builder_.make(piece, picked(pair.high, 1, half, 2));
  return builder_.make(type, ir::Construct{{evens, odds}});
}

void BodyWriter::storeApart(const ir::Access& access, const Expr* value, const Expr* mask) {
  requireFewLanes(access);
  const ir::Type& type = value->type;
  const Pair pair = pairAround(access, type);
  if (mask != nullptr) value = blend(mask, value, everySecond(pair));
  value = keep("result", value);
  // Lane `lane` of the stored vector: new ones at `lane` of the lanes with this parity.
  const auto mixed = [&](const Expr* old, int parity, int first) {
    ir::Construct lanes;
    for (int lane = 0; lane < type.lanes; ++lane)
      lanes.args.push_back(builder_.make(type.element(), lane % 2 == parity
                                                             ? picked(value, first + lane / 2, 1, 1)
                                                             : picked(old, lane, 1, 1)));
    return builder_.make(type, std::move(lanes));
  };
  builder_.assign(*out_, pair.lowPlace, mixed(pair.low, 0, 0), where_);
  builder_.assign(*out_, pair.highPlace, mixed(pair.high, 1, type.lanes / 2), where_);
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
  requireFewLanes(access);
  if (lazy_ || expr.type.isVector()) refuseSpacing(access);
  const ir::Type type = wide(storedScalar(expr.type));
  const Expr* value = spacing == Spacing::EverySecond ? everySecond(pairAround(access, type))
                                                      : inPairs(access, type);
  return {keep(access.array->name + "_at", value), Value::Kind::Vector};
}

}  // namespace hpl::strategies::detail
