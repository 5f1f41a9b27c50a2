// SPDX-License-Identifier: Apache-2.0
// The frame of time-tiled kernels; overlapped_stage.cpp has the functions of a step.
#include "hpl/strategies/detail/overlapped_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

void OverlappedBuilder::declareBuffers(Block& out) {
  buffers_.resize(program_.fields.size());
  for (std::size_t f = 0; f < buffers_.size(); ++f) {
    if (plan_.fields[f].isGlobal) continue;
    const Variable* array = param(program_.fields[f].current);
    const FieldPlan& plan = plan_.fields[f];
    buffers_[f].memory =
        declareMemory(out, f, plan.hasTwo && plan.slide == 0 ? 2 : 1, plan.slide * strides_[0]);
    if (!plan.hasTwo) continue;
    buffers_[f].now = builder_.variable("now_" + array->name, kLong);
    buffers_[f].distance = boxCells_ / slotCells_;
  }
}

/// Fields slide as little as they can, so that new rows come to lie where old ones were read a
/// moment ago: there the cache has their lines.
void OverlappedBuilder::declarePlaces(Block& out) {
  for (const TimeStage& stage : program_.stages)
    for (const int written : stage.writes)
      if (slides(stage, written))
        buffers_[static_cast<std::size_t>(written)].distance =
            (OverlappedPlan::rowsReach(stage) + std::max(1, rowsOf(stage))) * strides_[0] /
            slotCells_;
  for (std::size_t f = 0; f < buffers_.size(); ++f)
    if (buffers_[f].now != nullptr)
      builder_.declare(out, buffers_[f].now,
                       number(plan_.fields[f].slide > 0 ? buffers_[f].distance : 0));
}

const Expr* OverlappedBuilder::slotOf(std::size_t field) {
  return buffers_[field].now == nullptr ? nullptr : builder_.ref(buffers_[field].now);
}

void OverlappedBuilder::load(Block& out) {
  for (std::size_t f = 0; f < buffers_.size(); ++f)
    if (buffers_[f].memory != nullptr && program_.fields[f].isLoaded()) loadBox(out, f, box_);
  barrier(out);
}

void OverlappedBuilder::store(Block& out) {
  for (std::size_t f = 0; f < buffers_.size(); ++f)
    if (program_.fields[f].isWritten() && program_.fields[f].lifetime == Lifetime::Steps)
      storeBox(out, f, tile_);
  for (const TimeStage& stage : program_.stages)
    for (const int written : stage.writes) {
      const auto field = static_cast<std::size_t>(written);
      if (program_.fields[field].lifetime == Lifetime::Result && buffers_[field].memory != nullptr)
        storeBox(out, field, regionOf(stage, {}, number(0)));
    }
}

void OverlappedBuilder::copyWithin(Block& out, std::size_t field, const Box& box, int lanes) {
  forCells(out, box, lanes, [&](Block& body, const Cell& cell, int width) {
    builder_.assign(body, inBuffer(field, otherSlotOf(field), cell, width),
                    inBuffer(field, slotOf(field), cell, width));
  });
}

/// Cells that no function computes are the same before and after all steps: both boxes get them.
/// Fields that several functions write, and those that slide, need more than that: see
/// overlapped_stage.cpp.
void OverlappedBuilder::keepUnwritten(Block& out) {
  for (const TimeStage& stage : program_.stages) {
    for (const int written : stage.writes) {
      const auto field = static_cast<std::size_t>(written);
      if (!plan_.fields[field].hasTwo || plan_.fields[field].writers > 1 ||
          plan_.fields[field].slide > 0)
        continue;
      const Expr* leavesOut = nullptr;
      for (std::size_t d = 0; d < dims(); ++d) {
        if (stage.low[d] > 0) leavesOut = either(leavesOut, less(box_.lo[d], number(stage.low[d])));
        if (stage.high[d] > 0)
          leavesOut = either(leavesOut, less(builder_.add(whole(d), -stage.high[d]), box_.hi[d]));
      }
      if (leavesOut == nullptr) continue;
      Block* copies = builder_.block();
      copyWithin(*copies, field, box_, lanesFor(field));
      builder_.statement(out, ir::If{leavesOut, copies, nullptr});
      barrier(out);
    }
  }
}

Overlapped OverlappedBuilder::build() {
  Block* body = builder_.block();
  declareBuffers(*body);
  declareTile(*body);
  declarePlaces(*body);
  load(*body);
  keepUnwritten(*body);
  const Expr* steps = builder_.cast(builder_.ref(param(program_.steps)), kLong);
  Variable* remaining = builder_.variable("remaining", kLong);
  const Expr* left = builder_.ref(remaining);
  Block* step =
      builder_.loop(*body, remaining, builder_.add(steps, -1),
                    builder_.binary(BinaryOp::Ge, left, number(0)), builder_.add(left, -1));
  setStepScalars(*step, minus(builder_.add(steps, -1), left));
  for (std::size_t k = 0; k < program_.stages.size(); ++k) stage(*step, k, left);
  store(*body);
  return finished(*body, "tiles",
                  boxBytes(program_, bytesOf(source_.kernel(), program_), options_));
}

}  // namespace hpl::strategies::detail

namespace hpl::strategies {

Overlapped overlapped(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                      const TimeProgram& program, const OverlappedOptions& options) {
  Overlapped result;
  try {
    if (summary.sharesWithinGroups() || summary.usesLocalIdOrGroup)
      throw detail::Refused{"its functions ask for groups or share local memory"};
    result.bytes = boxBytes(program, detail::bytesOf(kernel, program), options);
    if (options.localMemory > 0 && result.bytes > options.localMemory)
      throw detail::Refused{"its boxes would need " + std::to_string(result.bytes) +
                            " bytes of local memory, and the device has " +
                            std::to_string(options.localMemory)};
    return detail::OverlappedBuilder(kernel, summary, program, options).build();
  } catch (const detail::Refused& refused) {
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
