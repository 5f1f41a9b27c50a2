// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/persistent_builder.h"

#include "hpl/strategies/persistent.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

namespace {

/// Looks at a flag between two looks at whether a group has given up.
constexpr std::int64_t kLooks = 64;

}  // namespace

std::int64_t PersistentBuilder::haloAlong(std::size_t d, bool high) const {
  const LinearGrowth& halo = plan_.halo;
  const std::int64_t further = options_.depth - 1;
  return high ? halo.first.after[d] + further * halo.perStep.after[d]
              : halo.first.before[d] + further * halo.perStep.before[d];
}

/// Border groups at both ends, and between them groups that have what is left.
const TimeBuilder::Expr* PersistentBuilder::tileBegin(std::size_t d, const Expr* group) {
  const BorderTiles& border = options_.border;
  if (d != 0 || border.cells == 0) return OverlappedBuilder::tileBegin(d, group);
  const Expr* rows = builder_.cast(hidden_.value(Hidden::Kind::Count, axisOf(0)), kLong);
  const Expr* inner =
      builder_.add(OverlappedBuilder::tileBegin(0, builder_.add(group, -1)), border.cells);
  const Expr* begin = builder_.select(less(group, number(1)), number(0),
                                      builder_.smaller(inner, builder_.add(rows, -border.cells)));
  return builder_.select(less(group, number(border.groups)), begin, rows);
}

void PersistentBuilder::groupBarrier(Block& out) {
  if (!isAlone()) builder_.statement(out, ir::Barrier{ir::kLocalFence | ir::kGlobalFence});
}

/// Where work-items share the tile, each orders its own stores and loads.
void PersistentBuilder::fence(Block& out, ir::MemoryOrder order) {
  if (!isAlone()) builder_.statement(out, ir::Fence{order, ir::MemoryScope::Device});
}

const Expr* PersistentBuilder::isFirstItem() {
  const Expr* isFirst = nullptr;
  for (std::size_t d = 0; d < dims(); ++d)
    if (options_.local[d] > 1)
      isFirst = both(isFirst, builder_.binary(BinaryOp::Eq, query(ir::Query::LocalId, axisOf(d)),
                                              builder_.number(0, kUlong)));
  return isFirst;
}

const Expr* PersistentBuilder::flag(const Expr* number) {
  const Variable* flags = param(program_.flags);
  const Expr* index = builder_.binary(BinaryOp::Mul, builder_.cast(number, kUlong),
                                      builder_.number(kFlagDistance, kUlong));
  return builder_.make(flags->type, ir::Access{flags, {index}});
}

/// The number of its flag.
const Expr* PersistentBuilder::groupNumber(const Cell& group) {
  const Expr* number = this->number(0);
  for (std::size_t d = 0; d < dims(); ++d)
    number = plus(builder_.binary(BinaryOp::Mul, number, this->number(groups_[d])), group[d]);
  return builder_.add(number, 1);
}

TimeBuilder::Cell PersistentBuilder::ownGroup() {
  Cell group{};
  for (std::size_t d = 0; d < dims(); ++d)
    group[d] = builder_.cast(query(ir::Query::GroupId, axisOf(d)), kLong);
  for (std::size_t d = 0; d < dims(); ++d)
    group[d] = plus(builder_.cast(builder_.ref(param(program_.firstGroup[d])), kLong), group[d]);
  return group;
}

void PersistentBuilder::raiseFlag(Block& out) {
  fence(out, ir::MemoryOrder::Release);
  groupBarrier(out);
  Block* raise = isAlone() ? &out : builder_.block();
  builder_.statement(*raise, ir::Atomic{nullptr,
                                        ir::AtomicOp::Store,
                                        flag(groupNumber(ownGroup())),
                                        {round_},
                                        ir::MemoryOrder::Release,
                                        ir::MemoryScope::Device});
  if (!isAlone()) builder_.statement(out, ir::If{isFirstItem(), raise, nullptr});
}

void PersistentBuilder::giveUp(Block& out, bool tellsOthers) {
  if (tellsOthers)
    builder_.statement(out, ir::Atomic{nullptr,
                                       ir::AtomicOp::Store,
                                       flag(this->number(0)),
                                       {builder_.ref(param(program_.raised))}});
  builder_.assign(out, failed_, builder_.number(1, kInt));
  builder_.statement(out, ir::Break{});
}

void PersistentBuilder::waitForFlag(Block& out, const Expr* number, const Expr* height) {
  Variable* seen = builder_.variable("seen", kInt);
  Variable* looks = builder_.variable("looks", kInt);
  const Expr* count = builder_.ref(looks);
  builder_.declare(out, seen, nullptr);
  builder_.declare(out, looks, builder_.number(0, kInt));
  Block* look = builder_.block();
  builder_.statement(*look, ir::Atomic{seen,
                                       ir::AtomicOp::Load,
                                       flag(number),
                                       {},
                                       ir::MemoryOrder::Acquire,
                                       ir::MemoryScope::Device});
  const ir::Loop loop{look, less(builder_.ref(seen), height), builder_.block(), builder_.block(),
                      true};
  auto& step = const_cast<Block&>(*loop.step);
  auto& body = const_cast<Block&>(*loop.body);
  builder_.assign(step, count, builder_.add(count, 1));
  Block* tired = builder_.block();
  giveUp(*tired, true);
  builder_.statement(
      body, ir::If{builder_.binary(BinaryOp::Ge, count, builder_.ref(param(program_.patience))),
                   tired, nullptr});
  Block* ask = builder_.block();
  Variable* others = builder_.variable("others", kInt);
  builder_.declare(*ask, others, nullptr);
  builder_.statement(*ask, ir::Atomic{others, ir::AtomicOp::Load, flag(this->number(0)), {}});
  Block* follow = builder_.block();
  giveUp(*follow, false);
  builder_.statement(*ask, ir::If{builder_.binary(BinaryOp::Eq, builder_.ref(others),
                                                  builder_.ref(param(program_.raised))),
                                  follow, nullptr});
  const Expr* phase = builder_.binary(BinaryOp::BitAnd, count, builder_.number(kLooks - 1, kInt));
  builder_.statement(
      body, ir::If{builder_.binary(BinaryOp::Eq, phase, builder_.number(kLooks - 1, kInt)), ask,
                   nullptr});
  builder_.statement(out, loop);
}

/// Until the groups next to this one, corners among them, have stored their rims.
void PersistentBuilder::waitForNeighbours(Block& out) {
  const Cell own = ownGroup();
  Cell group = own;
  Block* inner = &out;
  for (std::size_t d = 0; d < dims(); ++d) {
    if (!isSplit(d) || !isExchanged(d)) continue;
    Variable* near = builder_.variable(std::string("near_") + axisName(axisOf(d)), kLong);
    const Expr* at = builder_.ref(near);
    inner = builder_.loop(*inner, near, builder_.add(own[d], -1),
                          builder_.binary(BinaryOp::Le, at, builder_.add(own[d], 1)),
                          builder_.add(at, 1));
    if (plan_.isPeriodic[d]) {
      group[d] = builder_.binary(BinaryOp::Rem, builder_.add(at, groups_[d]), number(groups_[d]));
      continue;
    }
    Block* inside = builder_.block();
    builder_.statement(*inner,
                       ir::If{isBetween(at, number(0), number(groups_[d])), inside, nullptr});
    group[d] = at;
    inner = inside;
  }
  waitForGroup(*inner, groupNumber(group));
}

void PersistentBuilder::waitForGroup(Block& out, const Expr* number) {
  const Expr* other = declared(out, "other", number);
  Block* wait = builder_.block();
  waitForFlag(*wait, other, round_);
  const Expr* isOther = builder_.binary(BinaryOp::Ne, other, groupNumber(ownGroup()));
  const Expr* goesOn = builder_.binary(BinaryOp::Eq, failed_, builder_.number(0, kInt));
  builder_.statement(out, ir::If{both(isOther, goesOn), wait, nullptr});
}

/// A device barrier: no group has passed it before all have stored their rims.
void PersistentBuilder::waitForAll(Block& out) {
  Variable* group = builder_.variable("group", kLong);
  const Expr* at = builder_.ref(group);
  Block* each =
      builder_.loop(out, group, number(0), less(at, number(groupCount())), builder_.add(at, 1));
  waitForGroup(*each, builder_.add(at, 1));
}

void PersistentBuilder::waitForOthers(Block& out) {
  options_.waitsForAll ? waitForAll(out) : waitForNeighbours(out);
}

bool PersistentBuilder::goesOn(std::size_t field) const {
  const TimeField& own = program_.fields[field];
  return own.isWritten() && own.lifetime == Lifetime::Steps;
}

void PersistentBuilder::forOwnRims(Block& out, const BoxCode& code) {
  Box rest = tile_;
  for (std::size_t d = 0; d < dims(); ++d) {
    if (!isExchanged(d)) continue;
    const std::string name = axisName(axisOf(d));
    // Before a group's tile lies the end of another one, or nothing.
    const Expr* low = builder_.smaller(builder_.add(tile_.lo[d], after(d)), tile_.hi[d]);
    const Expr* high = builder_.add(tile_.hi[d], -before(d));
    if (!plan_.isPeriodic[d]) {
      low = builder_.select(less(number(0), tile_.lo[d]), low, tile_.lo[d]);
      high = builder_.select(less(tile_.hi[d], whole(d)), high, tile_.hi[d]);
    }
    low = declared(out, "low_" + name, low);
    high = declared(out, "high_" + name, builder_.larger(high, low));
    Box slab = rest;
    slab.hi[d] = low;
    if (after(d) > 0) code(out, slab);
    slab = rest;
    slab.lo[d] = high;
    if (before(d) > 0) code(out, slab);
    rest.lo[d] = low;
    rest.hi[d] = high;
  }
}

void PersistentBuilder::forRims(Block& out, const BoxCode& code) {
  Box rest = tile_;
  for (std::size_t d = 0; d < dims(); ++d) {
    if (!isExchanged(d)) continue;
    const std::string name = axisName(axisOf(d));
    rest.lo[d] = builder_.add(tile_.lo[d], -before(d));
    rest.hi[d] = builder_.add(tile_.hi[d], after(d));
    if (!plan_.isPeriodic[d]) {
      rest.lo[d] = builder_.larger(rest.lo[d], number(0));
      rest.hi[d] = builder_.smaller(rest.hi[d], whole(d));
    }
    rest.lo[d] = declared(out, "rim_" + name, rest.lo[d]);
    rest.hi[d] = declared(out, "rim_end_" + name, rest.hi[d]);
  }
  for (std::size_t d = 0; d < dims(); ++d) {
    if (!isExchanged(d)) continue;
    Box slab = rest;
    slab.hi[d] = tile_.lo[d];
    if (before(d) > 0) code(out, slab);
    slab = rest;
    slab.lo[d] = tile_.hi[d];
    if (after(d) > 0) code(out, slab);
    rest.lo[d] = tile_.lo[d];
    rest.hi[d] = tile_.hi[d];
  }
}

void PersistentBuilder::storeRims(Block& out) {
  forOwnRims(out, [&](Block& body, const Box& box) {
    for (std::size_t f = 0; f < buffers_.size(); ++f)
      if (goesOn(f)) storeBox(body, f, box, between(f));
  });
}

void PersistentBuilder::loadRims(Block& out) {
  forRims(out, [&](Block& body, const Box& box) {
    for (std::size_t f = 0; f < buffers_.size(); ++f)
      if (goesOn(f)) loadBox(body, f, box, between(f));
  });
}

void PersistentBuilder::leaveIfStopped(Block& out) {
  Block* leave = builder_.block();
  builder_.statement(*leave, ir::Return{nullptr});
  builder_.statement(out, ir::If{builder_.binary(BinaryOp::Ne, stopped_, builder_.number(0, kInt)),
                                 leave, nullptr});
}

/// Groups are at most one exchange apart, so that two grids, by turns, hold all rims that may still
/// be read.
void PersistentBuilder::exchange(Block& out) {
  half_ = declared(
      out, "half",
      builder_.cast(builder_.binary(BinaryOp::BitAnd, round_, builder_.number(1, kInt)), kLong));
  storeRims(out);
  if (!waits()) {
    groupBarrier(out);
  } else {
    raiseFlag(out);
    Block* waiting = isAlone() ? &out : builder_.block();
    waitForOthers(*waiting);
    if (!isAlone()) {
      builder_.assign(*waiting, stopped_, failed_);
      builder_.statement(out, ir::If{isFirstItem(), waiting, nullptr});
      groupBarrier(out);
      fence(out, ir::MemoryOrder::Acquire);
    }
    leaveIfStopped(out);
  }
  loadRims(out);
  barrier(out);
}

void PersistentBuilder::steps(Block& out, const Expr* count, const Expr* before,
                              const Expr* isLook) {
  Variable* remaining = builder_.variable("remaining", kLong);
  const Expr* left = builder_.ref(remaining);
  Block* step =
      builder_.loop(out, remaining, builder_.add(count, -1),
                    builder_.binary(BinaryOp::Ge, left, number(0)), builder_.add(left, -1));
  setStepScalars(*step, plus(before, minus(builder_.add(count, -1), left)));
  if (isLook != nullptr)
    isLookedAt_ = declared(*step, "is_looked_at",
                           both(builder_.binary(BinaryOp::Eq, left, number(0)), isLook));
  if (isLook != nullptr && oldCells() == OldCells::AreCopied) {
    Block* keep = builder_.block();
    keepOld(*keep);
    builder_.statement(*step, ir::If{isLookedAt_, keep, nullptr});
  }
  for (std::size_t k = 0; k < program_.stages.size(); ++k) stage(*step, k, left);
  isLookedAt_ = nullptr;
}

void PersistentBuilder::declareState(Block& out) {
  Variable* round = builder_.variable("round", kInt);
  round_ = builder_.ref(round);
  builder_.declare(out, round, builder_.ref(param(program_.raised)));
  if (waits()) {
    Variable* failed = builder_.variable("failed", kInt);
    failed_ = stopped_ = builder_.ref(failed);
    builder_.declare(out, failed, builder_.number(0, kInt));
    if (!isAlone()) {
      Variable* stopped = builder_.variable("stopped", kInt);
      stopped->space = ir::Space::Local;
      builder_.declare(out, stopped, nullptr);
      stopped_ = builder_.ref(stopped);
    }
  }
  if (looks()) declareLooks(out);
}

/// A few steps, a look, an exchange, until all steps are done.
void PersistentBuilder::passes(Block& out) {
  Variable* todo = builder_.variable("todo", kLong);
  const Expr* left = builder_.ref(todo);
  const Expr* all = builder_.cast(builder_.ref(param(program_.steps)), kLong);
  builder_.declare(out, todo, all);
  const ir::Loop loop{nullptr, less(number(0), left), builder_.block(), builder_.block(), true};
  auto& pass = const_cast<Block&>(*loop.body);
  const Expr* now = builder_.smaller(left, number(options_.depth));
  const Expr* isLook = nullptr;
  if (looks()) {
    const Expr* to = builder_.cast(toLook_, kLong);
    now = declared(pass, "now", builder_.smaller(now, to));
    isLook = declared(
        pass, "looks",
        either(builder_.binary(BinaryOp::Eq, now, to), builder_.binary(BinaryOp::Eq, now, left)));
  } else {
    now = declared(pass, "now", now);
  }
  steps(pass, now, minus(all, left), isLook);
  builder_.assign(pass, left, builder_.binary(BinaryOp::Sub, left, now));
  builder_.assign(pass, round_, builder_.add(round_, 1));
  if (looks()) {
    builder_.assign(pass, toLook_,
                    builder_.binary(BinaryOp::Sub, toLook_, builder_.cast(now, kInt)));
    Block* looking = builder_.block();
    look(*looking);
    builder_.statement(pass, ir::If{isLook, looking, nullptr});
    Block* end = builder_.block();
    builder_.statement(*end, ir::Break{});
    builder_.statement(
        pass,
        ir::If{builder_.binary(BinaryOp::Ne, wasBelow_, builder_.number(0, kInt)), end, nullptr});
  }
  if (exchanges()) {
    Block* rims = builder_.block();
    exchange(*rims);
    builder_.statement(pass, ir::If{less(number(0), left), rims, nullptr});
  }
  builder_.statement(out, loop);
  if (looks()) report(out, minus(all, left));
}

Overlapped PersistentBuilder::build() {
  Block* body = builder_.block();
  declareBuffers(*body);
  declareTile(*body, number(options_.depth - 1));
  declarePlaces(*body);
  declareState(*body);
  load(*body);
  keepUnwritten(*body);
  passes(*body);
  store(*body);
  const std::size_t bytes = boxBytes(program_, bytesOf(source_.kernel(), program_), options_);
  Overlapped result = finished(*body, "tiles", bytes);
  std::string kept = std::to_string(groups_[0]);
  for (std::size_t d = 1; d < dims(); ++d) kept += " x " + std::to_string(groups_[d]);
  result.reason =
      "all steps in one launch, " + kept + " groups that keep their tiles; " + result.reason;
  return result;
}

}  // namespace hpl::strategies::detail
