// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/detail/index_value.h"

/// Indices that go round: a domain whose last cell is the neighbour of the first.
namespace hpl::ir::detail {

/// An id, or a form with edges, plus and minus the size of the same axis (a size plus a constant).
Value plusSize(const Value& id, const Value& size);
Value minusSize(const Value& id, const Value& size);

/// A form with edges plus offsets. The result is Unknown in types that wrap at less than 2^32, and
/// for other values.
Value plusOffsets(const Value& value, const Interval& offsets, const Type& type);

/// value % size in C's way, of ids and of ids beyond the size; the divisor is a size plus a
/// constant.
Value remainderBySize(const Value& value, const Value& size, const Type& type);

/// Either a value or a size plus a constant, which is an edge of an id.
Value joinSize(const Value& value, const Value& size);

/// The value of a choice. Conditions on an id tell which work-items mean the edges.
Value chosenValue(const Select& select, const Values& values, Budget& budget);

}  // namespace hpl::ir::detail
