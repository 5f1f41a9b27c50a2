// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/body_copies.h"

#include <algorithm>
#include <optional>

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/joint_loops.h"
#include "hpl/strategies/detail/mentions.h"

namespace hpl::strategies::detail {
namespace {

using ir::Block;
using ir::Expr;
using ir::Stmt;

/// The last row and the last element of it that a copy has read.
struct Front {
  static constexpr std::int64_t kNothing = -1000000;
  std::int64_t row = kNothing;
  std::int64_t column = kNothing;
};

/// A statement of one copy.
struct Step {
  Front front;
  std::size_t copy;
  std::size_t stmt;
};

void flatten(const Block& block, const Interior& interior, std::vector<const Stmt*>& stmts,
             std::vector<const Expr*>& conditions) {
  for (const Stmt* stmt : block.stmts) {
    if (const auto* nested = stmt->as<Block>()) {
      flatten(*nested, interior, stmts, conditions);
      continue;
    }
    const auto* branch = stmt->as<ir::If>();
    const auto truth = branch != nullptr ? interior.truth(*branch->condition) : std::nullopt;
    if (!truth) {
      stmts.push_back(stmt);
      continue;
    }
    conditions.push_back(branch->condition);
    const Block* side = *truth ? branch->then : branch->otherwise;
    if (side != nullptr) flatten(*side, interior, stmts, conditions);
  }
}

/// Leaves out elements that variables begin with and never keep, `Float mean = in[y][x]` before
/// `mean = 0`: copies would share them with the statements that do use them, far on.
void dropVainValues(Builder& builder, std::vector<const Stmt*>& stmts) {
  for (std::size_t i = 0; i < stmts.size(); ++i) {
    const auto* declare = stmts[i]->as<ir::Declare>();
    if (declare == nullptr || declare->init == nullptr || declare->variable->rank > 0 ||
        declare->init->as<ir::Access>() == nullptr)
      continue;
    const ir::Variable* variable = declare->variable;
    const auto next = std::find_if(stmts.begin() + static_cast<std::ptrdiff_t>(i) + 1, stmts.end(),
                                   [&](const Stmt* stmt) { return mentions(*stmt, variable); });
    const auto* assign = next != stmts.end() ? (*next)->as<ir::Assign>() : nullptr;
    if (assign == nullptr || assign->target->as<ir::VarRef>() == nullptr ||
        mentions(*assign->value, variable))
      continue;
    Block alone;
    builder.declare(alone, const_cast<ir::Variable*>(variable), nullptr);
    stmts[i] = alone.stmts.front();
  }
}

/// How far a statement reads at most, along the jam axis and along rows; Front::kNothing: it reads
/// nothing that ids lead to.
Front reach(const Stmt& stmt, const BodyContext& context, int jamAxis) {
  Front most;
  const auto visit = [&](const auto& self, const Expr& expr) -> void {
    if (const auto* access = expr.as<ir::Access>()) {
      for (const Expr* index : access->indices) {
        const ir::IndexForm form = context.source.formOf(*index);
        if (!form.isAffine()) continue;
        if (form.axis == jamAxis) most.row = std::max(most.row, form.range.hi);
        if (form.axis == context.axis) most.column = std::max(most.column, form.range.hi);
      }
    }
    ir::forEachOperand(expr, [&](const Expr& operand) { self(self, operand); });
  };
  ir::forEachExpr(stmt, [&](const Expr& expr) { visit(visit, expr); });
  return most;
}

/// Writes the copies of a body.
class CopiesWriter {
 public:
  CopiesWriter(BodyContext& context, const std::vector<Place>& places, const CopyOrder& order)
      : context_(context), places_(places), jamAxis_(order.jamAxis), variation_(context) {
    writers_.reserve(places.size());
    for (const Place& place : places) writers_.emplace_back(context, variation_, loads_, place);
    if (places.size() == 1 || context.lanes == 1 || !hasLoop(context.source.body())) return;
    joint_.emplace(context, order.jamAxis);
    if (joint_->isEmpty()) {
      joint_.reset();
      return;
    }
    for (const ir::Variable* variable : joint_->common())
      for (BodyWriter& writer : writers_) writer.share(variable, writers_.front());
  }

  /// Stores go to `late` where that is not null.
  void write(const Block& body, Block& out, Block* late);

 private:
  std::vector<Step> interleaved(const std::vector<const Stmt*>& stmts) const;
  void side(const std::vector<const Stmt*>& stmts, Block& out, Block* late);
  void loop(const Stmt& stmt, Block& out);
  const Block* nested(const Block* block);
  bool isCommon(const Stmt& stmt) const;

  BodyContext& context_;
  const std::vector<Place>& places_;
  int jamAxis_;
  Variation variation_;
  std::optional<JointLoops> joint_;
  LoadTable loads_;
  std::vector<BodyWriter> writers_;
};

/// The statements of all copies, those that read least far first.
std::vector<Step> CopiesWriter::interleaved(const std::vector<const Stmt*>& stmts) const {
  std::vector<Step> steps;
  for (std::size_t c = 0; c < places_.size(); ++c) {
    const std::int64_t shift =
        jamAxis_ >= 0 ? places_[c].shift[static_cast<std::size_t>(jamAxis_)] : 0;
    // The statements of one copy keep their order: its front only moves on.
    Front front;
    for (std::size_t s = 0; s < stmts.size(); ++s) {
      const Front own = reach(*stmts[s], context_, jamAxis_);
      if (own.row != Front::kNothing && own.row + shift > front.row) {
        front = {own.row + shift, own.column};
      } else {
        front.column = std::max(front.column, own.column);
      }
      steps.push_back({front, c, s});
    }
  }
  if (places_.size() > 1)
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      if (a.front.row != b.front.row) return a.front.row < b.front.row;
      return a.front.column != b.front.column ? a.front.column < b.front.column : a.stmt < b.stmt;
    });
  return steps;
}

/// The statements of all copies, side by side.
void CopiesWriter::side(const std::vector<const Stmt*>& stmts, Block& out, Block* late) {
  for (const Step& step : interleaved(stmts))
    writers_[step.copy].write(*stmts[step.stmt], out, late);
}

/// True if the statement declares or changes a variable that all copies can share.
bool CopiesWriter::isCommon(const Stmt& stmt) const {
  const auto* declare = stmt.as<ir::Declare>();
  const auto* assign = stmt.as<ir::Assign>();
  return (declare != nullptr && joint_->common().contains(declare->variable)) ||
         (assign != nullptr && joint_->common().contains(rootOf(*assign->target)));
}

void CopiesWriter::write(const Block& body, Block& out, Block* late) {
  std::vector<const Stmt*> stmts;
  std::vector<const Expr*> conditions;
  flatten(body, context_.interior, stmts, conditions);
  dropVainValues(context_.builder, stmts);
  for (BodyWriter& writer : writers_)
    for (const Expr* condition : conditions) writer.settle(*condition);
  if (!joint_) return side(stmts, out, late);
  std::vector<const Stmt*> own;
  for (const Stmt* stmt : stmts) {
    const bool joins = joint_->contains(*stmt);
    if (!joins && !isCommon(*stmt)) {
      own.push_back(stmt);
      continue;
    }
    // Copies make their own changes before the shared statement may read the variables.
    side(own, out, late);
    own.clear();
    if (joins) {
      loop(*stmt, out);
    } else {
      writers_.front().write(*stmt, out, late);
    }
  }
  side(own, out, late);
}

const Block* CopiesWriter::nested(const Block* block) {
  if (block == nullptr) return nullptr;
  Block* copy = context_.builder.block();
  loads_.open();
  write(*block, *copy, nullptr);
  loads_.close();
  return copy;
}

void CopiesWriter::loop(const Stmt& stmt, Block& out) {
  BodyWriter& first = writers_.front();
  first.cutFor(stmt);
  if (const auto* times = stmt.as<ir::Loop>()) {
    ir::Loop copy{};
    copy.prepare = nested(times->prepare);
    copy.condition = times->condition != nullptr ? first.common(*times->condition) : nullptr;
    copy.step = nested(times->step);
    copy.body = nested(times->body);
    context_.builder.statement(out, copy, stmt.where);
    return;
  }
  const auto& doTimes = *stmt.as<ir::DoLoop>();
  ir::DoLoop copy{};
  copy.body = nested(doTimes.body);
  copy.prepare = nested(doTimes.prepare);
  copy.condition = first.common(*doTimes.condition);
  context_.builder.statement(out, copy, stmt.where);
}

}  // namespace

void writeCopies(BodyContext& context, const Block& body, const std::vector<Place>& places,
                 const CopyOrder& order, Block& out) {
  Block late;
  CopiesWriter(context, places, order).write(body, out, order.postpones ? &late : nullptr);
  out.stmts.insert(out.stmts.end(), late.stmts.begin(), late.stmts.end());
}

}  // namespace hpl::strategies::detail
