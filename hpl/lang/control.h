// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <source_location>
#include <utility>

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
/// C++ `return`, `break` and `goto` may not leave a body, and a loop must have an end: a
/// KernelError names those that do not.
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

/// Whether X can decide: a scalar.
template <class X>
inline constexpr bool kDecides = Operand<X> && kIndexed<X> && ScalarType<ValueOf<X>>;

#define HPL_NO_CONDITION                                                                     \
  "HPL: the condition of if_, for_ and while_ must be a scalar: compare values of kernels; " \
  "any(v) "                                                                                  \
  "or all(v) of a vector"

/// The body of an if_, a loop or one of their like while it is recorded. The macros close it when
/// its end is reached. A body that is left before, by C++ `return`, `break` or `goto`, is reported
/// to the capture, which then gives no kernel: what follows was recorded for the wrong work-items,
/// or not at all. An exception may leave it, as that abandons the capture.
class Scope {
 public:
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  bool isOpen() const noexcept { return open_; }

 protected:
  Scope(const char* keyword, const std::source_location& where) : keyword_(keyword), where_(where) {
    setLocation(where);
  }
  ~Scope() {
    if (open_) bodyLeft(keyword_, where_, std::uncaught_exceptions() > exceptions_);
  }
  void opened() noexcept { open_ = true; }
  void closed() noexcept { open_ = false; }

 private:
  const char* keyword_;
  std::source_location where_;
  int exceptions_ = std::uncaught_exceptions();
  bool open_ = false;
};

class IfScope : public Scope {
 public:
  template <class X>
  explicit IfScope(const X& condition,
                   const std::source_location& where = std::source_location::current())
      : Scope("if_", where) {
    static_assert(kDecides<X>, HPL_NO_CONDITION);
    if constexpr (kDecides<X>) beginIf(nodeOf(condition));
    opened();
  }
  void close() {
    endBlock();
    closed();
  }
};

class ElseScope : public Scope {
 public:
  explicit ElseScope(const std::source_location& where = std::source_location::current())
      : Scope("else_", where) {
    beginElse(false);
    opened();
  }
  void close() {
    endBlock();
    closed();
  }
};

/// `else if`: an if inside an else branch. The condition is given as a callable because its own
/// statements, if any, belong into the else branch.
class ElseIfScope : public Scope {
 public:
  template <class Condition>
  explicit ElseIfScope(const Condition& condition,
                       const std::source_location& where = std::source_location::current())
      : Scope("elseif_", where) {
    using X = decltype(condition());
    static_assert(kDecides<X>, HPL_NO_CONDITION);
    beginElse(true);
    if constexpr (kDecides<X>) beginIf(nodeOf(condition()));
    opened();
  }
  void close() {
    endBlock();
    endBlock();
    closed();
  }
};

class LoopScope : public Scope {
 public:
  explicit LoopScope(const char* keyword, bool isFor,
                     const std::source_location& where = std::source_location::current())
      : Scope(keyword, where), isFor_(isFor) {}
  /// True once: what holds the loop is itself a loop, so that an `else` behind it finds its own if.
  bool once() noexcept { return !std::exchange(entered_, true); }
  /// Opens the body on the first call and closes it on the second.
  template <class Condition, class Step>
  bool next(Condition&& condition, Step&& step) {
    using X = decltype(condition());
    static_assert(kDecides<X>, HPL_NO_CONDITION);
    if (isOpen()) {
      endLoop();
      closed();
      return false;
    }
    beginLoop(isFor_);
    if constexpr (kDecides<X>) loopCondition(nodeOf(condition()));
    step();
    beginBody();
    opened();
    return true;
  }

 private:
  bool isFor_;
  bool entered_ = false;
};

class DoScope : public Scope {
 public:
  explicit DoScope(const std::source_location& where = std::source_location::current())
      : Scope("do_", where) {
    beginDo();
    opened();
  }
  void close() {
    endDoBody();
    closed();
  }
};

template <class Condition>
void finishDo(Condition&& condition) {
  using X = decltype(condition());
  static_assert(kDecides<X>, HPL_NO_CONDITION);
  if constexpr (kDecides<X>) endDo(nodeOf(condition()));
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

// Loops that run once: `break` leaves nothing but the body, whose end is the loop's step.
#define HPL_BODY(Kind, ...) \
  for (::hpl::detail::Kind HPL_UNIQUE{__VA_ARGS__}; HPL_UNIQUE.isOpen(); HPL_UNIQUE.close())
// As in HPL_BODY; written out, since compilers show each macro that a mistake in a condition is in.
#define if_(...)                                                                   \
  for (auto HPL_UNIQUE = ::hpl::detail::IfScope{__VA_ARGS__}; HPL_UNIQUE.isOpen(); \
       HPL_UNIQUE.close())
#define else_ HPL_BODY(ElseScope)
#define elseif_(...) HPL_BODY(ElseIfScope, [&] { return (__VA_ARGS__); })
#define else_if_(...) elseif_(__VA_ARGS__)
#define for_(init, ...) HPL_FOR##__VA_OPT__(_COMMAS)(init __VA_OPT__(, ) __VA_ARGS__)
#define HPL_FOR_COMMAS(init, condition, ...)                                  \
  for (::hpl::detail::LoopScope HPL_UNIQUE{"for_", true}; HPL_UNIQUE.once();) \
    for (init; HPL_UNIQUE.next([&] { return (condition); },                   \
                               [&] { (void)0 __VA_OPT__(, ) __VA_ARGS__; });)
// Of for_(Int i = 0; i < n; i++).
#define HPL_FOR(header)                                                                      \
  static_assert(::hpl::detail::kNever<::hpl::detail::LoopScope>,                             \
                "HPL: commas stand between the parts of for_: for_(Int i = 0, i < n, i++)"); \
  for (header)
#define while_(...)                                                              \
  for (::hpl::detail::LoopScope HPL_UNIQUE{"while_", false}; HPL_UNIQUE.once();) \
    for (; HPL_UNIQUE.next([&] { return (__VA_ARGS__); }, [] {});)
#define do_ HPL_BODY(DoScope)
#define dowhile_(...) ::hpl::detail::finishDo([&] { return (__VA_ARGS__); })
#define break_ ::hpl::detail::breakStatement()
#define continue_ ::hpl::detail::continueStatement()
#define return_(...) ::hpl::detail::emitReturn(__VA_ARGS__)

// End marks of older programs.
#define endif_
#define endfor_
#define endwhile_
#define end_
