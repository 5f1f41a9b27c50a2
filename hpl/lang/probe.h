// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>

#include "hpl/lang/expr.h"
#include "hpl/lang/half.h"

namespace hpl {

namespace detail {

template <class V>
inline constexpr bool kProbed = Operand<V> && !Unindexed<V> && ScalarType<ValueOf<V>>;

}  // namespace detail

/// Shows the value of a number on stderr, from a kernel:
///
///     probe("flux", flux);
///     // hpl: probe flux = -3.25 at (4, 7), kernel 'advance' on pthread-AMD EPYC, solver.cpp:31
///
/// The position is that in the whole array: (gridx, gridy, gridz), as far as the launch has
/// dimensions. Lines come in the order of positions, and those of one position in the order of the
/// kernel, when the launch has finished: launches of a kernel with a probe wait for it, run as
/// written, and not several steps at once. HPL_PROBE_LINES limits the lines of a launch on each
/// device (20), and 50 times as many those of the program; 0 shows none.
///
/// Errors: KernelError outside of kernels.
template <class V>
void probe(const char* label, const V& value,
           const std::source_location& where = std::source_location::current()) {
  static_assert(detail::kProbed<V>,
                "HPL: probe(\"x\", value) shows a number: of a vector its components, v.x, of an "
                "array an element with all its indices");
  if constexpr (detail::kProbed<V>) {
    detail::setLocation(where);
    constexpr bool isHalf = std::is_same_v<detail::ValueOf<V>, half>;
    const detail::Node node = detail::nodeOf(value);
    detail::probeStatement(label, isHalf ? detail::convertNode(node, irType<float>()) : node);
  }
}

}  // namespace hpl
