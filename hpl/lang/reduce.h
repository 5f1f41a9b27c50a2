// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/lang/control.h"

namespace hpl {

namespace detail {

/// The parameters of a cooperative reduction; recorded when the Reduction object dies.
struct ReductionPlan {
  ir::Type type;
  std::string op;
  int ndims = 3;
  int groupSize = 0;
  int minGroupSize = 1;
  Symbol localMem = nullptr;
  int localElements = 0;  ///< of an array of its own; 0: one per work-item of any group
  bool toAll = false;
  bool inTree = true;
  bool unroll = false;
  bool syncReq = true;
  int nElems = 0;
  int nTeams = 1;
};

/// Records the statements of a reduction of `value` over the work-group into `dest`.
void recordReduction(const ReductionPlan& plan, Node dest, Node value);
[[noreturn]] void throwNoLocalMemory(int n);

template <class T>
class Reduction {
 public:
  Reduction(Node dest, Node value, const char* op) : dest_(dest), value_(value) {
    plan_.type = irType<T>();
    plan_.op = op;
  }
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;
  // Recording may report misuse; the object is a temporary of a full expression, so nothing else
  // is being destroyed.
  ~Reduction() noexcept(false) {
    if (std::uncaught_exceptions() == exceptions_) recordReduction(plan_, dest_, value_);
  }

  /// Number of dimensions that the work-group has (1: x only). Default 3: any. A launch with a
  /// group of more dimensions is a LaunchError.
  Reduction& ndims(int n) { return set(plan_.ndims, n); }
  /// The group's size, when it is known: sizes the local memory exactly and lets unroll() work. A
  /// launch with a group of another size is a LaunchError.
  Reduction& groupSize(int n) { return set(plan_.groupSize, n); }
  /// The group has at least this many work-items: the steps below it need no test.
  Reduction& minGroupSize(int n) { return set(plan_.minGroupSize, n); }
  /// Local memory to use: a 1-D local array. Default: an array of its own. An array declared in the
  /// kernel may be smaller than the group, which then takes turns; a local parameter needs one
  /// element per work-item.
  template <class A>
    requires requires(const A& array) { array.symbol(); }
  Reduction& localMem(const A& array) {
    plan_.localMem = array.symbol();
    return *this;
  }
  /// Local memory of n elements, at least one per team. With fewer than the group has work-items,
  /// these take turns: less local memory for more steps.
  Reduction& localMem(int n) {
    if (n < 1) throwNoLocalMemory(n);
    return set(plan_.localElements, n);
  }
  /// Every work-item gets the result, not only the first of the group (or team).
  Reduction& toAll(bool yes = true) { return set(plan_.toAll, yes); }
  /// Tree (the default) or, with false, one work-item adding up in order.
  Reduction& inTree(bool yes = true) { return set(plan_.inTree, yes); }
  /// Writes the steps of the tree out instead of looping; needs groupSize().
  Reduction& unroll(bool yes = true) { return set(plan_.unroll, yes); }
  /// Whether the local memory must be safe to reuse right after the reduction (a final barrier).
  Reduction& syncReq(bool yes = true) { return set(plan_.syncReq, yes); }
  /// Only the first n work-items of the group (of each team) contribute. Default: all.
  Reduction& nElems(int n) { return set(plan_.nElems, n); }
  /// The group is divided into n teams of consecutive work-items, each with a result of its own. A
  /// launch with a group that n does not divide is a LaunchError.
  Reduction& nTeams(int n) { return set(plan_.nTeams, n); }

 private:
  template <class V>
  Reduction& set(V& field, V value) {
    field = value;
    return *this;
  }
  ReductionPlan plan_;
  Node dest_;
  Node value_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace detail

/// Cooperative reduction over the work-group: `reduce(out[gidx], value, "+")` stores the
/// combination of every work-item's `value` in `dest`, which the first work-item of the group
/// writes. `op` is one of + * max min & | ^ && ||. Every work-item of the group must reach it; in
/// the last, partly filled group the missing work-items do not contribute. Modifiers follow with
/// dots: `reduce(sum, x, "+").groupSize(64).toAll()`. Throws KernelError for an unknown operator or
/// modifiers that contradict each other.
template <detail::KernelValue D, Operand V>
detail::Reduction<detail::ValueOf<D>> reduce(const D& dest, const V& value, const char* op) {
  using T = detail::ValueOf<D>;
  return detail::Reduction<T>(dest.node(), detail::converted<T>(value), op);
}

}  // namespace hpl
