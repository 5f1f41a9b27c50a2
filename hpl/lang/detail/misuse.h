// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "hpl/lang/detail/kernel_term.h"

/// Common parts of the messages for mistakes in a program: overloads and conversions that only
/// wrong code chooses, with one sentence as their error. Each gives an object of the right type
/// afterwards, so that the sentence is all that compilers print.
namespace hpl::detail {

/// False, once it is known for which types.
template <class...>
inline constexpr bool kNever = false;

/// Stands for a result behind a static_assert that has failed.
template <class R>
[[noreturn]] R noResult() {
  __builtin_unreachable();
}

/// A value of a kernel that lacks an index: `a[i]` of an array of two dimensions, or `a` alone.
/// Functions of kernel values accept it in order to refuse it by kIndexed.
template <class X>
concept Unindexed = requires { typename std::remove_cvref_t<X>::hpl_unindexed; };

// Variables, as compilers explain concepts that do not hold at length. The assertion stands where
// the program calls: each function between takes two or three lines of the message.
template <class... X>
inline constexpr bool kIndexed = !(Unindexed<X> || ...);

/// Sentences that several places have as their error.
#define HPL_INDEX_IS_MISSING                                                                  \
  "HPL: an index is missing: an element of an Array<T, N> is a[i]...[k] with N indices, and " \
  "whole arrays have no arithmetic"
#define HPL_NO_PLACE                                                                            \
  "HPL: this is a value and no place to write to: elements of const arrays, results of "        \
  "expressions and positions are read only; declare the parameter Array<T, N>, or a variable, " \
  "Float v = x"

/// Conversions that C++ asks of values of a kernel. They are explicit, so that functions overloaded
/// for host and kernel values choose as they would without them.
template <class T>
struct NoHostValue : KernelTerm {
  explicit operator bool() const {
    static_assert(kNever<T>,
                  "HPL: C++ decides on this value while the kernel is recorded, when it has none "
                  "yet: write if_, while_, for_ or where(condition, a, b)");
    return false;
  }
  template <class V>
    requires(std::is_arithmetic_v<V> && !std::is_same_v<V, bool>)
  explicit operator V() const {
    static_assert(
        kNever<V>,
        "HPL: C++ converts this value while the kernel is recorded, when it has none yet: "
        "write cast<T>(x), or declare a variable of the kernel, Float v = x");
    return V();
  }
};

}  // namespace hpl::detail
