// SPDX-License-Identifier: Apache-2.0
// Elements of arrays in copied bodies.
#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

using ir::Expr;
using ir::IndexForm;
using ir::Variable;

namespace {

bool isShared(const Variable& array) {
  return array.space == ir::Space::Global || array.space == ir::Space::Constant;
}

}  // namespace

const Expr* BodyWriter::id(int axis, std::int64_t offset) {
  const auto a = static_cast<std::size_t>(axis);
  return builder_.add(place_.base[a], place_.shift[a] + offset);
}

/// Bounds of this copy's id are those of its base, `shift` before it. Not so along rows: there they
/// hold for all ids that the copies compute together.
std::int64_t BodyWriter::distanceOf(std::size_t axis) const {
  return static_cast<int>(axis) == context_.axis ? 0 : place_.shift[axis];
}

/// The operand of && or || that decides by itself, rather along a slow axis: rows stay whole. Null:
/// both operands are needed.
const Expr* BodyWriter::decisiveOf(const Expr& condition) const {
  const auto* binary = condition.as<ir::Binary>();
  if (binary == nullptr ||
      (binary->op != ir::BinaryOp::LogicalAnd && binary->op != ir::BinaryOp::LogicalOr))
    return nullptr;
  const bool decisive = binary->op == ir::BinaryOp::LogicalOr;
  const bool left = context_.interior.truth(*binary->left) == decisive;
  const bool right = context_.interior.truth(*binary->right) == decisive;
  if (left && right) return cutsRows(*binary->left) ? binary->right : binary->left;
  return left ? binary->left : right ? binary->right : nullptr;
}

/// Whether the condition holds for a part of a row.
bool BodyWriter::cutsRows(const Expr& condition) const {
  if (const auto decision = context_.interior.decision(condition))
    return decision->axis == context_.axis;
  if (const Expr* alone = decisiveOf(condition)) return cutsRows(*alone);
  bool cuts = false;
  ir::forEachOperand(condition, [&](const Expr& operand) { cuts = cuts || cutsRows(operand); });
  return cuts;
}

void BodyWriter::settle(const Expr& condition) {
  if (const auto* ref = condition.as<ir::VarRef>()) {
    const Expr* value = context_.source.constantValue(ref->variable);
    if (value != nullptr) settle(*value);
    return;
  }
  if (const auto decision = context_.interior.decision(condition)) {
    if (!settled_.insert(&condition).second) return;
    std::array<const Expr*, 3> ids{};
    for (int axis = 0; axis < 3; ++axis) ids[static_cast<std::size_t>(axis)] = id(axis);
    Hoister::Bounds found;
    context_.hoister.bound(*decision, ids, found);
    context_.decided.emplace(&condition, DecidedComparison{*decision, found});
    const auto axis = static_cast<std::size_t>(decision->axis);
    const std::int64_t shift = distanceOf(axis);
    for (const Expr* lower : found.lower)
      context_.bounds[axis].lower.push_back(builder_.add(lower, -shift));
    for (const Expr* upper : found.upper)
      context_.bounds[axis].upper.push_back(builder_.add(upper, -shift));
    for (const Expr* point : found.points)
      context_.bounds[axis].points.push_back(builder_.add(point, -shift));
    return;
  }
  if (const Expr* alone = decisiveOf(condition)) return settle(*alone);
  ir::forEachOperand(condition, [&](const Expr& operand) { settle(operand); });
}

IndexForm BodyWriter::formOf(const Expr& index) {
  if (const auto* ref = index.as<ir::VarRef>()) {
    const Expr* value = context_.source.constantValue(ref->variable);
    if (value != nullptr) return formOf(*value);
  }
  const bool wide = index.type.isScalar() && index.type.isInteger() && ir::sizeOf(index.type) >= 4;
  if (const auto* cast = index.as<ir::Cast>(); cast != nullptr && wide) {
    const ir::Type& from = cast->operand->type;
    if (from.isScalar() && from.isInteger() && ir::sizeOf(from) >= 4) return formOf(*cast->operand);
  }
  if (const auto* select = index.as<ir::Select>()) {
    if (const auto settled = context_.interior.truth(*select->condition)) {
      settle(*select->condition);
      return formOf(*settled ? *select->yes : *select->no);
    }
  }
  const auto* sum = index.as<ir::Binary>();
  std::int64_t value = 0;
  if (sum != nullptr && wide && isNumber(*sum->right, value) &&
      (sum->op == ir::BinaryOp::Add || sum->op == ir::BinaryOp::Sub)) {
    IndexForm form = formOf(*sum->left);
    if (form.isUnknown() && !form.isFlat()) return form;
    const std::int64_t offset = sum->op == ir::BinaryOp::Add ? value : -value;
    ir::Interval& range = form.isFlat() ? form.flat.offsets.front() : form.range;
    range = {range.lo + offset, range.hi + offset};
    return form;
  }
  return context_.source.formOf(index);
}

std::vector<IndexForm> BodyWriter::formsOf(const ir::Access& access) {
  std::vector<IndexForm> forms;
  for (const Expr* index : access.indices) forms.push_back(formOf(*index));
  return forms;
}

bool BodyWriter::isOutside(const Tile& tile, const ir::Access& access) {
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const IndexForm form = formOf(*access.indices[d]);
    if (!form.isAffine() || form.axis != tile.axis[d] || form.range.lo < tile.offsets[d].lo ||
        form.range.hi > tile.offsets[d].hi)
      return true;
  }
  return false;
}

std::optional<ir::Access> BodyWriter::tiled(const ir::Access& access, int lanes, std::string& key) {
  if (context_.tiles == nullptr) return std::nullopt;
  const auto found = context_.tiles->find(access.array);
  if (found == context_.tiles->end()) return std::nullopt;
  const Tile& tile = found->second;
  if (!tile.offsets.empty() && isOutside(tile, access)) return std::nullopt;
  ir::Access element{tile.memory, {}, static_cast<std::uint8_t>(lanes)};
  bool exact = true;
  std::string position = access.array->name;
  if (tile.start != nullptr) {
    element.indices.push_back(distanceInTile(tile, access));
    for (const Expr* index : access.indices) {
      const IndexForm form = formOf(*index);
      exact = exact && form.isExact();
      position += positionOf(form);
    }
    if (exact) key = std::move(position);
    return element;
  }
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const IndexForm form = formOf(*access.indices[d]);
    const Expr* index = form.isExact() ? id(form.axis, form.range.lo)
                                       : builder_.cast(scalar(*access.indices[d]), kUlong);
    element.indices.push_back(
        builder_.binary(ir::BinaryOp::Sub, index, builder_.ref(tile.origin[d])));
  }
  return element;
}

/// The start for the offset of an index along the tile's ring axis.
const Expr* BodyWriter::startInRing(const Tile& tile, const Expr& index, const IndexForm& form) {
  const std::int64_t shift = place_.shift[static_cast<std::size_t>(tile.ringAxis)];
  if (form.isExact() && form.isAffine()) return tile.starts.at(form.range.lo + shift);
  const Expr* at = builder_.cast(scalar(index), kUlong);
  const Expr* start = tile.start;
  for (const auto& [offset, other] : tile.starts) {
    const Expr* isThere = builder_.binary(ir::BinaryOp::Eq, at, id(tile.ringAxis, offset - shift));
    start = builder_.select(isThere, other, start);
  }
  return start;
}

/// The index of an element in a tile of one dimension: the known part of it is one number, which
/// machines add to an address for nothing; or, with `along`, one of the row and one of the place in
/// it, in which alone what neighbours along the row read differs.
const Expr* BodyWriter::distanceInTile(const Tile& tile, const ir::Access& access) {
  const Expr* index = tile.start;
  std::int64_t ofRow = 0;
  std::int64_t inRow = 0;
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const IndexForm form = formOf(*access.indices[d]);
    const auto axis = static_cast<std::size_t>(tile.axis[d]);
    if (tile.axis[d] == tile.ringAxis) {
      index = startInRing(tile, *access.indices[d], form);
      continue;
    }
    std::int64_t& known = d + 1 == access.indices.size() ? inRow : ofRow;
    known += place_.shift[axis] * tile.strides[d];
    if (form.isExact() && form.isAffine()) {
      known += form.range.lo * tile.strides[d];
      continue;
    }
    const Expr* offset = builder_.binary(
        ir::BinaryOp::Sub, builder_.cast(scalar(*access.indices[d]), kUlong), id(tile.axis[d]));
    index = builder_.binary(
        ir::BinaryOp::Add, index,
        builder_.binary(ir::BinaryOp::Mul, offset, builder_.number(tile.strides[d], kUlong)));
  }
  if (tile.along == nullptr) return builder_.add(index, ofRow + inRow);
  return builder_.binary(ir::BinaryOp::Add, builder_.add(index, ofRow),
                         builder_.add(tile.along, inRow));
}

/// Where an exact form leads to, for keys of loads.
std::string BodyWriter::positionOf(const IndexForm& form) const {
  if (!form.isAffine()) return '[' + std::to_string(form.range.lo) + ']';
  const std::int64_t shift = place_.shift[static_cast<std::size_t>(form.axis)];
  return '[' + std::to_string(form.axis) + ',' + std::to_string(form.range.lo + shift) + ']';
}

ir::Access BodyWriter::located(const ir::Access& access, int lanes, std::string& key) {
  if (auto local = tiled(access, lanes, key)) return *std::move(local);
  ir::Access element{copyOf(access.array), {}, static_cast<std::uint8_t>(lanes)};
  bool shares = access.array->role == ir::Role::ArrayParam;
  key = access.array->name;
  for (const Expr* index : access.indices) {
    const IndexForm form = formOf(*index);
    const bool exact = form.isExact() && isShared(*access.array);
    shares = shares && exact;
    if (!exact) {
      element.indices.push_back(scalar(*index));
    } else if (form.isAffine()) {
      element.indices.push_back(id(form.axis, form.range.lo));
      key += positionOf(form);
    } else {
      element.indices.push_back(builder_.number(form.range.lo, index->type));
      key += positionOf(form);
    }
  }
  if (!shares) key.clear();
  return element;
}

/// Lanes that did not ask for an element load it all the same: it must exist for all of them.
void BodyWriter::requireInside(const ir::Access& access, const ir::SourceLocation& where) {
  const auto refuse = [&] {
    throw Refused{"it accesses '" + access.array->name +
                  "' under a condition that differs between neighbours, at a position that cannot "
                  "be checked before" +
                  at(where)};
  };
  if (access.array->role == ir::Role::Declared) {
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const IndexForm form = formOf(*access.indices[d]);
      if (!form.isConstant() || form.range.lo < 0 || form.range.hi >= access.array->extents[d])
        refuse();
    }
    return;
  }
  if (access.array->role == ir::Role::Alias) refuse();
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const IndexForm form = formOf(*access.indices[d]);
    if (form.isUnknown() && !form.flat.isKnownFor(context_.size)) refuse();
    const Expr* extent = builder_.cast(context_.extentOf(access.array, static_cast<int>(d)), kLong);
    if (form.isFlat()) {
      requireInside(form.flat, extent);
      continue;
    }
    if (form.isConstant()) {
      auto& bounds = context_.bounds[static_cast<std::size_t>(context_.axis)];
      const Expr* fits =
          form.range.lo < 0
              ? builder_.number(0, kInt)
              : builder_.binary(ir::BinaryOp::Lt, builder_.number(form.range.hi, kLong), extent);
      bounds.upper.push_back(
          builder_.select(fits, builder_.number(INT64_MAX, kLong), builder_.number(0, kLong)));
      continue;
    }
    const auto axis = static_cast<std::size_t>(form.axis);
    const std::int64_t shift = distanceOf(axis);
    context_.bounds[axis].lower.push_back(builder_.number(-form.range.lo - shift, kLong));
    context_.bounds[axis].upper.push_back(builder_.add(extent, -form.range.hi - shift));
  }
}

/// The cells of a grid in a vector lie in its slabs, one for each id along the slowest axis. Those
/// of a slab whose cells exist all, whatever the other ids are.
void BodyWriter::requireInside(const ir::FlatIndex& flat, const Expr* extent) {
  const auto size = [&](int k) {
    return builder_.cast(context_.sizeOf(flat.axes[static_cast<std::size_t>(k)]), kLong);
  };
  const Expr* slab = size(0);
  for (int k = 1; k + 1 < flat.terms; ++k) slab = builder_.binary(ir::BinaryOp::Mul, slab, size(k));
  // How far the offsets along the other axes lead.
  const Expr *least = builder_.number(0, kLong), *most = least;
  for (int k = flat.terms - 2; k >= 0; --k) {
    const ir::Interval& offset = flat.offsets[static_cast<std::size_t>(k)];
    const bool isFirst = k == flat.terms - 2;
    const auto further = [&](const Expr* way, std::int64_t by) {
      return isFirst ? builder_.number(by, kLong)
                     : builder_.add(builder_.binary(ir::BinaryOp::Mul, way, size(k)), by);
    };
    least = further(least, offset.lo);
    most = further(most, offset.hi);
  }
  const auto axis = static_cast<std::size_t>(flat.slowest());
  const ir::Interval& own = flat.offsets[static_cast<std::size_t>(flat.terms - 1)];
  const std::int64_t shift = distanceOf(axis);
  const Expr* before = builder_.binary(
      ir::BinaryOp::Div, builder_.binary(ir::BinaryOp::Sub, builder_.add(slab, -1), least), slab);
  const Expr* slabs =
      builder_.binary(ir::BinaryOp::Div, builder_.binary(ir::BinaryOp::Sub, extent, most), slab);
  context_.bounds[axis].lower.push_back(builder_.add(before, -own.lo - shift));
  context_.bounds[axis].upper.push_back(builder_.add(slabs, -own.hi - shift));
}

/// An element of an array of the kernel's own is a vector with a lane for each neighbour.
void BodyWriter::requireSameElement(const Expr& element, const ir::Access& access) const {
  if (variation_.indicesDiffer(element))
    throw Refused{"neighbours access different elements of '" + access.array->name + "'" +
                  at(where_)};
}

BodyWriter::Value BodyWriter::load(const Expr& expr, const ir::Access& access, int part) {
  std::string key;
  const Variable* memory = context_.source.memoryOf(access.array);
  if (memory == nullptr) {
    // An array of the kernel's own, one for each lane.
    requireSameElement(expr, access);
    if (speculative_) requireInside(access, expr.where);
    const ir::Access element = located(access, 1, key);
    return {builder_.make(element.array->type, element, expr.where), Value::Kind::Vector};
  }
  if (memory->type.scalar == ir::Scalar::Bool || memory->type.scalar == ir::Scalar::Half)
    throw Refused{"it reads elements of bool or half" + at(where_)};
  const Spacing spacing = spacingOf(access);
  if (spacing == Spacing::Same)
    throw Refused{"an element of '" + access.array->name + "' differs between neighbours" +
                  at(where_)};
  if (speculative_ || masked_) requireInside(access, expr.where);
  const ir::Type type = wide(storedScalar(expr.type));
  if (context_.rows != nullptr) {
    const bool isPlain = spacing == Spacing::Each && !memory->type.isVector() && !lazy_ &&
                         !context_.source.isWritten(memory);
    if (isPlain)
      if (const Expr* value = alignedElements(access, type)) return {value, Value::Kind::Vector};
    context_.rows->needsAll = true;
  }
  if (spacing != Spacing::Each) return loadApart(expr, access, spacing);
  if (memory->type.isVector()) return loadPart(expr, access, part);
  const ir::Access element = located(access, context_.lanes, key);
  const Expr* value = builder_.make(type, element, expr.where);
  if (key.empty() || context_.source.isWritten(memory)) return {value, Value::Kind::Vector};
  if (const Variable* known = loads_.find(key)) return {builder_.ref(known), Value::Kind::Vector};
  if (lazy_) return {value, Value::Kind::Vector};
  Variable* loaded = builder_.variable(access.array->name + "_at", type);
  builder_.declare(*out_, loaded, value);
  loads_.add(key, loaded);
  return {builder_.ref(loaded), Value::Kind::Vector};
}

}  // namespace hpl::strategies::detail
