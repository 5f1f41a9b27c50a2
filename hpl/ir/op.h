// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Operators, address spaces and built-in functions of the kernel IR.
namespace hpl::ir {

enum class UnaryOp : std::uint8_t { Plus, Negate, LogicalNot, BitNot };

enum class BinaryOp : std::uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  BitAnd,
  BitOr,
  BitXor,
  Shl,
  Shr,
  LogicalAnd,
  LogicalOr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge
};

/// Address space of a variable.
enum class Space : std::uint8_t { Private, Local, Global, Constant };

/// Queries of a work-item about its place in the NDRange. Origin: where id 0 stands in the whole
/// array; the same for all work-items of a launch.
enum class Query : std::uint8_t {
  GlobalId,
  LocalId,
  GroupId,
  GlobalSize,
  LocalSize,
  NumGroups,
  Origin
};
inline constexpr std::size_t kQueries = 7;

enum class AtomicOp : std::uint8_t {
  Add,
  Sub,
  Inc,
  Dec,
  Xchg,
  CmpXchg,
  Min,
  Max,
  And,
  Or,
  Xor,
  Load,
  Store
};

/// The ordering of an atomic load, an atomic store or a fence, as in C11: an acquire sees all
/// writes before the release whose value it reads.
enum class MemoryOrder : std::uint8_t { Relaxed, Acquire, Release, AcquireRelease };

/// The work-items between which it orders: of a group, of a device, of all devices.
enum class MemoryScope : std::uint8_t { Group, Device, AllDevices };

/// Fence flags of a barrier; may be combined.
enum BarrierFlags : std::uint8_t { kLocalFence = 1, kGlobalFence = 2 };

/// OpenCL 1.2 built-in functions, by family (section 6.12 of the OpenCL 1.2 specification).
enum class BuiltinFamily : std::uint8_t {
  Math,
  Integer,
  Common,
  Geometric,
  Relational,
  Reinterpret,
  Vector
};

enum class Builtin : std::uint16_t {
#define HPL_BUILTIN(name, arity, family) name##_,
#include "hpl/ir/builtins.def"
#undef HPL_BUILTIN
};

struct BuiltinInfo {
  const char* name;
  std::uint8_t arity;
  BuiltinFamily family;
};
const BuiltinInfo& infoOf(Builtin builtin);

/// OpenCL C's spelling of an operator.
const char* toString(UnaryOp op);
const char* toString(BinaryOp op);
/// Whether the operation exists for floating numbers.
bool worksOnFloats(AtomicOp op);
/// "private", "local", "global", "constant".
const char* toString(Space space);
/// "get_global_id", ...; OpenCL C has none for Origin: "hpl_origin".
const char* toString(Query query);
/// "atomic_add", ...
const char* toString(AtomicOp op);
/// "relaxed", "acquire", "release", "acq_rel".
const char* toString(MemoryOrder order);
/// "work_group", "device", "all_devices".
const char* toString(MemoryScope scope);

/// Comparison or logical operator: the result is int (or a signed integer vector).
constexpr bool isPredicate(BinaryOp op) { return op >= BinaryOp::LogicalAnd; }
/// The comparison that says the same with its sides exchanged.
BinaryOp mirrored(BinaryOp op);
/// The one that holds where the comparison does not; other operators stay.
BinaryOp negated(BinaryOp op);

}  // namespace hpl::ir
