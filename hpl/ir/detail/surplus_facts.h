// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/ir/kernel.h"

namespace hpl::ir::detail {

/// The ids and contents of local arrays that a value may depend on, one bit each.
using Deps = std::uint64_t;

constexpr Deps globalIdBit(int axis) { return Deps{1} << axis; }
constexpr Deps localIdBit(int axis) { return Deps{8} << axis; }
constexpr Deps groupIdBit(int axis) { return Deps{64} << axis; }
inline constexpr Deps kAnyGlobalId = 7;
inline constexpr Deps kAnyLocalId = 7 << 3;
/// Read from a local array at an index that is the same for all work-items of the group.
inline constexpr Deps kScan = Deps{1} << 9;
inline constexpr int kFirstArrayBit = 10;
inline constexpr Deps kArrays = ~Deps{0} << kFirstArrayBit;

/// Bit a: the global id along axis a, or local and group id together, which make it up.
constexpr std::uint8_t ownAxes(Deps deps) {
  std::uint8_t axes = 0;
  for (int a = 0; a < 3; ++a) {
    const bool both = (deps & localIdBit(a)) != 0 && (deps & groupIdBit(a)) != 0;
    if ((deps & globalIdBit(a)) != 0 || both) axes |= static_cast<std::uint8_t>(1u << a);
  }
  return axes;
}

/// Data flow of a kernel, whatever the order of its statements; functions are taken once for all
/// their calls.
class SurplusFacts {
 public:
  /// Something that is assigned.
  struct Value {
    /// Null: not known here.
    const Expr* expr = nullptr;
    /// Result of an atomic or a native call, which surplus work-items leave out: 0 for them.
    bool isLeftOut = false;
    /// Under a condition that bounds the work-item's own id from above.
    bool guarded = false;
    /// Dependences of the conditions around it.
    Deps conditions = 0;
  };
  /// A store to a local array or scalar.
  struct Store {
    const Variable* array = nullptr;
    Value value;
    SourceLocation where;
  };

  explicit SurplusFacts(const Kernel& kernel);

  bool hasBarrier() const { return hasBarrier_; }
  const std::vector<Store>& stores() const { return stores_; }
  /// Loads of global and constant memory, aliases excluded.
  const std::unordered_set<const Access*>& loads() const { return loads_; }
  const std::unordered_map<const Variable*, std::vector<Value>>& assigned() const {
    return values_;
  }
  /// All that private variables and arrays get, and parameters of functions; empty for others.
  const std::vector<Value>& valuesOf(const Variable* variable) const;
  /// The one value that a scalar ever gets; null when there are several or none.
  const Expr* onlyValue(const Variable* variable) const;
  /// The bits of the local arrays behind a name; 0 for other memory.
  Deps arraysBehind(const Variable* variable) const;
  Deps depsOf(const Expr& expr) const;

 private:
  void walk(const Function& function);
  void walk(const Block* block);
  void walk(const Stmt& stmt);
  void walkAssign(const Assign& assign, const SourceLocation& where);
  void walkCall(const Call& call);
  void walkBranch(const If& branch);
  void note(const Expr& expr);
  void addValue(const Variable* variable, const Expr* expr, bool isLeftOut = false);
  void nameArrays(const Kernel& kernel);
  bool spread();
  bool addDeps(const Variable* variable, Deps deps);

  std::unordered_map<const Variable*, std::vector<Value>> values_;
  std::unordered_map<const Variable*, std::vector<const Variable*>> namesOf_;
  std::unordered_map<const Variable*, Deps> deps_;
  std::unordered_map<const Variable*, Deps> arrays_;
  mutable std::unordered_map<const Expr*, Deps> known_;
  std::unordered_set<const Expr*> noted_;
  std::unordered_set<const Access*> loads_;
  std::vector<Store> stores_;
  const Function* function_ = nullptr;
  std::unordered_map<const Function*, std::vector<const Expr*>> returns_;
  std::vector<const Expr*> conditions_;
  int guards_ = 0;
  bool hasBarrier_ = false;
  bool settled_ = false;
};

/// Whether the condition holds for ids below something only; `negated`: in its else branch.
bool boundsIdAbove(const SurplusFacts& facts, const Expr& condition, bool negated = false);

}  // namespace hpl::ir::detail
