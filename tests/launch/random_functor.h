// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hpl/hpl.h"

namespace hpl::test {

/// A kernel that draws its own statements while it is captured, in the embedded language: the same
/// ones for the same members. Whatever it draws is well defined on every device: no race, no access
/// out of bounds, no uninitialised read, barriers in uniform control flow only, and no operation
/// whose result OpenCL leaves open, under strict floating point.
///
/// Every work-item has arrays of its own, with indices that it computes, perhaps from their
/// elements, reads `in` and `table` anywhere, reads and writes one cell of its own of `out` and
/// `state`, perhaps only sometimes, changes its `t`, and updates `counters` by one kind of atomic
/// operation.
struct RandomFunctor {
  std::uint64_t seed = 0;
  /// Extents of `out` and `state`, which are the global domain, and of `in` and `table`.
  std::int64_t rows = 1, columns = 1;
  std::int64_t inRows = 1, inColumns = 1;
  std::int64_t tableSize = 1;
  /// The work-group, when the kernel is to exchange values through local memory; then it divides
  /// the domain. 0: no barriers.
  std::int64_t groupRows = 0, groupColumns = 0;
  /// Division and square root of floats, which devices round correctly only where they can.
  std::int64_t floatDivision = 1;
  /// Nothing that keeps neighbours from being computed in the lanes of vectors, as far as that can
  /// be said of a kernel without following its values: `in` has the extents of `out` then.
  std::int64_t sideBySide = 0;

  static constexpr std::int64_t kCounters = 4;

  void operator()(Array<unsigned, 2> out, Array<float, 2> state, Array<unsigned, 1> counters,
                  const Array<unsigned, 2>& in, const Array<float, 1>& table, Uint s,
                  Float t) const;
};

}  // namespace hpl::test
