// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/surplus.h"

#include <algorithm>

#include "hpl/ir/detail/surplus_combined.h"
#include "hpl/ir/walk.h"

namespace hpl::ir {
namespace {

using detail::Deps;
using detail::SurplusFacts;
using LoadAxes = std::unordered_map<const Access*, std::uint8_t>;

const Expr& withoutCasts(const Expr& expr) {
  const auto* cast = expr.as<Cast>();
  return cast != nullptr ? withoutCasts(*cast->operand) : expr;
}

/// The value itself where it is in a variable that never gets another one.
const Expr& behind(const SurplusFacts& facts, const Expr& expr) {
  const Expr& plain = withoutCasts(expr);
  const auto* ref = plain.as<VarRef>();
  const Expr* value = ref != nullptr ? facts.onlyValue(ref->variable) : nullptr;
  return value != nullptr ? behind(facts, *value) : plain;
}

bool isQuery(const Expr& expr, Query query, int axis) {
  const auto* item = expr.as<WorkItem>();
  return item != nullptr && item->query == query && item->dim == axis;
}

bool isGroupStart(const SurplusFacts& facts, const Expr& expr, int axis) {
  const auto* product = expr.as<Binary>();
  if (product == nullptr || product->op != BinaryOp::Mul) return false;
  return isQuery(behind(facts, *product->left), Query::GroupId, axis) ||
         isQuery(behind(facts, *product->right), Query::GroupId, axis);
}

/// The axis whose id the index is, spelled `idx` or `gidx * lszx + lidx`; -1: another index.
int axisOfOwnId(const SurplusFacts& facts, const Expr& index) {
  const Expr& expr = behind(facts, index);
  for (int axis = 0; axis < 3; ++axis) {
    if (isQuery(expr, Query::GlobalId, axis)) return axis;
    const auto* sum = expr.as<Binary>();
    if (sum == nullptr || sum->op != BinaryOp::Add) continue;
    const Expr& left = behind(facts, *sum->left);
    const Expr& right = behind(facts, *sum->right);
    if (isGroupStart(facts, left, axis) && isQuery(right, Query::LocalId, axis)) return axis;
    if (isGroupStart(facts, right, axis) && isQuery(left, Query::LocalId, axis)) return axis;
  }
  return -1;
}

/// The loads from which a value is made.
class LoadCollector {
 public:
  explicit LoadCollector(const SurplusFacts& facts) : facts_(facts) {}

  std::unordered_set<const Access*> loads;

  void collect(const Expr& expr) {
    if (const auto* ref = expr.as<VarRef>()) return collectValues(ref->variable);
    if (isLeaf(expr) || !visited_.insert(&expr).second) return;
    if (const auto* access = expr.as<Access>()) {
      if (facts_.loads().count(access) != 0) loads.insert(access);
      if (access->array->space == Space::Private) collectValues(access->array);
    }
    forEachOperand(expr, [this](const Expr& operand) { collect(operand); });
  }

 private:
  void collectValues(const Variable* variable) {
    if (!followed_.insert(variable).second) return;
    for (const SurplusFacts::Value& value : facts_.valuesOf(variable))
      if (value.expr != nullptr) collect(*value.expr);
  }

  const SurplusFacts& facts_;
  std::unordered_set<const Expr*> visited_;
  std::unordered_set<const Variable*> followed_;
};

LoadAxes findAxes(const SurplusFacts& facts, const detail::Combined& combined) {
  LoadCollector tiles(facts), trees(facts);
  for (const SurplusFacts::Store& store : facts.stores()) {
    const Deps arrays = facts.arraysBehind(store.array);
    if ((arrays & combined.any()) == 0) tiles.collect(*store.value.expr);
    if ((arrays & combined.trees) != 0) trees.collect(*store.value.expr);
  }
  LoadAxes axes;
  for (const Access* load : facts.loads()) {
    std::uint8_t masked = 0;
    std::uint8_t own = 0;
    for (const Expr* index : load->indices) {
      masked |= detail::ownAxes(facts.depsOf(*index));
      if (const int axis = axisOfOwnId(facts, *index); axis >= 0)
        own |= static_cast<std::uint8_t>(1u << axis);
    }
    if (tiles.loads.count(load) != 0) {
      masked &= own;
    } else if (trees.loads.count(load) != 0) {
      masked = kAllAxes;
    }
    if (masked != kAllAxes) axes.emplace(load, masked);
  }
  return axes;
}

/// Whether a value of surplus work-items comes from their own ids, or from loads that give 0 to
/// them.
class OwnTest {
 public:
  OwnTest(const SurplusFacts& facts, const LoadAxes& axes) : facts_(facts), axes_(axes) {}

  bool isOwn(const Expr& expr) {
    if (const auto* item = expr.as<WorkItem>()) return item->query == Query::GlobalId;
    if (const auto* ref = expr.as<VarRef>())
      return facts_.arraysBehind(ref->variable) == 0 && isOwn(ref->variable);
    if (isLeaf(expr) || !visited_.insert(&expr).second) return false;
    if (const auto* access = expr.as<Access>()) return isOwn(*access);
    if (const auto* select = expr.as<Select>()) {
      if (detail::boundsIdAbove(facts_, *select->condition)) return isOwn(*select->no);
      if (detail::boundsIdAbove(facts_, *select->condition, true)) return isOwn(*select->yes);
    }
    bool own = false;
    bool isMadeUp = detail::ownAxes(facts_.depsOf(expr)) != 0;
    forEachOperand(expr, [&](const Expr& operand) {
      own = own || isOwn(operand);
      isMadeUp = isMadeUp && detail::ownAxes(facts_.depsOf(operand)) == 0;
    });
    return own || isMadeUp;
  }

 private:
  bool isOwn(const Access& access) {
    if (facts_.arraysBehind(access.array) != 0) return false;
    if (access.array->space == Space::Private) return isOwn(access.array);
    const auto found = axes_.find(&access);
    return found == axes_.end() || found->second != 0;
  }

  bool isOwn(const Variable* variable) {
    if (!followed_.insert(variable).second) return false;
    const auto& values = facts_.valuesOf(variable);
    return std::any_of(values.begin(), values.end(), [this](const SurplusFacts::Value& value) {
      return !value.guarded && value.expr != nullptr && isOwn(*value.expr);
    });
  }

  const SurplusFacts& facts_;
  const LoadAxes& axes_;
  std::unordered_set<const Expr*> visited_;
  std::unordered_set<const Variable*> followed_;
};

}  // namespace

SurplusLoads::SurplusLoads(const Kernel& kernel) {
  const SurplusFacts facts(kernel);
  if (facts.hasBarrier()) axes_ = findAxes(facts, detail::findCombined(facts));
}

bool SurplusLoads::anyWithin(int guardDims) const {
  const auto mask = static_cast<std::uint8_t>((1u << guardDims) - 1);
  return std::any_of(axes_.begin(), axes_.end(),
                     [mask](const auto& load) { return (load.second & mask) != mask; });
}

std::optional<SurplusDefect> findSurplusDefect(const Kernel& kernel) {
  const SurplusFacts facts(kernel);
  if (!facts.hasBarrier()) return std::nullopt;
  const detail::Combined combined = detail::findCombined(facts);
  const LoadAxes axes = findAxes(facts, combined);
  for (const SurplusFacts::Store& store : facts.stores()) {
    const Deps arrays = facts.arraysBehind(store.array) & combined.any();
    const Expr& value = *store.value.expr;
    // A value that the group has already combined belongs to no single work-item.
    if (arrays == 0 || store.value.guarded || (facts.depsOf(value) & arrays) != 0) continue;
    if (!OwnTest(facts, axes).isOwn(value)) continue;
    const bool isZero = detail::ZeroTest(facts, axes, 0).isZero(value);
    if (!isZero || (arrays & combined.notSums) != 0) return SurplusDefect{store.array, store.where};
  }
  return std::nullopt;
}

}  // namespace hpl::ir
