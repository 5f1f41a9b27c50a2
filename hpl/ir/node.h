// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hpl/ir/op.h"
#include "hpl/ir/type.h"

/// The typed, immutable tree that a captured kernel is. Expressions are pure: whatever has a side
/// effect (assignment, atomics, calls of functions) is a statement, so that analyses and
/// transformations may copy, move or drop expressions freely.
namespace hpl::ir {

/// Where in the user's kernel a node comes from; file is null when unknown. The string is a
/// literal.
struct SourceLocation {
  const char* file = nullptr;
  std::uint32_t line = 0;
};

struct Expr;
struct Stmt;
struct Function;

/// The role of a variable in its function.
enum class Role : std::uint8_t {
  /// Scalar (rank 0) parameter: a private copy that the function may change.
  ScalarParam,
  /// Array parameter of rank >= 1 (global, constant or local memory).
  ArrayParam,
  /// Declared in the body: private scalar or array, local scalar or array.
  Declared,
  /// AliasArray: a pointer into another array, bound by Bind statements (or by a call, when it is a
  /// parameter); accessed with one signed index. `rank` is 1.
  Alias
};

/// A named storage location. Identity is the pointer; `name` is unique within its function.
struct Variable {
  std::uint32_t id = 0;
  std::string name;
  Type type;
  /// 0 for scalars.
  int rank = 0;
  Space space = Space::Private;
  Role role = Role::Declared;
  /// Extents of a declared array, slowest dimension first; empty for parameters, aliases and
  /// scalars.
  std::vector<std::int64_t> extents;
  /// Only for a parameter that is given a view which is no box, where accesses are to be checked:
  /// the view's extents. `rank` is that of its box.
  std::vector<std::int64_t> viewExtents = {};
  /// Position among the parameters, -1 when not a parameter.
  int paramIndex = -1;
  /// The function may not write it (`const Array&` or Constant memory).
  bool readOnly = false;
  SourceLocation where;
};

/// Literal; integers of every signedness are stored in `bits` (sign- or zero-extended to 64 bits),
/// floating values (Half, Float, Double) in `real`, exactly.
struct Constant {
  std::uint64_t bits = 0;
  double real = 0;
};
/// Value of a rank-0 variable.
struct VarRef {
  const Variable* variable;
};
/// Element of an array: one index per dimension (integer expressions), slowest dimension first.
/// With `lanes` above 1 that many neighbours along the last dimension at once, beginning there, as
/// one vector of all their scalars (elements are scalars, or vectors, of which those of 3 lanes
/// have a fourth one there), in global, constant or local memory; strategies make such ones.
struct Access {
  const Variable* array;
  std::vector<const Expr*> indices;
  std::uint8_t lanes = 1;
  /// In global memory: the access happens each time and where all units of the device see it, not
  /// in a cache of one of them. For cells that other groups change while the kernel runs.
  bool isVolatile = false;
  /// The first of several lanes lies at a multiple of their size.
  bool isAligned = false;
  /// For an array with `viewExtents`: the indices that the program wrote, from which `indices`
  /// follow. Only checks read them.
  std::vector<const Expr*> written = {};
};
/// By how many bytes the address of an element, which need not exist, exceeds a multiple of
/// `bytes`; type is Ulong. `place.lanes` is 1.
struct Misalignment {
  Access place;
  std::uint8_t bytes;
};
/// A whole array; only as argument of a Call.
struct ArrayRef {
  const Variable* array;
};
/// Place of the work-item in the NDRange; type is Ulong (size_t).
struct WorkItem {
  Query query;
  std::uint8_t dim;
};
/// Operand has the node's type (LogicalNot: result int or integer vector).
struct Unary {
  UnaryOp op;
  const Expr* operand;
};
/// Both operands have the same type, conversions being explicit Cast nodes; shifts: each its own
/// integer type, the result has the left one's; predicates: result int or integer vector.
/// LogicalAnd/LogicalOr on scalars short-circuit. Complex operands: Add Sub Mul Div Eq Ne only.
struct Binary {
  BinaryOp op;
  const Expr* left;
  const Expr* right;
};
/// `condition ? yes : no`; scalar condition evaluates one branch only. With a vector condition it
/// is lane-wise (the most significant bit of each lane decides), as in OpenCL C.
struct Select {
  const Expr* condition;
  const Expr* yes;
  const Expr* no;
};
/// Conversion to the node's type: scalar to scalar, scalar to vector (splat), vector to vector of
/// as many lanes (convert_T), real to complex. `implicit` ones need not be printed where C
/// performs them by itself.
struct Cast {
  const Expr* operand;
  bool implicit;
};
/// Lanes of a vector (or 0 = real, 1 = imaginary of a complex number).
struct Component {
  const Expr* base;
  std::vector<std::uint8_t> lanes;
};
/// Field of a struct.
struct Member {
  const Expr* base;
  std::uint32_t field;
};
/// Pure built-in function; the arguments already have the types that OpenCL C's overload wants.
struct BuiltinExpr {
  Builtin builtin;
  std::vector<const Expr*> args;
};
/// Vector literal from scalars and shorter vectors, complex from (re, im), struct from its fields.
struct Construct {
  std::vector<const Expr*> args;
};

struct Expr {
  Type type;
  SourceLocation where;
  std::variant<Constant, VarRef, Access, Misalignment, ArrayRef, WorkItem, Unary, Binary, Select,
               Cast, Component, Member, BuiltinExpr, Construct>
      node;

  template <class Node>
  const Node* as() const {
    return std::get_if<Node>(&node);
  }
};

struct Block {
  std::vector<const Stmt*> stmts;
  /// As a statement: it had better be compiled on its own, where compilers cannot spread what it
  /// needs (constants, addresses) over the code around it. It means the same all the same.
  bool isApart = false;
};

/// Declares a variable; `init` may be null (then private storage is indeterminate).
/// Local variables are never initialised and belong at function scope of the emitted kernel.
struct Declare {
  const Variable* variable;
  const Expr* init;
};
/// (Re)binds an alias to an element; `target` is an Access.
struct Bind {
  const Variable* alias;
  const Expr* target;
};
/// `target` is a VarRef, an Access, or Component/Member chains over one; value has target's type.
struct Assign {
  const Expr* target;
  const Expr* value;
  /// Stores past the caches, where the device can do that: other data drives the elements out
  /// before they are read. `target` is an access to several elements of global memory.
  bool streams = false;
};
struct If {
  const Expr* condition;
  const Block* then;
  /// Null when there is no else.
  const Block* otherwise;
};
/// `for (;;) { prepare; if (!condition) break; body; step; }` where `continue` jumps to step.
/// `prepare` is null or holds statements that computing the condition needs; condition null = true.
/// Initialisation precedes the loop. While loops have no step.
struct Loop {
  const Block* prepare;
  const Expr* condition;
  const Block* step;
  const Block* body;
  /// Compilers are asked neither to unroll it nor to make vectors of it.
  bool asWritten = false;
};
/// `do body while (condition)`; `prepare` as in Loop, evaluated after the body.
struct DoLoop {
  const Block* body;
  const Block* prepare;
  const Expr* condition;
};
struct Break {};
struct Continue {};
/// `value` is null in void functions.
struct Return {
  const Expr* value;
};
struct Barrier {
  std::uint8_t flags;
};
/// `result = atomic_op(&target, operands...)`; `target` is an Access, or a VarRef of a local
/// scalar; int, uint, long, ulong (Add, Sub, Min, Max, Xchg: float and double too, with fmin and
/// fmax). `result` is a declared private variable or null. Operands: none for Inc, Dec and Load,
/// (compare, value) for CmpXchg, one otherwise. Loads and stores have an order and a scope; the
/// others are relaxed, for the device. A store has no result.
struct Atomic {
  const Variable* result;
  AtomicOp op;
  const Expr* target;
  std::vector<const Expr*> operands;
  MemoryOrder order = MemoryOrder::Relaxed;
  MemoryScope scope = MemoryScope::Device;
};
/// Orders the work-item's accesses of global and local memory before it and after it, for relaxed
/// atomics around it; not Relaxed.
struct Fence {
  MemoryOrder order;
  MemoryScope scope;
};
/// Shows the value of a number, of 1 to 8 bytes, to who runs the program.
struct Probe {
  std::string label;
  const Expr* value;
};
/// `result = function(args...)`; `result` is a declared private variable or null.
/// Array arguments are ArrayRef (the callee's parameter may be an Alias bound to the array's
/// beginning or to an alias's position).
struct Call {
  const Variable* result;
  const Function* function;
  std::vector<const Expr*> args;
};
/// `result = builtin(args..., &out)` for the built-ins with an out-pointer: fract, frexp, lgamma_r,
/// modf, remquo, sincos. `result` and `out` are declared private variables.
struct BuiltinCall {
  const Variable* result;
  const Variable* out;
  Builtin builtin;
  std::vector<const Expr*> args;
};

struct Stmt {
  SourceLocation where;
  std::variant<Declare, Bind, Assign, If, Loop, DoLoop, Break, Continue, Return, Barrier, Atomic,
               Fence, Call, BuiltinCall, Block, Probe>
      node;

  template <class Node>
  const Node* as() const {
    return std::get_if<Node>(&node);
  }
};

/// OpenCL C that defines a function; lives for the whole program.
struct NativeCode {
  std::string name;
  std::string source;
};

/// A kernel's entry point or a function that kernels call. Recursion does not occur.
struct Function {
  std::string name;
  /// The name for people, of functions that have none in the program: the label of a stencil, or
  /// the file and line of a lambda. Empty: `name`.
  std::string title;
  Type result;
  std::vector<const Variable*> params;
  const Block* body = nullptr;
  SourceLocation where;
  /// Emitted instead of the body, which then only tells analyses what the function may do: it
  /// reads, and writes unless they are read-only, any elements of its parameters, and returns any
  /// value.
  const NativeCode* native = nullptr;
};

}  // namespace hpl::ir
