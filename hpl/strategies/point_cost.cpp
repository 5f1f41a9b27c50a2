// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/point_cost.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/loops.h"

namespace hpl::strategies {
namespace {

using ir::Expr;

/// Numbers expressions so that those of the same number have the same value wherever both are
/// computed: the same operations on the same operands, which nothing changes in between. Compilers
/// compute such ones once, whether the kernel names them or not.
class Values {
 public:
  Values(const ir::Kernel& kernel, const ir::AccessSummary& access) {
    for (const ir::ArrayAccess& array : access.arrays)
      if (!array.written) constant_.insert(array.array);
    findChanging(*kernel.entry->body);
  }

  /// 0: the value may be another one each time.
  std::uint64_t numberOf(const Expr& expr) {
    if (const auto known = known_.find(&expr); known != known_.end()) return known->second;
    const std::uint64_t number = find(expr);
    known_.emplace(&expr, number);
    return number;
  }

 private:
  /// The kind of node, its type, what it says by itself, and the numbers of its operands.
  using Key = std::tuple<std::size_t, std::string, std::vector<std::uint64_t>>;

  static std::uint64_t addressOf(const void* object) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(object));
  }

  void findChanging(const ir::Block& block) {
    for (const ir::Stmt* stmt : block.stmts) {
      if (const auto* declare = stmt->as<ir::Declare>(); declare && declare->init == nullptr)
        changing_.insert(declare->variable);
      if (const auto* assign = stmt->as<ir::Assign>())
        changing_.insert(ir::rootOf(*assign->target));
      if (const auto* atomic = stmt->as<ir::Atomic>()) {
        changing_.insert(ir::rootOf(*atomic->target));
        changing_.insert(atomic->result);
      }
      if (const auto* call = stmt->as<ir::Call>()) changing_.insert(call->result);
      if (const auto* call = stmt->as<ir::BuiltinCall>())
        changing_.insert({call->result, call->out});
      ir::forEachBlock(*stmt, [&](const ir::Block& inner) { findChanging(inner); });
    }
  }

  /// Adds the text of a node besides its operands; false: nothing is known about its value.
  bool describe(const Expr& expr, std::vector<std::uint64_t>& key) const {
    const auto add = [&](auto value) { key.push_back(static_cast<std::uint64_t>(value)); };
    if (const auto* constant = expr.as<ir::Constant>()) {
      add(constant->bits);
      add(std::bit_cast<std::uint64_t>(constant->real));
    } else if (const auto* ref = expr.as<ir::VarRef>()) {
      add(addressOf(ref->variable));
      return changing_.count(ref->variable) == 0;
    } else if (const auto* read = expr.as<ir::Access>()) {
      add(addressOf(read->array));
      add(read->lanes);
      return constant_.count(read->array) != 0;
    } else if (const auto* item = expr.as<ir::WorkItem>()) {
      add(item->query);
      add(item->dim);
    } else if (const auto* unary = expr.as<ir::Unary>()) {
      add(unary->op);
    } else if (const auto* binary = expr.as<ir::Binary>()) {
      add(binary->op);
    } else if (const auto* component = expr.as<ir::Component>()) {
      key.insert(key.end(), component->lanes.begin(), component->lanes.end());
    } else if (const auto* member = expr.as<ir::Member>()) {
      add(member->field);
    } else if (const auto* builtin = expr.as<ir::BuiltinExpr>()) {
      add(builtin->builtin);
    }
    return expr.as<ir::ArrayRef>() == nullptr;
  }

  std::uint64_t find(const Expr& expr) {
    Key key{expr.node.index(), ir::describe(expr.type), {}};
    std::vector<std::uint64_t>& parts = std::get<2>(key);
    bool isKnown = describe(expr, parts);
    ir::forEachOperand(expr, [&](const Expr& operand) {
      parts.push_back(isKnown ? numberOf(operand) : 0);
      isKnown = isKnown && parts.back() != 0;
    });
    return isKnown ? numbers_.try_emplace(std::move(key), numbers_.size() + 1).first->second : 0;
  }

  /// Arrays that the kernel does not write, and variables that it gives more than one value.
  std::unordered_set<const ir::Variable*> constant_;
  std::unordered_set<const ir::Variable*> changing_;
  std::unordered_map<const Expr*, std::uint64_t> known_;
  std::map<Key, std::uint64_t> numbers_;
};

/// Divisions and roots have a unit of their own, which works while others do what stands around
/// them: in stencil functions with one to three of each, in vectors of 16 floats on a Zen 5 core,
/// they took about as long as this.
constexpr double kDivision = 3;
constexpr double kRoot = 3;
constexpr double kCall = 60;

/// Integers have no such unit. By a constant compilers divide with a product and shifts, by a power
/// of two with shifts; everything else, and all of 64 bits, goes lane by lane. Measured against
/// products and sums in vectors of 16 integers on a Zen 5 core.
constexpr double kByConstant = 8;
constexpr double kByPowerOfTwo = 4;
constexpr double kByWideConstant = 28;
constexpr double kByVariable = 170;
/// The cost of a remainder beyond that of a quotient.
constexpr double kRemainder = 2;

/// The number that an integer expression is, converted or not.
std::optional<std::uint64_t> constantOf(const Expr& expr) {
  if (const auto* cast = expr.as<ir::Cast>(); cast && !expr.type.isFloating())
    return cast->operand->type.isFloating() ? std::nullopt : constantOf(*cast->operand);
  if (const auto* constant = expr.as<ir::Constant>()) return constant->bits;
  return std::nullopt;
}

double costOfIntegerDivision(const ir::Type& type, const ir::Binary& binary) {
  std::optional<std::uint64_t> by = constantOf(*binary.right);
  if (!by || *by == 0) return kByVariable;
  if (type.isSigned() && static_cast<std::int64_t>(*by) < 0) by = 0 - *by;
  const double more = binary.op == ir::BinaryOp::Rem ? kRemainder : 0;
  const bool isPower = std::has_single_bit(*by);
  if (isPower && !type.isSigned()) return 1;
  if (isPower) return kByPowerOfTwo + more;
  return (ir::sizeOf(type.scalar) > 4 ? kByWideConstant : kByConstant) + more;
}

double costOfBuiltin(const ir::BuiltinExpr& builtin) {
  switch (ir::infoOf(builtin.builtin).family) {
    case ir::BuiltinFamily::Math:
      break;
    default:
      return 1;
  }
  switch (builtin.builtin) {
    case ir::Builtin::fabs_:
    case ir::Builtin::fmin_:
    case ir::Builtin::fmax_:
    case ir::Builtin::fma_:
    case ir::Builtin::mad_:
      return 1;
    case ir::Builtin::sqrt_:
      return kRoot;
    case ir::Builtin::rsqrt_:
      return kRoot + kDivision;
    default:
      return kCall;
  }
}

class Counter {
 public:
  Counter(PointCost& cost, Values values) : cost_(cost), values_(std::move(values)) {}

  void visit(const Expr& expr) {
    // Indices cost nothing: they are known beforehand.
    if (expr.as<ir::Access>() != nullptr) return;
    const std::uint64_t value = values_.numberOf(expr);
    if (value != 0 && !counted_.insert(value).second) return;
    if (const auto* item = expr.as<ir::WorkItem>())
      cost_.usesPosition = cost_.usesPosition || item->query == ir::Query::GlobalId;
    if (const auto* binary = expr.as<ir::Binary>()) cost_.operations += costOfBinary(expr, *binary);
    if (const auto* builtin = expr.as<ir::BuiltinExpr>()) {
      const double operations = costOfBuiltin(*builtin);
      cost_.operations += operations;
      cost_.calls += operations == kCall ? 1 : 0;
    }
    if (expr.as<ir::Select>() != nullptr || expr.as<ir::Unary>() != nullptr) cost_.operations += 1;
    ir::forEachOperand(expr, [&](const Expr& operand) { visit(operand); });
  }
  void visit(const ir::Block& block) {
    for (const ir::Stmt* stmt : block.stmts) {
      ir::forEachExpr(*stmt, [&](const Expr& expr) { visit(expr); });
      if (const auto* declare = stmt->as<ir::Declare>())
        note(declare->variable, declare->init != nullptr && dependsOnValues(*declare->init));
      if (const auto* assign = stmt->as<ir::Assign>())
        note(ir::rootOf(*assign->target), dependsOnValues(*assign->value));
      if (const auto* branch = stmt->as<ir::If>(); branch && dependsOnValues(*branch->condition))
        cost_.sides += branch->otherwise != nullptr && !branch->otherwise->stmts.empty() ? 2 : 1;
      ir::forEachBlock(*stmt, [&](const ir::Block& inner) { visit(inner); });
    }
  }

 private:
  void note(const ir::Variable* variable, bool depends) {
    if (depends) ofValues_.insert(variable);
  }
  /// On what cells hold, as far as the statements so far tell.
  bool dependsOnValues(const Expr& expr) const {
    if (expr.as<ir::Access>() != nullptr) return true;
    if (const auto* ref = expr.as<ir::VarRef>()) return ofValues_.count(ref->variable) != 0;
    bool depends = false;
    ir::forEachOperand(expr,
                       [&](const Expr& operand) { depends = depends || dependsOnValues(operand); });
    return depends;
  }
  double costOfBinary(const Expr& expr, const ir::Binary& binary) {
    const bool isReal = expr.type.isFloating();
    switch (binary.op) {
      case ir::BinaryOp::Div:
      case ir::BinaryOp::Rem:
        return isReal ? kDivision : costOfIntegerDivision(expr.type, binary);
      case ir::BinaryOp::Add:
      case ir::BinaryOp::Sub:
        return isReal && (isOwnProduct(*binary.left) || isOwnProduct(*binary.right)) ? 0 : 1;
      default:
        return 1;
    }
  }
  /// A product that nothing else has needed so far: adding it is one operation with it.
  bool isOwnProduct(const Expr& expr) {
    const auto* binary = expr.as<ir::Binary>();
    return binary != nullptr && binary->op == ir::BinaryOp::Mul &&
           counted_.count(values_.numberOf(expr)) == 0;
  }

  PointCost& cost_;
  Values values_;
  std::set<std::uint64_t> counted_;
  std::unordered_set<const ir::Variable*> ofValues_;
};

/// Whether the same cells are read by another access before this one.
bool isRepeated(const ir::ArrayAccess& array, std::size_t site) {
  if (array.written) return false;
  const std::vector<ir::IndexForm>& index = array.sites[site].index;
  const bool isKnown = std::none_of(index.begin(), index.end(),
                                    [](const ir::IndexForm& form) { return form.isUnknown(); });
  return isKnown &&
         std::any_of(array.sites.begin(), array.sites.begin() + static_cast<std::ptrdiff_t>(site),
                     [&](const ir::AccessSite& other) { return other.index == index; });
}

}  // namespace

PointCost& PointCost::operator+=(const PointCost& other) {
  operations += other.operations;
  reads += other.reads;
  writes += other.writes;
  calls += other.calls;
  sides += other.sides;
  usesPosition = usesPosition || other.usesPosition;
  usesProbe = usesProbe || other.usesProbe;
  leavesOut = leavesOut || other.leavesOut;
  isStraight = isStraight && other.isStraight;
  return *this;
}

namespace {

/// Whether the ids alone lead to all elements, one along each dimension.
bool readsAround(const ir::AccessSummary& access) {
  for (const ir::ArrayAccess& array : access.arrays)
    for (const ir::AccessSite& site : array.sites)
      for (std::size_t d = 0; d < site.index.size(); ++d) {
        const ir::IndexForm& form = site.index[d];
        if (!form.isAffine() || form.axis != static_cast<int>(site.index.size() - 1 - d))
          return false;
      }
  return true;
}

}  // namespace

PointCost costOf(const ir::Kernel& kernel, const ir::AccessSummary& access) {
  PointCost cost;
  Counter(cost, Values(kernel, access)).visit(*kernel.entry->body);
  cost.usesProbe = access.usesProbe;
  double sites = 0;
  for (const ir::ArrayAccess& array : access.arrays) {
    cost.writes += array.written ? 1 : 0;
    cost.leavesOut = cost.leavesOut || (array.written && !array.coversThreads);
    for (std::size_t k = 0; k < array.sites.size(); ++k) {
      const ir::AccessSite& site = array.sites[k];
      if (!site.reads || isRepeated(array, k)) continue;
      double cells = 1;
      for (const ir::IndexForm& form : site.index)
        cells *= static_cast<double>(form.range.hi - form.range.lo + 1);
      cost.reads += cells;
      sites += 1;
    }
  }
  if (sites > 0) cost.operations *= cost.reads / sites;
  cost.isStraight = !cost.usesProbe && !cost.leavesOut && readsAround(access) &&
                    !detail::hasLoop(*kernel.entry->body) && !detail::mayTrap(*kernel.entry->body);
  return cost;
}

}  // namespace hpl::strategies
