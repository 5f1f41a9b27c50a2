// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hpl/ir/op.h"
#include "hpl/ir/type.h"

/// Operators, conversions and built-in functions, for a whole batch of work-items.
namespace hpl::ir::detail {

/// Types of an operation. Except where a function says otherwise, vector arguments have as many
/// lanes as the result.
struct Shape {
  Type result;
  std::vector<Type> args;
};

/// Computes `result[i] = f(args[0][i], ...)` for `items` work-items; values lie one after the other
/// at sizeOf(type). `out` is the second result of the built-ins that have an out-pointer. Defined
/// for all bit patterns: lanes of inactive work-items are computed on garbage.
using Operation = void (*)(const Shape& shape, const std::byte* const* args, std::byte* result,
                           std::byte* out, std::int64_t items);

/// Each returns null when the operation does not exist for these types.
Operation findUnary(UnaryOp op, const Shape& shape);
Operation findBinary(BinaryOp op, const Shape& shape);
/// Conversion of args[0]: scalar, vector, splat, real to complex.
Operation findCast(const Shape& shape);
/// Lane-wise choice by the most significant bits of args[0].
Operation findVectorSelect(const Shape& shape);
/// Built-in without (`out` Void) or with an out-pointer.
Operation findBuiltin(Builtin builtin, const Shape& shape);
Operation findOutBuiltin(Builtin builtin, const Shape& shape, const Type& out);

/// The families that findBuiltin consists of.
Operation findMath(Builtin builtin, const Shape& shape);
Operation findInteger(Builtin builtin, const Shape& shape);
Operation findCommon(Builtin builtin, const Shape& shape);
Operation findGeometric(Builtin builtin, const Shape& shape);
Operation findRelational(Builtin builtin, const Shape& shape);
Operation findRearranging(Builtin builtin, const Shape& shape);

}  // namespace hpl::ir::detail
