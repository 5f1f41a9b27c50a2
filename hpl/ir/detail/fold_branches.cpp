// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/fold_branches.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hpl/ir/detail/access_state.h"
#include "hpl/ir/detail/search.h"
#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

/// The assignments of one branch, in their order.
using Branch = std::vector<std::pair<const Variable*, const Expr*>>;

/// A statement that gives integers other values: an assignment, or a branch of such ones.
struct Change {
  /// Null: the first branch is taken.
  const Expr* condition = nullptr;
  std::array<Branch, 2> branches;

  const Expr* valueIn(int branch, const Variable* variable) const {
    for (const auto& [assigned, value] : branches[static_cast<std::size_t>(branch)])
      if (assigned == variable) return value;
    return nullptr;
  }
  /// Each once.
  std::vector<const Variable*> variables() const {
    std::vector<const Variable*> all;
    for (const Branch& branch : branches)
      for (const auto& [variable, value] : branch)
        if (std::find(all.begin(), all.end(), variable) == all.end()) all.push_back(variable);
    return all;
  }
};

bool addAssignment(const Stmt& stmt, Branch& branch) {
  const auto* assign = stmt.as<Assign>();
  const auto* target = assign == nullptr ? nullptr : assign->target->as<VarRef>();
  if (target == nullptr || !isTracked(target->variable) || !isCheap(*assign->value)) return false;
  // All values of a change are computed from those before it.
  for (const auto& [variable, value] : branch)
    if (variable == target->variable || mentionsVariable(*assign->value, variable)) return false;
  branch.emplace_back(target->variable, assign->value);
  return true;
}

bool addAssignments(const Block* block, Branch& branch) {
  if (block == nullptr) return true;
  return std::all_of(block->stmts.begin(), block->stmts.end(),
                     [&](const Stmt* stmt) { return addAssignment(*stmt, branch); });
}

std::optional<Change> changeOf(const Stmt& stmt) {
  Change change;
  if (addAssignment(stmt, change.branches[0])) return change;
  const auto* branch = stmt.as<If>();
  if (branch == nullptr || !isCheap(*branch->condition)) return std::nullopt;
  change.branches[0].clear();
  change.condition = branch->condition;
  if (!addAssignments(branch->then, change.branches[0]) ||
      !addAssignments(branch->otherwise, change.branches[1]) || change.variables().empty())
    return std::nullopt;
  return change;
}

/// Whether a variable that is declared without a value gets one before it is asked for.
bool startsWhole(const Block& block, const Declare& declaration) {
  const Variable* variable = declaration.variable;
  // Targets are mentioned, too.
  auto search = searchFor(variable);
  const auto first = std::find_if(block.stmts.begin(), block.stmts.end(),
                                  [&](const Stmt* stmt) { return search.finds(*stmt); });
  const auto change = first == block.stmts.end() ? std::nullopt : changeOf(**first);
  if (!change || change->valueIn(0, variable) == nullptr) return false;
  if (change->condition != nullptr &&
      (change->valueIn(1, variable) == nullptr || mentionsVariable(*change->condition, variable)))
    return false;
  for (const Branch& branch : change->branches)
    for (const auto& [assigned, value] : branch)
      if (mentionsVariable(*value, variable)) return false;
  return true;
}

class Folder {
 public:
  Folder(const Function& function, Arena& arena) : arena_(arena), names_(function) {
    effects_.collect(function.body);
  }

  const Block* fold(const Block* block);

 private:
  /// A variable whose values are told apart, while its block is rewritten.
  struct Stages {
    /// Changes that are not yet met, and assignments in them.
    long left = 0;
    long assignments = 0;
    /// One of them chooses.
    bool isChosen = false;
    /// It has a value whenever it is asked for.
    bool isKnown = false;
    /// Its present value; null before it has one.
    const Variable* now = nullptr;
  };

  void findStages(const Block& block, std::unordered_map<const Stmt*, Change>& changes);
  const Expr* rewrite(const Expr* expr);
  const Stmt* rewrite(const Stmt* stmt);
  const Stmt* declareNext(const Variable* variable, const Expr* value, const SourceLocation& where);
  void addChange(const Change& change, const SourceLocation& where, Block& to);
  const Expr* refTo(const Variable* variable, const SourceLocation& where) {
    return arena_.add(Expr{variable->type, where, VarRef{variable}});
  }

  Arena& arena_;
  Effects effects_;
  FreshNames names_;
  std::unordered_map<const Variable*, Stages> stages_;
  std::unordered_map<const Expr*, const Expr*> rewritten_;
};

/// Finds those of the block's variables that change nowhere else, and only in changes of such
/// variables.
void Folder::findStages(const Block& block, std::unordered_map<const Stmt*, Change>& changes) {
  std::unordered_map<const Variable*, Stages> found;
  for (const Stmt* stmt : block.stmts) {
    if (const auto* declare = stmt->as<Declare>(); declare && isTracked(declare->variable))
      found[declare->variable].isKnown = declare->init != nullptr || startsWhole(block, *declare);
    if (auto change = changeOf(*stmt)) changes.emplace(stmt, std::move(*change));
  }
  do {
    for (auto& [variable, stages] : found) stages = {.isKnown = stages.isKnown};
    for (const auto& [stmt, change] : changes)
      for (const Variable* variable : change.variables()) {
        const auto stages = found.find(variable);
        if (stages == found.end()) continue;
        ++stages->second.left;
        for (int branch = 0; branch < 2; ++branch)
          stages->second.assignments += change.valueIn(branch, variable) != nullptr ? 1 : 0;
        stages->second.isChosen = stages->second.isChosen || change.condition != nullptr;
      }
    // The effects count the declaration, too.
    std::erase_if(found, [&](const auto& entry) {
      const auto& [variable, stages] = entry;
      return !stages.isKnown || effects_.count(variable) != stages.assignments + 1;
    });
  } while (std::erase_if(changes, [&](const auto& entry) {
             const auto all = entry.second.variables();
             return !std::all_of(all.begin(), all.end(),
                                 [&](const Variable* v) { return found.contains(v); });
           }) > 0);
  // Assignments alone are understood as they are.
  std::erase_if(found, [](const auto& entry) { return !entry.second.isChosen; });
  std::erase_if(changes, [&](const auto& entry) {
    return !found.contains(entry.second.variables().front());
  });
  stages_.insert(found.begin(), found.end());
}

const Expr* Folder::rewrite(const Expr* expr) {
  if (expr == nullptr) return nullptr;
  if (const auto* ref = expr->as<VarRef>()) {
    const auto stages = stages_.find(ref->variable);
    const bool isOther = stages != stages_.end() && stages->second.now != nullptr &&
                         stages->second.now != ref->variable;
    return isOther ? refTo(stages->second.now, expr->where) : expr;
  }
  if (isLeaf(*expr)) return expr;
  if (const auto known = rewritten_.find(expr); known != rewritten_.end()) return known->second;
  const Expr* result =
      withOperands(arena_, expr, [this](const Expr* operand) { return rewrite(operand); });
  rewritten_.emplace(expr, result);
  return result;
}

const Stmt* Folder::rewrite(const Stmt* stmt) {
  return withParts(
      arena_, stmt, [this](const Expr* expr) { return rewrite(expr); },
      [this](const Block* block) { return fold(block); });
}

/// The last one has the name that the program gave.
const Stmt* Folder::declareNext(const Variable* variable, const Expr* value,
                                const SourceLocation& where) {
  Stages& stages = stages_.at(variable);
  const Variable* next = variable;
  if (stages.left > 0) {
    Variable* other = arena_.add(*variable);
    other->name = names_.next(variable->name);
    next = other;
  }
  stages.now = next;
  rewritten_.clear();
  return arena_.add(Stmt{where, Declare{next, value}});
}

void Folder::addChange(const Change& change, const SourceLocation& where, Block& to) {
  std::vector<std::pair<const Variable*, const Expr*>> values;
  for (const Variable* variable : change.variables()) {
    const auto valueIn = [&](int branch) {
      const Expr* value = change.valueIn(branch, variable);
      return value != nullptr ? rewrite(value) : refTo(stages_.at(variable).now, where);
    };
    const Expr* value = valueIn(0);
    if (change.condition != nullptr)
      value = arena_.add(
          Expr{variable->type, where, Select{rewrite(change.condition), value, valueIn(1)}});
    values.emplace_back(variable, value);
  }
  for (const auto& [variable, value] : values) {
    --stages_.at(variable).left;
    to.stmts.push_back(declareNext(variable, value, where));
  }
}

const Block* Folder::fold(const Block* block) {
  std::unordered_map<const Stmt*, Change> changes;
  findStages(*block, changes);
  if (changes.empty()) {
    return withStatements(arena_, block, [this](const Stmt* stmt) { return rewrite(stmt); });
  }
  Block* folded = arena_.addBlock();
  folded->isApart = block->isApart;
  for (const Stmt* stmt : block->stmts) {
    const auto* declare = stmt->as<Declare>();
    const bool hasStages = declare != nullptr && stages_.contains(declare->variable);
    if (const auto change = changes.find(stmt); change != changes.end()) {
      addChange(change->second, stmt->where, *folded);
    } else if (!hasStages) {
      folded->stmts.push_back(rewrite(stmt));
    } else if (declare->init != nullptr) {
      folded->stmts.push_back(declareNext(declare->variable, rewrite(declare->init), stmt->where));
    }
  }
  return folded;
}

}  // namespace

const Block* foldBranches(const Function& function, Arena& arena) {
  return function.body == nullptr ? nullptr : Folder(function, arena).fold(function.body);
}

}  // namespace hpl::ir::detail
