// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/chain_builder.h"

#include <algorithm>

#include "hpl/strategies/chain.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

const Expr* ChainBuilder::placeAlong(std::size_t d, const Expr* at) {
  const Expr* distance = TimeBuilder::placeAlong(d, at);
  if (d > 0) return distance;
  return builder_.binary(BinaryOp::Rem, distance, builder_.number(chain_.ring, kUlong));
}

TimeBuilder::Box ChainBuilder::nextRows(const Box& box, std::int64_t lag) {
  Box rows = box;
  rows.lo[0] = builder_.larger(box.lo[0], builder_.add(front_, -lag));
  rows.hi[0] = builder_.smaller(box.hi[0], builder_.add(front_, chain_.chunk - lag));
  return rows;
}

void ChainBuilder::load(Block& out) {
  const Box rows = nextRows(box_, 0);
  for (std::size_t f = 0; f < memory_.size(); ++f)
    if (memory_[f] != nullptr && program_.fields[f].isLoaded()) loadBox(out, f, rows);
}

TimeBuilder::Box ChainBuilder::declaredRegion(Block& out, std::size_t k) {
  return declaredBox(out, regionOf(program_.stages[k], chain_.rows.boxes[k], number(0)));
}

Tiles ChainBuilder::tilesAt(Block& out, const TimeStage& stage, const Cell& cell) {
  Tiles tiles;
  const auto tileOf = [&](int field, ir::Interval rows) {
    const auto f = static_cast<std::size_t>(field);
    Tile tile = tileOver(memory_[f], cell);
    tile.ringAxis = axisOf(0);
    const std::string name = "row_" + param(program_.fields[f].current)->name;
    for (std::int64_t offset = rows.lo; offset < rows.hi + jam_; ++offset) {
      Cell row = cell;
      row[0] = builder_.add(cell[0], offset);
      tile.starts[offset] = declared(out, name, rowIndex(nullptr, row));
    }
    tile.start = tile.starts.begin()->second;
    return tile;
  };
  std::vector<ir::Interval> rows(memory_.size());
  for (const TimeRead& read : stage.reads) {
    ir::Interval& all = rows[static_cast<std::size_t>(read.field)];
    all.lo = std::min(all.lo, read.offsets[0].lo);
    all.hi = std::max(all.hi, read.offsets[0].hi);
  }
  for (const TimeRead& read : stage.reads) {
    const auto f = static_cast<std::size_t>(read.field);
    if (memory_[f] != nullptr)
      tiles.emplace(param(program_.fields[f].current), tileOf(read.field, rows[f]));
  }
  for (const int field : stage.writes) {
    const auto f = static_cast<std::size_t>(field);
    if (memory_[f] != nullptr) tiles.emplace(param(program_.fields[f].next), tileOf(field, {}));
  }
  return tiles;
}

void ChainBuilder::stage(Block& out, std::size_t k, const Box& whole) {
  const TimeStage& stage = program_.stages[k];
  Box region = nextRows(whole, chain_.lags[k]);
  region.lo[0] = declared(out, "from", region.lo[0]);
  region.hi[0] = declared(out, "to", region.hi[0]);
  Block* body = builder_.block();
  for (const TimeRead& read : stage.reads)
    if (memory_[static_cast<std::size_t>(read.field)] != nullptr) fillMargins(*body, read, region);
  compute(*body, stage, region);
  for (const int written : stage.writes) {
    const auto field = static_cast<std::size_t>(written);
    if (program_.fields[field].lifetime != Lifetime::Result || memory_[field] == nullptr) continue;
    // Not what other tiles compute, too.
    Box own = region;
    for (std::size_t d = 0; d < dims(); ++d) {
      own.lo[d] = builder_.larger(region.lo[d], tile_.lo[d]);
      own.hi[d] = builder_.smaller(region.hi[d], tile_.hi[d]);
    }
    storeBox(*body, field, own);
  }
  builder_.statement(out, ir::If{isNotEmpty(region), body, nullptr});
}

Overlapped ChainBuilder::build() {
  Block* body = builder_.block();
  for (std::size_t f = 0; f < memory_.size(); ++f)
    if (!chain_.rows.fields[f].isGlobal) memory_[f] = declareMemory(*body, f, 1);
  declareTile(*body);
  std::vector<Box> regions;
  for (std::size_t k = 0; k < program_.stages.size(); ++k)
    regions.push_back(declaredRegion(*body, k));
  setStepScalars(*body, number(0));
  Variable* front = builder_.variable("front", kLong);
  front_ = builder_.ref(front);
  const Expr* end = builder_.add(tile_.hi[0], chain_.after);
  Block* rows = builder_.loop(*body, front, builder_.add(tile_.lo[0], -chain_.before),
                              less(front_, end), builder_.add(front_, chain_.chunk));
  load(*rows);
  for (std::size_t k = 0; k < program_.stages.size(); ++k) stage(*rows, k, regions[k]);
  return finished(*body, "bands",
                  chainBytes(program_, bytesOf(source_.kernel(), program_), options_));
}

}  // namespace hpl::strategies::detail

namespace hpl::strategies {

Overlapped chain(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                 const TimeProgram& program, const OverlappedOptions& options) {
  Overlapped result;
  try {
    if (summary.sharesWithinGroups() || summary.usesLocalIdOrGroup)
      throw detail::Refused{"its functions ask for groups or share local memory"};
    result.bytes = chainBytes(program, detail::bytesOf(kernel, program), options);
    if (options.localMemory > 0 && result.bytes > options.localMemory)
      throw detail::Refused{"its rows would need " + std::to_string(result.bytes) +
                            " bytes of local memory, and the device has " +
                            std::to_string(options.localMemory)};
    return detail::ChainBuilder(kernel, summary, program, options).build();
  } catch (const detail::Refused& refused) {
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
