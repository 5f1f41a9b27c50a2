// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/kernel/detail/point.h"

#include "hpl/error.h"
#include "hpl/ir/walk.h"
#include "hpl/lang/capture_state.h"
#include "stencil_templates/kernel/detail/rewrite.h"

namespace hpl::kernel_stencils {
namespace {

using hpl::detail::Capture;

std::string placeOf(const ir::SourceLocation& where) {
  if (where.line == 0) return "";
  return " (" + std::string(where.file) + ":" + std::to_string(where.line) + ")";
}

const char* directionOf(int rank, int dimension, bool before) {
  static constexpr const char* kNames[3][2] = {
      {"to the front", "to the back"}, {"up", "down"}, {"to the left", "to the right"}};
  return kNames[3 - rank + dimension][before ? 0 : 1];
}

}  // namespace

RecordedPoint::RecordedPoint(const Request& request) : request_(request) {
  recordBody();
  algebra_.emplace_back(request.rank, strides_.data(), *body_);
  visit(*body_);
  for (const Node result : results_) visit(*result);
}

void RecordedPoint::recordBody() {
  Capture& capture = Capture::current();
  for (std::size_t i = 0; i < request_.inputCount; ++i) {
    // Writable, so that writing to it can be refused with a sentence of its own.
    aliases_.push_back(capture.newVariable(request_.inputs[i].array->type, ir::Space::Global, 1,
                                           ir::Role::Alias, "neighbour"));
  }
  for (int s = 0; s + 1 < request_.rank; ++s)
    strides_.push_back(capture.newVariable(ir::Type{ir::Scalar::Int}, ir::Space::Private, 0,
                                           ir::Role::Declared, "stride"));
  body_ = capture.arena().addBlock();
  results_.resize(request_.outputCount);
  capture.pushBlock(body_);
  request_.point.call(request_.point.closure, aliases_.data(), strides_.data(), results_.data());
  capture.popBlock();
  hpl::detail::setLocation(request_.where);
}

int RecordedPoint::inputOf(const ir::Variable* variable) const {
  for (std::size_t i = 0; i < aliases_.size(); ++i)
    if (aliases_[i] == variable) return static_cast<int>(i);
  return -1;
}

void RecordedPoint::check(std::size_t input, const Offsets& offsets,
                          const ir::SourceLocation& where) const {
  const Reach& reach = request_.inputs[input].reach;
  for (int d = 0; d < request_.rank; ++d) {
    const Offset& offset = offsets.of[d];
    if (!offset.isConstant()) continue;
    const bool before = offset.constant < 0;
    const std::int64_t steps = before ? -offset.constant : offset.constant;
    const int declared = before ? reach.before[d] : reach.after[d];
    if (steps <= declared) continue;
    const std::string which =
        request_.inputCount > 1 ? " of input " + std::to_string(input + 1) : "";
    throw KernelError(std::string(request_.name) + toString(reach, request_.rank) +
                      ": the point function reads the element" + which + " " +
                      std::to_string(steps) + " " + directionOf(request_.rank, d, before) +
                      placeOf(where) + ", but the extents allow " + std::to_string(declared) +
                      "; declare larger extents, here and in the preparation");
  }
}

void RecordedPoint::visit(const ir::Expr& expr) {
  if (!visited_.emplace(&expr, true).second) return;
  if (const auto* ref = expr.as<ir::VarRef>()) {
    // Copies of strides disappear; whatever else is made of them needs real strides.
    if (algebra_.front().isStride(ref->variable) || algebra_.front().isCopy(ref->variable))
      isExplicit_ = false;
    return;
  }
  if (const auto* array = expr.as<ir::ArrayRef>()) {
    if (inputOf(array->array) >= 0) isExplicit_ = false;
    return;
  }
  const auto* access = expr.as<ir::Access>();
  const int input = access != nullptr ? inputOf(access->array) : -1;
  if (input < 0) {
    ir::forEachOperand(expr, [&](const ir::Expr& operand) { visit(operand); });
    return;
  }
  const auto offsets = algebra_.front().decompose(*access->indices.front());
  if (!offsets) {
    isExplicit_ = false;
    return;
  }
  check(static_cast<std::size_t>(input), *offsets, expr.where);
  for (const Offset& offset : offsets->of)
    if (offset.rest != nullptr) visit(*offset.rest);
  offsets_.emplace(&expr, *offsets);
}

void RecordedPoint::visit(const ir::Block& block) {
  for (const ir::Stmt* stmt : block.stmts) {
    if (const auto* declare = stmt->as<ir::Declare>())
      if (algebra_.front().isCopy(declare->variable)) continue;
    if (const auto* bind = stmt->as<ir::Bind>()) {
      if (inputOf(bind->alias) >= 0 || inputOf(ir::rootOf(*bind->target)) >= 0) isExplicit_ = false;
      continue;
    }
    const ir::Expr* target = nullptr;
    if (const auto* assign = stmt->as<ir::Assign>()) target = assign->target;
    if (const auto* atomic = stmt->as<ir::Atomic>()) target = atomic->target;
    if (target != nullptr && inputOf(ir::rootOf(*target)) >= 0)
      throw KernelError(std::string(request_.name) + ": the point function writes to a neighbour" +
                        placeOf(stmt->where) +
                        "; it may only read them, and returns the new value of its own element");
    ir::forEachExpr(*stmt, [&](const ir::Expr& expr) { visit(expr); });
    ir::forEachBlock(*stmt, [&](const ir::Block& inner) { visit(inner); });
  }
}

void RecordedPoint::write(Cells& cells, const std::vector<Node>& place) {
  Capture& capture = Capture::current();
  Rewriter* self = nullptr;
  const auto replace = [&](const ir::Expr& expr) -> const ir::Expr* {
    const auto found = offsets_.find(&expr);
    if (found == offsets_.end()) return nullptr;
    Offsets offsets = found->second;
    for (Offset& offset : offsets.of) offset.rest = self->expr(offset.rest);
    return cells.read(static_cast<std::size_t>(inputOf(expr.as<ir::Access>()->array)), offsets);
  };
  const auto drop = [&](const ir::Stmt& stmt) {
    const auto* declare = stmt.as<ir::Declare>();
    return declare != nullptr && algebra_.front().isCopy(declare->variable);
  };
  Rewriter rewriter(capture.arena(), replace, drop);
  self = &rewriter;
  const ir::Block* body = rewriter.block(body_);
  std::vector<Node> results;
  for (const Node result : results_) results.push_back(rewriter.expr(result));
  ir::Block* open = capture.popBlock();
  capture.pushBlock(open);
  open->stmts.insert(open->stmts.end(), body->stmts.begin(), body->stmts.end());
  writeResults(request_, place, results);
}

void writeResults(const Request& request, const std::vector<Node>& place,
                  const std::vector<Node>& results) {
  for (std::size_t o = 0; o < request.outputCount; ++o)
    hpl::detail::assignNode(hpl::detail::accessNode(request.outputs[o], place.data(), place.size()),
                            results[o]);
}

void writePoint(const Request& request, Cells& cells, const std::vector<Node>& place) {
  RecordedPoint point(request);
  if (point.isExplicit()) {
    point.write(cells, place);
  } else {
    writeOnCopies(request, cells, place);
  }
}

}  // namespace hpl::kernel_stencils
