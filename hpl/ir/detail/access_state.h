// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "hpl/ir/detail/index_value.h"

namespace hpl::ir::detail {

/// The array behind an array name of the current function.
struct Binding {
  /// Arrays of the entry function (or declared arrays) that it may reach.
  std::vector<const Variable*> bases;
  /// The whole of bases[0], index for index; otherwise a pointer.
  bool direct = false;
  /// Where the pointer points; Unknown unless all bases have rank 1.
  Value position;
};

/// One element, known exactly: a number or id + number in every dimension.
struct Element {
  const Variable* array;
  std::vector<IndexForm> index;
  friend bool operator==(const Element&, const Element&) = default;
};

/// Facts that hold for every work-item that reaches a point of the kernel.
struct State {
  /// Some work-item may get here.
  bool live = true;
  /// Some work-items may have left (return, break, continue) on the way.
  bool escaped = false;
  Values values;
  std::map<const Variable*, Binding> bindings;
  /// Elements that the work-item itself has written whole.
  std::vector<Element> overwritten;

  static State dead() {
    State state;
    state.live = false;
    return state;
  }
  void setValue(const Variable* variable, const Value& value);
  void forget(const Variable* variable) { values.erase(variable); }
  bool hasOverwritten(const Element& element) const;
  void addOverwritten(Element element);
};

/// The facts that hold after either of two paths.
State join(State a, const State& b);
Binding join(Binding a, const Binding& b);

/// The variables and arrays that the statements of a loop may change.
struct Effects {
  /// Assigned or declared scalars, one entry per statement.
  std::vector<const Variable*> assigned;
  std::vector<const Bind*> binds;

  void collect(const Block* block);
  void collect(const Stmt& stmt);
  long count(const Variable* variable) const;
};

/// Forgets in `state` whatever any number of iterations may have changed.
void forgetEffects(State& state, const Effects& effects);

/// A loop variable that runs over constant bounds.
struct Induction {
  const Variable* variable = nullptr;
  /// Values in prepare and in the condition.
  Interval atCondition;
  /// Values in the body and when the step begins.
  Interval inBody;
};

/// Recognises `for (i = a; i < b; i += c)` and its relatives (<=, >, >=, !=, negative strides,
/// bounds that are intervals because of outer loops). `before`: state when the loop begins; `head`:
/// the same without what the loop changes. A null variable when there is none.
Induction findInduction(const Loop& loop, const Effects& effects, const State& before,
                        const State& head, Budget& budget);

}  // namespace hpl::ir::detail
