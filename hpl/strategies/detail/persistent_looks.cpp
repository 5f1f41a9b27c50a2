// SPDX-License-Identifier: Apache-2.0
// How persistent kernels look at what steps change.
#include <algorithm>
#include <utility>
#include <vector>

#include "hpl/strategies/detail/persistent_builder.h"
#include "hpl/strategies/persistent.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

namespace {

/// Vectors whose largest values are found independently of each other.
constexpr std::size_t kSideBySide = 4;

}  // namespace

void PersistentBuilder::declareLooks(Block& out) {
  declareMost(out);
  const auto count = [&](const char* stem, const Expr* first) {
    Variable* variable = builder_.variable(stem, kInt);
    builder_.declare(out, variable, first);
    return builder_.ref(variable);
  };
  toLook_ = count("to_look", builder_.ref(param(program_.looks.every)));
  looksDone_ = count("looked", builder_.number(0, kInt));
  if (isAlone()) {
    wasBelow_ = count("was_below", builder_.number(0, kInt));
    return;
  }
  Variable* all = builder_.variable("was_below", kInt);
  all->space = ir::Space::Local;
  builder_.declare(out, all, nullptr);
  wasBelow_ = builder_.ref(all);
  std::int64_t items = 1;
  for (const int along : options_.local) items *= along;
  Variable* found = builder_.variable("most_of_items", param(program_.looks.residual)->type);
  found->space = ir::Space::Local;
  found->extents = {items};
  found->rank = 1;
  builder_.declare(out, found, nullptr);
  mostOfItems_ = found;
  Block* first = builder_.block();
  builder_.assign(*first, wasBelow_, builder_.number(0, kInt));
  builder_.statement(out, ir::If{isFirstItem(), first, nullptr});
  groupBarrier(out);
}

/// Old cells lie where they were, if the field has two boxes; where its new cells slide over them,
/// row by row, they are there until the step has gone a few rows further.
PersistentBuilder::OldCells PersistentBuilder::oldCells() const {
  const std::size_t field = index(program_.looks.field);
  const FieldPlan& plan = plan_.fields[field];
  if (buffers_[field].memory == nullptr || !plan.hasTwo || plan.writers > 1)
    return OldCells::AreCopied;
  return plan.slide > 0 ? OldCells::LastForRows : OldCells::LieBeside;
}

void PersistentBuilder::keepOld(Block& out) {
  const std::size_t field = index(program_.looks.field);
  storeBox(out, field, tile_, {param(program_.looks.old), nullptr});
  groupBarrier(out);
}

void PersistentBuilder::take(Block& out, const Expr* most, const Expr* value) {
  const Expr* keep = builder_.binary(BinaryOp::BitOr, builder_.binary(BinaryOp::Le, value, most),
                                     builder_.binary(BinaryOp::Ne, most, most));
  builder_.assign(out, most, builder_.select(keep, most, value));
}

void PersistentBuilder::declareMost(Block& out) {
  const ir::Type type = param(program_.looks.residual)->type;
  const int lanes = isAlone() ? options_.lanes : 1;
  const auto declaredZero = [&](const char* stem, const ir::Type& of) {
    Variable* variable = builder_.variable(stem, of);
    builder_.declare(out, variable, zero(of));
    return builder_.ref(variable);
  };
  most_ = declaredZero("most", type);
  while (lanes > 1 && mostOfLanes_.size() < kSideBySide)
    mostOfLanes_.push_back(declaredZero("most_of_lanes", widened(type, lanes)));
}

/// The residual may be any function: it is computed as a function of a step would be, but its
/// values are not written. The largest of vectors waits for the one before it, so that several are
/// found side by side.
void PersistentBuilder::residualsOf(Block& out, const Box& box, const Looked& looked) {
  const TimeLooks& looks = program_.looks;
  const int lanes = isAlone() ? options_.lanes : 1;
  std::size_t turn = 0;
  sinks_[param(looks.residual)] = [&](Block& body, const Expr* value, int width) {
    take(body, width > 1 ? mostOfLanes_[turn++ % mostOfLanes_.size()] : most_,
         declared(body, "residual", value));
  };
  TimeStage residuals;
  residuals.body = looks.body;
  residuals.reads.push_back({.field = looks.field});
  looked_ = looked;
  const OverlappedOptions own = options_;
  options_.vectors = static_cast<int>(
      std::clamp<std::int64_t>(options_.tile[fastest()] / lanes, 1, std::int64_t{kSideBySide}));
  options_.jam = static_cast<int>(kSideBySide) / options_.vectors;
  compute(out, residuals, box);
  options_ = own;
  looked_ = {};
  sinks_.clear();
}

/// Rows of the step that is looked at, while the old ones are still there.
void PersistentBuilder::rowsMoved(Block& out, int field, const Expr* first, const Expr* count) {
  if (isLookedAt_ == nullptr || field != program_.looks.field) return;
  Block* looked = builder_.block();
  Box rows = tile_;
  rows.lo[0] = declared(*looked, "looked_from", builder_.larger(first, tile_.lo[0]));
  rows.hi[0] = declared(*looked, "looked_to", builder_.smaller(plus(first, count), tile_.hi[0]));
  residualsOf(*looked, rows, {.before = slotOf(index(field)), .after = otherSlotOf(index(field))});
  builder_.statement(out, ir::If{isLookedAt_, looked, nullptr});
}

/// All cells of the tile stay what they are.
const Block* PersistentBuilder::nothingMoved(int field) {
  if (isLookedAt_ == nullptr || field != program_.looks.field) return nullptr;
  Block* looked = builder_.block();
  residualsOf(*looked, tile_, {.before = slotOf(index(field)), .after = slotOf(index(field))});
  Block* out = builder_.block();
  builder_.statement(*out, ir::If{isLookedAt_, looked, nullptr});
  return out;
}

Tiles PersistentBuilder::tilesAt(Block& out, const TimeStage& stage, const Cell& cell) {
  Tiles tiles = OverlappedBuilder::tilesAt(out, stage, cell);
  if (looked_.before == nullptr) return tiles;
  const std::size_t field = index(program_.looks.field);
  const auto startIn = [&](const char* stem, const Expr* slot) {
    Tile tile = tileOver(buffers_[field].memory, cell);
    tile.start = declared(out, stem, rowIndex(slot, cell));
    return tile;
  };
  tiles.insert_or_assign(param(program_.looks.old), startIn("row_before", looked_.before));
  tiles.insert_or_assign(param(program_.fields[field].current),
                         startIn("row_after", looked_.after));
  return tiles;
}

/// The largest value in the whole tile; the next look begins anew.
const Expr* PersistentBuilder::largestOfTile(Block& out) {
  const std::size_t field = index(program_.looks.field);
  if (oldCells() == OldCells::AreCopied) residualsOf(out, tile_, {});
  if (oldCells() == OldCells::LieBeside)
    residualsOf(out, tile_, {.before = otherSlotOf(field), .after = slotOf(field)});
  const ir::Type type = most_->type;
  const Expr* all = declared(out, "most_of_tile", most_);
  for (std::size_t k = 1; k < mostOfLanes_.size(); ++k)
    take(out, mostOfLanes_.front(), mostOfLanes_[k]);
  for (int lane = 0; lane < (mostOfLanes_.empty() ? 0 : options_.lanes); ++lane)
    take(out, all,
         builder_.make(type,
                       ir::Component{mostOfLanes_.front(), {static_cast<std::uint8_t>(lane)}}));
  builder_.assign(out, most_, zero(type));
  for (const Expr* lanes : mostOfLanes_) builder_.assign(out, lanes, zero(lanes->type));
  return all;
}

/// The largest value of all its work-items, as the first one sees it.
const Expr* PersistentBuilder::largestOfGroup(Block& out, const Expr* own) {
  if (isAlone()) return own;
  const Expr* item = nullptr;
  for (std::size_t d = 0; d < dims(); ++d) {
    const Expr* id = builder_.cast(query(ir::Query::LocalId, axisOf(d)), kUlong);
    item = item == nullptr
               ? id
               : builder_.binary(BinaryOp::Add,
                                 builder_.binary(BinaryOp::Mul, item,
                                                 builder_.number(options_.local[d], kUlong)),
                                 id);
  }
  const auto element = [&](const Expr* at) {
    return builder_.make(own->type, ir::Access{mostOfItems_, {at}});
  };
  builder_.assign(out, element(item), own);
  groupBarrier(out);
  Block* first = builder_.block();
  Variable* k = builder_.variable("item", kLong);
  const Expr* at = builder_.ref(k);
  Block* each = builder_.loop(*first, k, number(1), less(at, number(mostOfItems_->extents[0])),
                              builder_.add(at, 1));
  take(*each, own, element(builder_.cast(at, kUlong)));
  builder_.statement(out, ir::If{isFirstItem(), first, nullptr});
  return own;
}

/// The value that a group (long, from 0) has found at a look (int).
const Expr* PersistentBuilder::lookValue(const Expr* look, const Expr* group) {
  const Variable* values = param(program_.looks.values);
  const Expr* slot = builder_.cast(
      builder_.binary(BinaryOp::BitAnd, look, builder_.number(kLooksKept - 1, kInt)), kLong);
  const Expr* at = builder_.binary(
      BinaryOp::Mul, plus(builder_.binary(BinaryOp::Mul, slot, number(groupCount())), group),
      number(kFlagDistance));
  return builder_.make(values->type, ir::Access{values, {builder_.cast(at, kUlong)}, 1, true});
}

/// By the first work-item.
void PersistentBuilder::publish(Block& out, const Expr* most) {
  const Expr* own = declared(out, "own", builder_.add(groupNumber(ownGroup()), -1));
  builder_.assign(out, lookValue(looksDone_, own), most);
  fence(out, ir::MemoryOrder::Release);
  const Expr* height = builder_.binary(BinaryOp::Add, builder_.ref(param(program_.raised)),
                                       builder_.add(looksDone_, 1));
  builder_.statement(out, ir::Atomic{nullptr,
                                     ir::AtomicOp::Store,
                                     flag(builder_.add(own, lookFlagOf(groupCount()))),
                                     {height},
                                     ir::MemoryOrder::Release,
                                     ir::MemoryScope::Device});
}

/// By the first work-item: what all have found at the look before, which most of them published
/// long ago.
void PersistentBuilder::judge(Block& out) {
  const Expr* height =
      builder_.binary(BinaryOp::Add, builder_.ref(param(program_.raised)), looksDone_);
  const Expr* before = builder_.add(looksDone_, -1);
  Variable* most = builder_.variable("most_of_all", param(program_.looks.residual)->type);
  const Expr* all = builder_.ref(most);
  builder_.declare(out, most, zero(most->type));
  Variable* k = builder_.variable("group", kLong);
  const Expr* group = builder_.ref(k);
  Block* each =
      builder_.loop(out, k, number(0), less(group, number(groupCount())), builder_.add(group, 1));
  if (waits()) {
    Block* wait = builder_.block();
    waitForFlag(*wait, builder_.add(group, lookFlagOf(groupCount())), height);
    builder_.statement(
        *each,
        ir::If{builder_.binary(BinaryOp::Eq, failed_, builder_.number(0, kInt)), wait, nullptr});
    fence(*each, ir::MemoryOrder::Acquire);
  }
  take(*each, all, declared(*each, "theirs", lookValue(before, group)));
  Block* yes = builder_.block();
  builder_.assign(*yes, wasBelow_, builder_.number(1, kInt));
  builder_.statement(out,
                     ir::If{less(all, builder_.ref(param(program_.looks.bound))), yes, nullptr});
}

void PersistentBuilder::look(Block& out) {
  const Expr* most = largestOfGroup(out, largestOfTile(out));
  Block* first = isAlone() ? &out : builder_.block();
  publish(*first, most);
  Block* verdict = builder_.block();
  judge(*verdict);
  builder_.statement(
      *first, ir::If{builder_.binary(BinaryOp::Gt, looksDone_, builder_.number(0, kInt)), verdict,
                     nullptr});
  if (!isAlone()) {
    if (waits()) builder_.assign(*first, stopped_, failed_);
    builder_.statement(out, ir::If{isFirstItem(), first, nullptr});
    groupBarrier(out);
  }
  if (waits()) leaveIfStopped(out);
  builder_.assign(out, looksDone_, builder_.add(looksDone_, 1));
  builder_.assign(out, toLook_, builder_.ref(param(program_.looks.every)));
}

/// The first group of all says how it ended.
void PersistentBuilder::report(Block& out, const Expr* done) {
  Block* first = builder_.block();
  const auto say = [&](std::int64_t at, const Expr* value) {
    builder_.statement(*first, ir::Atomic{nullptr,
                                          ir::AtomicOp::Store,
                                          flag(number(at / kFlagDistance)),
                                          {value},
                                          ir::MemoryOrder::Relaxed,
                                          ir::MemoryScope::Device});
  };
  say(stepsDoneAt(groupCount()), builder_.cast(done, kInt));
  say(wasBelowAt(groupCount()), wasBelow_);
  const Expr* isFirst = builder_.binary(BinaryOp::Eq, groupNumber(ownGroup()), number(1));
  builder_.statement(out,
                     ir::If{both(isFirst, isAlone() ? nullptr : isFirstItem()), first, nullptr});
}

}  // namespace hpl::strategies::detail
