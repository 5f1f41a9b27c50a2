// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <source_location>

#include "hpl/lang/expr.h"

/// Control flow of the embedded language. C++ runs each body once, while the kernel is captured;
/// the statements in it become the body of the device's `if` or loop.
///
///     if_(x < 0) { ... } elseif_(x == 0) { ... } else_ { ... }
///     for_(i = 0, i < n, i++) { ... }          // commas; the first part may declare: Int i = 0
///     while_(x < 1) { ... }
///     do_ { ... } dowhile_(x < 1);
///     break_; continue_; return_(value); return_();
///
/// Plain C++ `if` and `for` also work in kernels: they run during capture, so a `for` unrolls.
namespace hpl {

/// Fence flags of barrier(); may be combined with `|`.
enum MemoryFence : unsigned { LOCAL = ir::kLocalFence, GLOBAL = ir::kGlobalFence };
constexpr MemoryFence operator|(MemoryFence a, MemoryFence b) {
  return static_cast<MemoryFence>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// Waits until all work-items of the group arrive; memory of the named spaces is consistent after.
inline void barrier(MemoryFence fence = LOCAL,
                    const std::source_location& where = std::source_location::current()) {
  detail::setLocation(where);
  detail::barrierStatement(fence);
}

namespace detail {

template <Operand X>
Node conditionNode(const X& x) {
  static_assert(
      ScalarType<ValueOf<X>>,
      "HPL: the condition of if_, for_ and while_ must be a scalar; use any(v) or all(v)");
  return nodeOf(x);
}

/// Bodies close when their scope ends, but not while an exception leaves them: the capture is
/// abandoned then, and closing would hide the first error.
class Scope {
 protected:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  bool leftNormally() const noexcept { return std::uncaught_exceptions() == exceptions_; }

 private:
  int exceptions_ = std::uncaught_exceptions();
};

class IfScope : Scope {
 public:
  template <Operand X>
  explicit IfScope(const X& condition,
                   const std::source_location& where = std::source_location::current()) {
    setLocation(where);
    beginIf(conditionNode(condition));
  }
  ~IfScope() {
    if (leftNormally()) endBlock();
  }
};

class ElseScope : Scope {
 public:
  ElseScope() { beginElse(false); }
  ~ElseScope() {
    if (leftNormally()) endBlock();
  }
};

/// `else if`: an if inside an else branch. The condition is given as a callable because its own
/// statements, if any, belong into the else branch.
class ElseIfScope : Scope {
 public:
  template <class Condition>
  explicit ElseIfScope(const Condition& condition,
                       const std::source_location& where = std::source_location::current()) {
    setLocation(where);
    beginElse(true);
    beginIf(conditionNode(condition()));
  }
  ~ElseIfScope() {
    if (!leftNormally()) return;
    endBlock();
    endBlock();
  }
};

class LoopScope : Scope {
 public:
  explicit LoopScope(const std::source_location& where = std::source_location::current()) {
    setLocation(where);
  }
  ~LoopScope() {
    if (inBody_ && leftNormally()) endLoop();
  }
  /// Opens the body on the first call and closes it on the second.
  template <class Condition, class Step>
  bool next(Condition&& condition, Step&& step) {
    if (inBody_) {
      inBody_ = false;
      endLoop();
      return false;
    }
    beginLoop();
    loopCondition(conditionNode(condition()));
    step();
    beginBody();
    inBody_ = true;
    return true;
  }

 private:
  bool inBody_ = false;
};

class DoScope : Scope {
 public:
  explicit DoScope(const std::source_location& where = std::source_location::current()) {
    setLocation(where);
    beginDo();
  }
  ~DoScope() {
    if (leftNormally()) endDoBody();
  }
};

template <class Condition>
void finishDo(Condition&& condition) {
  endDo(conditionNode(condition()));
}

inline void emitReturn(const std::source_location& where = std::source_location::current()) {
  setLocation(where);
  returnStatement(nullptr);
}
template <Operand X>
void emitReturn(const X& value,
                const std::source_location& where = std::source_location::current()) {
  setLocation(where);
  returnStatement(nodeOf(value));
}

}  // namespace detail

}  // namespace hpl

#define HPL_CONCAT_2(a, b) a##b
#define HPL_CONCAT(a, b) HPL_CONCAT_2(a, b)
#define HPL_UNIQUE HPL_CONCAT(hplScope, __LINE__)

#define if_(...) if (const ::hpl::detail::IfScope HPL_UNIQUE{__VA_ARGS__}; true)
#define else_ if (const ::hpl::detail::ElseScope HPL_UNIQUE{}; true)
#define elseif_(...) \
  if (const ::hpl::detail::ElseIfScope HPL_UNIQUE{[&] { return (__VA_ARGS__); }}; true)
#define else_if_(...) elseif_(__VA_ARGS__)
#define for_(init, condition, ...)                          \
  if (::hpl::detail::LoopScope HPL_UNIQUE{}; true)          \
    for (init; HPL_UNIQUE.next([&] { return (condition); }, \
                               [&] { (void)0 __VA_OPT__(, ) __VA_ARGS__; });)
#define while_(...)                                \
  if (::hpl::detail::LoopScope HPL_UNIQUE{}; true) \
    for (; HPL_UNIQUE.next([&] { return (__VA_ARGS__); }, [] {});)
#define do_ if (const ::hpl::detail::DoScope HPL_UNIQUE{}; true)
#define dowhile_(...) ::hpl::detail::finishDo([&] { return (__VA_ARGS__); })
#define break_ ::hpl::detail::breakStatement()
#define continue_ ::hpl::detail::continueStatement()
#define return_(...) ::hpl::detail::emitReturn(__VA_ARGS__)

// End marks of older programs.
#define endif_
#define endfor_
#define endwhile_
#define end_
