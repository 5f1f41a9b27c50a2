// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string>

#include "hpl/ir/op.h"
#include "hpl/ir/type.h"

namespace hpl::ir {
struct Expr;
struct Variable;
struct Function;
struct NativeCode;
}  // namespace hpl::ir

/// Functions with which the templates of the embedded language record a kernel. Everything here is
/// non-template and opaque so that user programs compile none of the IR. All functions but
/// capturing() throw KernelError when no capture is active on this thread.
namespace hpl::detail {

using Node = const ir::Expr*;
using Symbol = const ir::Variable*;

/// A capture is active on this thread.
bool capturing() noexcept;

/// Throws KernelError, naming `action`, when a capture is active: the action would happen once,
/// while the kernel is recorded, though the program reads as if the kernel did it.
void refuseInKernel(const char* action);

/// The user's line that the next statements come from.
void setLocation(const std::source_location& where);

/// Names the kernel under capture, which its first statement would name otherwise.
void nameKernel(const char* name);

Node constantNode(const ir::Type& type, std::uint64_t bits, double real);
Node convertNode(Node value, const ir::Type& to);
/// A conversion that the user wrote: kept in the generated code.
Node castNode(Node value, const ir::Type& to);
Node reinterpretNode(Node value, const ir::Type& to);
Node variableNode(Symbol variable);
/// An element. If the array is given a view with strides, of another shape or transposed
/// (Capture::setMaps), the element is where that has the cell.
Node accessNode(Symbol array, const Node* indices, std::size_t count);
Node workItemNode(ir::Query query, int dim);
/// `operand` is converted to `type` first.
Node unaryNode(ir::UnaryOp op, const ir::Type& type, Node operand);
/// Both operands are converted to `common` first (shifts: the right one keeps its type).
Node binaryNode(ir::BinaryOp op, const ir::Type& common, Node left, Node right);
Node selectNode(const ir::Type& type, Node condition, Node yes, Node no);
Node componentNode(Node base, std::initializer_list<std::uint8_t> lanes);
Node memberNode(Node base, std::size_t field);
Node constructNode(const ir::Type& type, std::initializer_list<Node> parts);
Node constructNode(const ir::Type& type, const Node* parts, std::size_t count);
Node builtinNode(ir::Builtin builtin, const ir::Type& result, std::initializer_list<Node> args);

/// Declares a private or local variable; `rank` 0 for scalars; `init` may be null.
Symbol declareVariable(const ir::Type& type, ir::Space space, int rank, const std::int64_t* extents,
                       Node init);
/// Declares an alias bound to the element `target`.
Symbol declareAlias(const ir::Type& type, Node target);
/// Rebinds an alias.
void bindAlias(Symbol alias, Node target);
/// Gives a variable of the kernel a name for the generated code.
void nameVariable(Symbol variable, const char* name);

/// `target = value`, the value being converted to the target's type.
void assignNode(Node target, Node value);
void barrierStatement(unsigned flags);
/// Returns the value before the operation.
Node atomicNode(ir::AtomicOp op, Node target, std::initializer_list<Node> operands);
void probeStatement(const char* label, Node value);
/// Built-in with an out-pointer: assigns to `out`, returns the result.
Node builtinOutNode(ir::Builtin builtin, const ir::Type& result, std::initializer_list<Node> args,
                    Node out);

void beginIf(Node condition);
/// `elseIf`: the branch holds nothing but the if that follows, and a later else_ belongs to that.
void beginElse(bool elseIf);
void endBlock();
/// Loop protocol: beginLoop; evaluate the condition; loopCondition; evaluate the step; beginBody;
/// body; endLoop.
void beginLoop(bool isFor);
void loopCondition(Node condition);
void beginBody();
void endLoop();
void beginDo();
void endDoBody();
void endDo(Node condition);
/// The body that `keyword` opened was left before its end, by an exception or by a jump of C++:
/// from now on the capture records nothing and gives no kernel, but a KernelError.
void bodyLeft(const char* keyword, const std::source_location& where, bool byException) noexcept;
void breakStatement();
void continueStatement();
/// `value` is null for `return_()`.
void returnStatement(Node value);

/// Parameters of a function under capture.
Symbol scalarParameter(const ir::Type& type);
Symbol arrayParameter(const ir::Type& type, ir::Space space, int rank, bool readOnly);
Symbol aliasParameter(const ir::Type& type, ir::Space space);

/// Functions called with call(): found by (address or type, address spaces of array arguments).
struct FunctionKey {
  const void* function;
  /// One character per parameter: 's' scalar, or the space and constness of an array argument.
  std::string spaces;
};
/// Null when the function has not been captured into this kernel yet.
const ir::Function* findFunction(const FunctionKey& key);
/// Opens the capture of a function body; parameters are declared next.
void beginFunction(const FunctionKey& key);
/// Closes it; `result` is the value of the C++ return, null when it returned nothing.
const ir::Function* endFunction(const ir::Type& resultType, Node result);
/// Drops a function whose capture was left by an exception.
void abandonFunction() noexcept;
/// A parameter of a function in OpenCL C: a scalar, or a pointer to elements.
struct NativeParameter {
  ir::Type type;
  bool isPointer = false;
  /// The function does not write through the pointer.
  bool readOnly = false;
  /// The function does not read through the pointer.
  bool writeOnly = false;
  /// Memory that the pointer leads to, if it is local or constant; any other fits any.
  ir::Space space = ir::Space::Global;
};
/// OpenCL C that stands for a C++ function, and why kernels may not call it (empty: they may).
struct NativeBody {
  const ir::NativeCode* code = nullptr;
  std::string refusal;
};
/// Makes call(f) of the function at this address a call of `body`. True if kernels were recorded
/// with calls of what stood for the function before.
bool setNativeBody(const void* function, NativeBody body);
/// The code that stands for the function; null: it is C++. Throws KernelError if kernels may not
/// call it. Remembers that a kernel depends on the answer.
const ir::NativeCode* nativeCodeOf(const void* function);
[[noreturn]] void throwNoNativeCode();
/// The function that `code` defines, for pointers into memory of the key's spaces.
const ir::Function* nativeFunction(const FunctionKey& key, const ir::NativeCode& code,
                                   const ir::Type& result, const NativeParameter* params,
                                   std::size_t count);
/// Calls a captured function; the result is null for void functions.
Node callNode(const ir::Function* function, const Node* args, std::size_t count);
Node arrayArgument(Symbol array);
/// 'g', 'c', 'l' or 'p' for the array's space; upper case when it is read-only. A code of the
/// capture's own for arrays that are given views of which setMaps() says.
char spaceCode(Symbol array);
/// Throws KernelError for views whose elements no pointer walks through.
ir::Space spaceOfCode(char code);
/// The parameter of a called function for an array with this code.
Symbol calledArrayParameter(const ir::Type& type, char code, int rank, bool readOnly);

[[noreturn]] void throwOutsideKernel(const char* what);
[[noreturn]] void throwKernelError(const char* what);

}  // namespace hpl::detail
