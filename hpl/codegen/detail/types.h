// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/ir/node.h"

/// Types and literals in OpenCL C.
namespace hpl::codegen::detail {

/// Whether `type` is half without the device's support for half arithmetic: computed in float.
inline bool isHalf(const ir::Type& type) { return type.scalar == ir::Scalar::Half; }

/// C's integer promotions: what an operand of `type` has become inside arithmetic.
ir::Type promoted(const ir::Type& type);
/// C's usual arithmetic conversions of two scalars.
ir::Type commonType(const ir::Type& a, const ir::Type& b);
/// Number of bits that a scalar integer holds besides its sign.
int valueBits(ir::Scalar scalar);

/// Exact literal of a scalar type. Adds a leading '-' for negative values.
void appendLiteral(std::string& out, const ir::Constant& value, ir::Scalar scalar, bool hasHalf);
void appendInteger(std::string& out, std::int64_t value);

/// "__global " and so on; nothing for private memory.
const char* spaceQualifier(ir::Space space);
/// Spelling of what pointers to elements point to (bool is uchar in memory).
std::string memoryType(const ir::Type& type, bool hasHalf);
/// Spelling of the elements of declared arrays and of the fields of structs: as memoryType, but
/// without cl_khr_fp16 half has to be declared as ushort.
std::string storedType(const ir::Type& type, bool hasHalf);

/// The typedef of one struct; the structs that it contains must have been written before.
/// The device's layout equals the host's: where OpenCL C's own layout differs, the struct is
/// packed and padded explicitly.
std::string structTypedef(const ir::StructType& type, bool hasHalf);
/// Name of a field in OpenCL C.
std::string fieldName(const ir::StructType& type, std::size_t field);
std::string structName(const ir::StructType& type);
/// Type's spelling as a value (private variable, cast, literal).
std::string valueType(const ir::Type& type);

}  // namespace hpl::codegen::detail
