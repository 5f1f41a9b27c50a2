// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/sameness.h"

#include <algorithm>
#include <unordered_map>

#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

/// The things that a value depends on: bits 0 to 2 stand for the id or the size along an axis.
using Sources = unsigned;
/// Something that is another one in each part, or in each group of work-items.
constexpr Sources kPlace = 8;

/// Gathers the sources of all variables, arrays and conditions of a kernel, whatever the order of
/// its statements, until nothing is added any more.
class SourceFinder {
 public:
  SourceFinder(const Kernel& kernel, const PartRoles& roles, unsigned alignedAxes,
               const AccessSummary& access, const Comparisons& comparisons)
      : kernel_(kernel),
        roles_(roles),
        alignedAxes_(alignedAxes),
        access_(access),
        comparisons_(comparisons) {
    for (const Variable* parameter : kernel.entry->params) addParameter(*parameter);
  }

  std::vector<bool> find() {
    do {
      changed_ = false;
      known_.clear();
      for (const Function* function : kernel_.functions) visitFunction(*function);
      visitFunction(*kernel_.entry);
    } while (changed_);
    std::vector<bool> same;
    for (const Variable* parameter : kernel_.entry->params) {
      const bool isArray = parameter->rank > 0;
      same.push_back(isArray && ((sources_[memoryOf(parameter)] | control_) & varying_) == 0);
    }
    return same;
  }

 private:
  void addParameter(const Variable& parameter) {
    const PartRole& role = roles_[static_cast<std::size_t>(parameter.paramIndex)];
    if (parameter.rank == 0) {
      sources_[&parameter] = role.differs ? kPlace : role.sizeOf;
      return;
    }
    bases_[&parameter] = {&parameter};
    if (role.differs) sources_[memoryOf(&parameter)] = kPlace;
    const ArrayAccess* access = access_.find(&parameter);
    if (access == nullptr) return;
    for (std::size_t d = 0; d < static_cast<std::size_t>(parameter.rank); ++d) {
      if (((role.split >> d) & 1U) == 0) continue;
      for (const auto* forms : {&access->reads, &access->writes})
        if (!forms->empty() && (*forms)[d].isAffine()) varying_ |= 1U << (*forms)[d].axis;
    }
  }

  /// The variable that stands for an array's memory.
  const Variable* memoryOf(const Variable* array) const {
    if (array->role != Role::ArrayParam || array->paramIndex < 0) return array;
    const auto& params = kernel_.entry->params;
    const auto position = static_cast<std::size_t>(array->paramIndex);
    if (position >= params.size() || params[position] != array) return array;
    const int first = roles_[position].sameAs;
    return first < 0 ? array : params[static_cast<std::size_t>(first)];
  }

  void add(Sources& to, Sources sources) {
    if ((to | sources) == to) return;
    to |= sources;
    changed_ = true;
  }
  void addTo(const Variable* variable, Sources sources) {
    if (variable != nullptr) add(sources_[variable], sources);
  }

  /// The arrays that a name may stand for.
  std::vector<const Variable*> basesOf(const Variable* array) {
    const auto found = bases_.find(array);
    if (found != bases_.end()) return found->second;
    if (array->role == Role::Declared) return {array};
    return {};
  }
  void addBases(const Variable* name, const Variable* target) {
    for (const Variable* base : basesOf(target)) {
      std::vector<const Variable*>& all = bases_[name];
      if (std::find(all.begin(), all.end(), base) != all.end()) continue;
      all.push_back(base);
      changed_ = true;
    }
    add(offsets_[name], offsets_[target]);
  }

  /// Where the accesses of a parameter follow each part's range, their indices say nothing else.
  Sources placeOf(const Variable* base, const Access& access, bool isRead) {
    const ArrayAccess* summary = access_.find(base);
    Sources all = offsets_[access.array];
    for (const Expr* index : access.indices) all |= of(*index);
    if (summary == nullptr) return all;
    const unsigned split = roles_[static_cast<std::size_t>(base->paramIndex)].split;
    const std::vector<IndexForm>& forms = isRead ? summary->reads : summary->writes;
    if (forms.empty()) return kPlace;
    const bool isDirect =
        access.array->role == Role::ArrayParam && access.indices.size() == forms.size();
    Sources place = 0;
    for (std::size_t d = 0; d < forms.size(); ++d) {
      if (((split >> d) & 1U) == 0) {
        place |= isDirect ? of(*access.indices[d]) : all;
      } else if (!forms[d].isAffine()) {
        place |= kPlace;
      }
    }
    return place;
  }

  Sources ofAccess(const Access& access) {
    const std::vector<const Variable*> bases = basesOf(access.array);
    if (bases.empty()) return kPlace;
    Sources sources = 0;
    for (const Variable* base : bases)
      sources |= sources_[memoryOf(base)] | placeOf(base, access, true);
    return sources;
  }

  /// The sum that gridx, gridy and gridz are: each of its operands differs between parts, they
  /// together do not.
  bool isAlignedPosition(const Expr& expr) const {
    const auto* sum = expr.as<Binary>();
    if (sum == nullptr || sum->op != BinaryOp::Add) return false;
    const auto* id = sum->left->as<WorkItem>();
    const auto* origin = sum->right->as<WorkItem>();
    return id != nullptr && origin != nullptr && id->query == Query::GlobalId &&
           origin->query == Query::Origin && id->dim == origin->dim && id->dim < 3 &&
           ((alignedAxes_ >> id->dim) & 1U) != 0;
  }

  Sources of(const Expr& expr) {
    if (const auto* ref = expr.as<VarRef>()) return sources_[ref->variable];
    if (const auto* item = expr.as<WorkItem>()) {
      const bool isGlobal = item->query == Query::GlobalId || item->query == Query::GlobalSize;
      return isGlobal && item->dim < 3 ? 1U << item->dim : kPlace;
    }
    if (isAlignedPosition(expr)) return 0;
    if (const auto known = known_.find(&expr); known != known_.end()) return known->second;
    Sources sources = 0;
    if (const auto* access = expr.as<Access>()) {
      sources = ofAccess(*access);
    } else {
      forEachOperand(expr, [&](const Expr& operand) { sources |= of(operand); });
      const auto comparison = comparisons_.understood.find(&expr);
      if (comparison != comparisons_.understood.end() && comparison->second) sources = 0;
      if (const auto* select = expr.as<Select>()) add(control_, of(*select->condition));
    }
    return known_[&expr] = sources;
  }

  void store(const Expr& target, Sources value) {
    const Access* access = accessOf(target);
    if (access == nullptr) return addTo(rootOf(target), value);
    const std::vector<const Variable*> bases = basesOf(access->array);
    if (bases.empty()) add(control_, kPlace);
    for (const Variable* base : bases) addTo(memoryOf(base), value | placeOf(base, *access, false));
  }

  void visitFunction(const Function& function) {
    function_ = &function;
    if (function.native != nullptr) {
      // It may ask for anything.
      add(results_[&function], kPlace);
      for (const Variable* parameter : function.params) {
        if (parameter->rank == 0 || parameter->readOnly) continue;
        for (const Variable* base : basesOf(parameter)) addTo(memoryOf(base), kPlace);
      }
    }
    if (function.body != nullptr) visit(*function.body);
  }

  void visit(const Block& block) {
    for (const Stmt* stmt : block.stmts) visit(*stmt);
  }

  void visit(const Stmt& stmt) {
    forEachBlock(stmt, [&](const Block& block) { visit(block); });
    if (const auto* declare = stmt.as<Declare>()) {
      if (declare->init != nullptr) addTo(declare->variable, of(*declare->init));
    } else if (const auto* assign = stmt.as<Assign>()) {
      store(*assign->target, of(*assign->value));
    } else if (const auto* bind = stmt.as<Bind>()) {
      const auto& target = *bind->target->as<Access>();
      addBases(bind->alias, target.array);
      for (const Expr* index : target.indices) add(offsets_[bind->alias], of(*index));
    } else if (const auto* atomic = stmt.as<Atomic>()) {
      // The order in which work-items arrive decides.
      store(*atomic->target, kPlace);
      addTo(atomic->result, kPlace);
    } else if (const auto* call = stmt.as<Call>()) {
      visitCall(*call);
    } else if (const auto* call = stmt.as<BuiltinCall>()) {
      Sources sources = 0;
      for (const Expr* arg : call->args) sources |= of(*arg);
      addTo(call->result, sources);
      addTo(call->out, sources);
    } else if (const auto* leave = stmt.as<Return>()) {
      if (leave->value != nullptr) add(results_[function_], of(*leave->value));
    } else if (stmt.as<If>() != nullptr || stmt.as<Loop>() != nullptr ||
               stmt.as<DoLoop>() != nullptr) {
      forEachExpr(stmt, [&](const Expr& condition) { add(control_, of(condition)); });
    }
  }

  void visitCall(const Call& call) {
    const std::vector<const Variable*>& params = call.function->params;
    for (std::size_t i = 0; i < call.args.size() && i < params.size(); ++i) {
      if (const auto* array = call.args[i]->as<ArrayRef>()) {
        addBases(params[i], array->array);
      } else {
        addTo(params[i], of(*call.args[i]));
      }
    }
    addTo(call.result, results_[call.function]);
  }

  const Kernel& kernel_;
  const PartRoles& roles_;
  const unsigned alignedAxes_;
  const AccessSummary& access_;
  const Comparisons& comparisons_;
  /// For scalars, the elements of arrays, and the positions of aliases.
  std::unordered_map<const Variable*, Sources> sources_;
  std::unordered_map<const Variable*, Sources> offsets_;
  std::unordered_map<const Variable*, std::vector<const Variable*>> bases_;
  std::unordered_map<const Function*, Sources> results_;
  std::unordered_map<const Expr*, Sources> known_;
  /// The sources of all conditions that decide what is executed.
  Sources control_ = 0;
  /// The axes along which parts are displaced.
  Sources varying_ = kPlace;
  const Function* function_ = nullptr;
  bool changed_ = false;
};

}  // namespace

std::vector<bool> sameEverywhere(const Kernel& kernel, const PartRoles& roles, unsigned alignedAxes,
                                 const AccessSummary& access, const Comparisons& comparisons) {
  return SourceFinder(kernel, roles, alignedAxes, access, comparisons).find();
}

}  // namespace hpl::ir::detail
