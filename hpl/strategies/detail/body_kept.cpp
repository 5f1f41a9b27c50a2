// SPDX-License-Identifier: Apache-2.0
// Elements in copied bodies that are read once for all copies, and rows that are read in whole
// vectors: a GPU moves 16 bytes per work-item at once where they lie at a multiple of 16.
#include <algorithm>
#include <cstdlib>

#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

using ir::Expr;
using ir::IndexForm;
using ir::Variable;

const Expr* BodyWriter::keptElement(const Expr& expr, const ir::Access& access) {
  const Variable* memory = context_.source.memoryOf(access.array);
  if (lazy_ || memory == nullptr || context_.source.isWritten(memory) ||
      expr.type.scalar == ir::Scalar::Half)
    return nullptr;
  std::string key;
  const ir::Access element = located(access, 1, key);
  if (key.empty()) return nullptr;
  if (const Variable* known = loads_.find(key)) return builder_.ref(known);
  Variable* loaded = builder_.variable(access.array->name + "_at", expr.type);
  builder_.declare(*out_, loaded, builder_.make(expr.type, element, expr.where));
  loads_.add(key, loaded);
  return builder_.ref(loaded);
}

/// How far after the copy's first id the lanes' elements begin; nothing where that is not known.
std::optional<std::int64_t> BodyWriter::placeInRow(const ir::Access& access) {
  if (access.array->role != ir::Role::ArrayParam || access.array->space != ir::Space::Global)
    return std::nullopt;
  const IndexForm form = formOf(*access.indices.back());
  if (!form.isExact() || !form.isAffine() || form.axis != context_.axis) return std::nullopt;
  return form.range.lo + place_.shift[static_cast<std::size_t>(context_.axis)];
}

void BodyWriter::noteAligned(const ir::Access& access) {
  std::vector<const Variable*>& arrays = context_.rows->arrays;
  if (std::find(arrays.begin(), arrays.end(), access.array) != arrays.end()) return;
  arrays.push_back(access.array);
  context_.rows->ends.push_back(builder_.cast(
      context_.extentOf(access.array, static_cast<int>(access.indices.size()) - 1), kLong));
}

/// A place in the row beside the lanes' own ones, or, where the array has none, one that it has.
const Expr* BodyWriter::placeBeside(const ir::Access& access, std::int64_t place, int lanes) {
  const Expr* own = place_.base[static_cast<std::size_t>(context_.axis)];
  const bool isBefore = place < 0;
  const Variable*& kept = context_.rows->places[{isBefore ? nullptr : access.array, place, lanes}];
  if (kept != nullptr) return builder_.ref(kept);
  const Expr* found = builder_.add(own, place);
  if (isBefore) {
    const Expr* isThere = builder_.binary(ir::BinaryOp::Ge, own, builder_.number(-place, kUlong));
    found = builder_.select(isThere, found, builder_.number(0, kUlong));
  } else {
    const Expr* extent =
        context_.extentOf(access.array, static_cast<int>(access.indices.size()) - 1);
    const Expr* isThere = builder_.binary(ir::BinaryOp::Le, builder_.add(found, lanes), extent);
    found = builder_.select(isThere, found, lanes > 1 ? own : builder_.add(extent, -1));
  }
  Variable* beside = builder_.variable(isBefore ? "before" : "after", kUlong);
  builder_.declare(*context_.rows->declarations, beside, found);
  kept = beside;
  return builder_.ref(kept);
}

/// One element or a vector of them at another place in its row, read once; null: other indices than
/// the last are not known.
const Expr* BodyWriter::elementsInRow(const ir::Access& access, std::int64_t place,
                                      const ir::Type& type) {
  const int lanes = std::max<int>(1, type.lanes);
  std::string key;
  ir::Access element = located(access, lanes, key);
  if (key.empty()) return nullptr;
  key = std::to_string(lanes) + ':' + access.array->name;
  for (std::size_t d = 0; d + 1 < access.indices.size(); ++d)
    key += positionOf(formOf(*access.indices[d]));
  key += '[' + std::to_string(place) + ']';
  if (const Variable* known = loads_.find(key)) return builder_.ref(known);
  element.isAligned = lanes > 1;
  element.indices.back() = place == 0 ? place_.base[static_cast<std::size_t>(context_.axis)]
                                      : placeBeside(access, place, lanes);
  if (const Expr* kept = keptOnMarch(access, place, element, type)) return kept;
  Variable* loaded = builder_.variable(access.array->name + "_at", type);
  builder_.declare(*out_, loaded, builder_.make(type, element));
  loads_.add(key, loaded);
  return builder_.ref(loaded);
}

/// Null: it is read where it is. Only what every turn reads is loaded ahead of time.
const Expr* BodyWriter::keptOnMarch(const ir::Access& access, std::int64_t place,
                                    const ir::Access& element, const ir::Type& type) {
  if (context_.march == nullptr || loads_.isNested()) return nullptr;
  std::optional<std::size_t> dimension;
  std::int64_t distance = 0;
  std::string row = std::to_string(std::max<int>(1, type.lanes)) + ':' + access.array->name + '[' +
                    std::to_string(place) + ']';
  for (std::size_t d = 0; d + 1 < access.indices.size(); ++d) {
    const IndexForm form = formOf(*access.indices[d]);
    if (form.axis != context_.marchAxis) {
      row += positionOf(form);
      continue;
    }
    if (dimension || !form.isExact() || !form.isAffine()) return nullptr;
    dimension = d;
    distance = form.range.lo + place_.shift[static_cast<std::size_t>(context_.marchAxis)];
    row += "[*]";
  }
  if (!dimension) return nullptr;
  return context_.march->element(row, *dimension, distance, element, type);
}

/// The components of a vector from one to before another one.
const Expr* BodyWriter::componentsOf(const Expr* vector, std::int64_t from, std::int64_t to) {
  const ir::Type element = vector->type.element();
  ir::Component part{vector, {}};
  for (std::int64_t lane = from; lane < to; ++lane)
    part.lanes.push_back(static_cast<std::uint8_t>(lane));
  const auto count = static_cast<int>(to - from);
  return builder_.make(count == 1 ? element : widened(element, count), std::move(part));
}

/// Elements beside the lanes' own places, all of them before or behind: one by one, or of one
/// vector that lies at a multiple of its size.
void BodyWriter::elementsBeside(const ir::Access& access, std::int64_t from, std::int64_t to,
                                std::vector<const Expr*>& elements) {
  if (from == to) return;
  const ir::Type element = context_.source.memoryOf(access.array)->type;
  const bool isBefore = from < 0;
  std::int64_t begin = isBefore ? 0 : context_.lanes;
  const AlignedRows::Reach vectors = context_.rows->reach.at(access.array).inVectors();
  const std::int64_t count = isBefore ? vectors.before : vectors.behind;
  if (!context_.rows->inVectors || count == 1) {
    for (std::int64_t at = from; at < to; ++at)
      elements.push_back(elementsInRow(access, at, element));
    return;
  }
  if (isBefore) begin -= count;
  const Expr* vector = elementsInRow(access, begin, widened(element, static_cast<int>(count)));
  elements.push_back(componentsOf(vector, from - begin, to - begin));
}

/// The lanes' elements, of the vector at their own places and of elements beside it. Null: they are
/// too far from it.
const Expr* BodyWriter::alignedElements(const ir::Access& access, const ir::Type& type) {
  const std::optional<std::int64_t> place = placeInRow(access);
  const std::int64_t lanes = context_.lanes;
  if (!place || std::abs(*place) >= lanes) return nullptr;
  const Expr* own = elementsInRow(access, 0, type);
  if (own == nullptr) return nullptr;
  noteAligned(access);
  if (*place == 0) return own;
  AlignedRows::Reach& reach = context_.rows->reach[access.array];
  reach.before = std::max(reach.before, -*place);
  reach.behind = std::max(reach.behind, *place);
  ir::Construct all;
  elementsBeside(access, std::min<std::int64_t>(0, *place), 0, all.args);
  all.args.push_back(
      componentsOf(own, std::max<std::int64_t>(0, *place), std::min(lanes, lanes + *place)));
  elementsBeside(access, lanes, std::max(lanes, lanes + *place), all.args);
  return keep(access.array->name + "_at", builder_.make(type, std::move(all)));
}

/// Stores a vector, or those of its lanes that are to be.
void BodyWriter::storeLanes(ir::Block& out, const Expr* place, const Expr* value, bool streams) {
  const AlignedRows& rows = *context_.rows;
  const auto& access = *place->as<ir::Access>();
  const ir::Type element = value->type.element();
  ir::Block* whole = builder_.block();
  builder_.statement(*whole, ir::Assign{place, value, streams}, where_);
  ir::Block* some = builder_.block();
  for (int lane = 0; lane < context_.lanes; ++lane) {
    const Expr* at = builder_.add(access.indices.back(), lane);
    const Expr* id = builder_.cast(at, kLong);
    const Expr* isIn = builder_.binary(
        ir::BinaryOp::LogicalAnd, builder_.binary(ir::BinaryOp::Ge, id, builder_.ref(rows.from)),
        builder_.binary(ir::BinaryOp::Lt, id, builder_.ref(rows.to)));
    ir::Access single{access.array, access.indices};
    single.indices.back() = at;
    ir::Block* store = builder_.block();
    builder_.assign(*store, builder_.make(element, std::move(single)),
                    builder_.make(element, ir::Component{value, {static_cast<std::uint8_t>(lane)}}),
                    where_);
    builder_.statement(*some, ir::If{isIn, store, nullptr}, where_);
  }
  builder_.statement(out, ir::If{builder_.ref(rows.areAll), whole, some}, where_);
}

}  // namespace hpl::strategies::detail
