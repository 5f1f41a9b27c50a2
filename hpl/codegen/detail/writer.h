// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hpl/codegen/detail/atomics.h"
#include "hpl/codegen/detail/names.h"
#include "hpl/codegen/detail/text.h"
#include "hpl/codegen/detail/usage.h"
#include "hpl/codegen/emit.h"
#include "hpl/ir/surplus.h"

/// Writes functions of the IR as OpenCL C.
namespace hpl::codegen::detail {

/// How tightly what was written binds, loosest first (C's precedence levels).
enum Precedence : int {
  kAssignment,
  kTernary,
  kLogicalOr,
  kLogicalAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEquality,
  kRelational,
  kShift,
  kAdditive,
  kMultiplicative,
  kUnary,
  kPostfix
};

/// The state that all functions of one kernel share.
struct Session {
  Session(const ir::Kernel& k, const EmitOptions& o) : kernel(k), options(o), usage(findUsage(k)) {}

  const ir::Kernel& kernel;
  const EmitOptions& options;
  Usage usage;
  Text text;
  /// Functions made of blocks of the kernel, which precede it.
  std::string apart;
  NameScope globals;
  std::unordered_map<const ir::Function*, std::string> functionNames;
  std::vector<AccessSite> sites;
  std::vector<ProbeSite> probes;
  /// Half values without cl_khr_fp16: the lanes (1 for scalars) of what the helpers hpl_from_half,
  /// hpl_to_half convert from and to bits; hpl_round_half is for scalars.
  std::set<int> fromHalf;
  std::set<int> toHalf;
  bool roundsToHalf = false;
  /// Types whose divisions are written as hpl_div_T and hpl_rem_T.
  std::set<std::string> safeDivisions;
  /// By name.
  std::map<std::string, AtomicHelper> atomicHelpers;
  /// Functions of cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics are called.
  bool usesWideAtomics = false;
  bool usesWideMinMaxAtomics = false;
  /// Vector types of more lanes than OpenCL C's, by name.
  std::map<std::string, ir::Type> longVectors;
  /// Vector types with the alignment of an element, by name.
  std::map<std::string, ir::Type> unaligned;
  /// Vectors that are stored past the caches, by name.
  std::map<std::string, ir::Type> streamed;
  /// Helpers for atomic loads, atomic stores and fences, by name.
  std::map<std::string, std::string> ordered;
  /// Functions that stand for built-in ones which drivers get wrong, by name.
  std::map<std::string, std::string> ownFunctions;
  /// Masks are tested by hpl_any.
  bool testsMasks = false;
  /// Vectors are converted by hpl_convert.
  bool convertsVectors = false;
  /// Surplus work-items run along and are masked by hpl_on.
  bool masked = false;
  /// The loads that they perform all the same; then hpl_in says along which axes they are inside.
  ir::SurplusLoads surplusLoads;
  bool loadsBeyond = false;

  bool convertsHalf() const { return !options.hasHalf; }
  bool isSliced(int d) const { return d < options.sliceDims; }
  /// The global size along axis d is passed, because it was rounded up or is that of a larger
  /// domain.
  bool passesSize(int d) const { return d < options.guardDims || isSliced(d); }
  /// Bit d: the launch was rounded up along the kernel's axis d or a later one.
  unsigned guardedAxes() const { return (1u << std::max(0, options.guardDims)) - 1; }
  /// Arrays come with their extents.
  bool passesExtents() const { return options.checkBounds || loadsBeyond; }
  /// "(1)": what follows get_global_id to ask for the kernel's axis d.
  std::string ofAxis(int d) const {
    return '(' + std::to_string(options.axes[static_cast<std::size_t>(d)]) + ')';
  }
};

/// How OpenCL C spells a variable and what belongs to it.
struct VariableNames {
  std::string name;
  /// Elements between neighbours in each dimension but the last: argument names or numbers.
  std::vector<std::string> strides;
  /// Extents in each dimension, where they are passed: argument names or numbers.
  std::vector<std::string> extents;
  /// With checks: 1 + parameter of the kernel, 0 for declared arrays.
  std::string id;
  /// With checks, aliases: position in the memory that they point into, and its size.
  std::string position;
  std::string span;
  /// Half parameters of kernels without cl_khr_fp16: the argument, their bits.
  std::string bits;
  /// A local scalar of the kernel that a function gets as a pointer.
  bool isPointer = false;
};

/// Writes one function.
class FunctionWriter {
 public:
  FunctionWriter(Session& session, const ir::Function& function);

  /// The kernel itself; appends its arguments to `slots`.
  void writeKernel(std::vector<Slot>& slots);
  void writeFunction();

 private:
  // signature.cpp
  void nameVariables(const ir::Block& block);
  void nameParameter(const ir::Variable& param);
  VariableNames& nameVariable(const ir::Variable& variable);
  void nameQueries();
  void parameter(const ir::Variable& param, std::vector<std::string>& out) const;
  void kernelSlots(const ir::Variable& param, std::vector<std::string>& out,
                   std::vector<Slot>& slots) const;
  void signature(std::string_view prefix, const std::vector<std::string>& params);
  void declareQueries();
  void declareLocals();
  void guard();
  std::string pointerTo(const ir::Variable& variable, std::string_view name) const;
  /// The pointer that stands for a local variable of a kernel in functions.
  std::string localPointer(const ir::Variable& local) const;
  /// No other parameter shares its memory.
  bool isAlone(const ir::Variable& param) const;
  std::string scalarParameter(const ir::Variable& param, bool isKernel) const;
  void applyOffsets();
  void convertHalfParameters();
  bool hasOffset(const ir::Variable& param) const;
  /// The kernel's earlier parameter whose strides the array has; null: it has its own.
  const ir::Variable* stridesFrom(const ir::Variable& param) const;

  // expression.cpp, operators.cpp: append to out_; return the precedence of what was written
  int write(const ir::Expr& expr);
  int node(const ir::Expr& expr, const ir::Constant& constant);
  int node(const ir::Expr& expr, const ir::VarRef& ref);
  int node(const ir::Expr& expr, const ir::Access& access);
  int node(const ir::Expr& expr, const ir::Misalignment& address);
  int node(const ir::Expr& expr, const ir::ArrayRef& ref);
  int node(const ir::Expr& expr, const ir::WorkItem& item);
  int node(const ir::Expr& expr, const ir::Unary& unary);
  int node(const ir::Expr& expr, const ir::Binary& binary);
  int node(const ir::Expr& expr, const ir::Select& select);
  int node(const ir::Expr& expr, const ir::Cast& cast);
  int node(const ir::Expr& expr, const ir::Component& component);
  int node(const ir::Expr& expr, const ir::Member& member);
  int node(const ir::Expr& expr, const ir::BuiltinExpr& builtin);
  int node(const ir::Expr& expr, const ir::Construct& construct);
  /// Writes with parentheses unless it binds at least as tightly as `least`.
  void operand(const ir::Expr& expr, int least);
  /// Writes so that C gives it exactly the node's type (arguments of overloaded functions).
  void exact(const ir::Expr& expr);
  /// Writes where C converts to `expr`'s type by itself (initialisers, right-hand sides).
  void assigned(const ir::Expr& expr);
  /// Writes where only zero or not zero matters.
  int condition(const ir::Expr& expr);
  void conditionOperand(const ir::Expr& expr, int least);
  int arithmetic(const ir::Expr& expr, const ir::Binary& binary);
  int logical(const ir::Binary& binary);
  int complexBinary(const ir::Expr& expr, const ir::Binary& binary);
  int scalarCast(const ir::Type& to, const ir::Expr& operand);
  bool literalCast(const ir::Type& to, const ir::Expr& operand);
  bool mayTrap(const ir::Binary& binary) const;
  int safeDivision(const ir::Binary& binary);
  bool plainLiteral(const ir::Expr& literal, const ir::Expr* other, const ir::Type& type);
  bool constantIndex(const ir::Access& access);
  void arguments(const std::vector<const ir::Expr*>& args);
  /// The type that C gives to what write() writes.
  ir::Type typeInC(const ir::Expr& expr) const;
  ir::Type computed(const ir::Type& type) const;
  std::string spell(const ir::Type& type) const;
  std::string zero(const ir::Type& type) const;
  std::string_view queryName(ir::Query query, int dim) const;

  // access.cpp
  /// The element as an lvalue, unchecked.
  int place(const ir::Expr& expr);
  int load(const ir::Expr& expr, const ir::Access& access);
  void severalElements(const ir::Access& access);
  void pointerToSeveral(const ir::Access& access);
  /// Writes the condition, in parentheses, under which a work-item performs a masked load.
  void loadCondition(const ir::Access& access);
  /// Position of the element relative to the array's name; `site` < 0: unchecked.
  bool isNarrow(const ir::Variable& array) const;
  int linearIndex(const ir::Access& access, int site);
  int narrowIndex(const ir::Access& access);
  // `[i][j]` for arrays that are C arrays of several dimensions here, `[i * n + j]` otherwise.
  void subscript(const ir::Access& access, int site);
  /// The array, or a pointer to it that makes its accesses volatile.
  void arrayOf(const ir::Access& access);
  // Whether the array is declared with several dimensions. Drivers vectorise `tile[i][k]` better
  // than the linear spelling (PoCL: a tiled matrix product 3.5 times).
  bool isNested(const ir::Variable& array) const;
  // Whether it also is one in this function, and not a pointer that was passed in.
  bool isNestedHere(const ir::Variable& array) const;
  // A pointer to the array's first element.
  void firstElement(const ir::Variable& array);
  int term(const ir::Expr& index, int least);
  /// Conditions on the indices that the program wrote, if the array is a view which is no box.
  bool writtenIndices(const ir::Access& access, int site);
  void checkedIndex(const ir::Access& access, std::size_t dimension, int site,
                    std::string_view helper);
  int addSite(const ir::Access& access, const ir::SourceLocation& where, bool write);
  /// Conditions under which a store to or an atomic on the place happens: `if (...) ` or nothing.
  bool predicate(const ir::Expr& target, bool isAtomic);
  bool needsPredicate(const ir::Expr& target, bool isAtomic) const;
  bool isConvertedHalf(const ir::Variable& array) const;
  void halfStore(const ir::Access& access, const ir::Expr& value);
  /// Half values in memory that OpenCL C sees as ushort: a component of an element, a struct field.
  bool isHalfBits(const ir::Expr& place) const;
  /// Whether computing the expression in float leaves it to be rounded to half.
  bool roundsToHalf(const ir::Expr& expr) const;
  /// Name of the helper ("hpl_from_half", "hpl_to_half") for a type.
  std::string halfHelper(const char* name, const ir::Type& type, std::set<int>& used) const;
  std::string fromHalf(const ir::Type& type) const;
  std::string toHalf(const ir::Type& type) const;
  /// The array as vload_half and vstore_half want it: a pointer to half.
  std::string halfPointer(const ir::Variable& array) const;
  void addressOf(const ir::Expr& target);
  void bindingDetails(const ir::Access& target, const VariableNames& alias);
  void arraySpan(const ir::Variable& array);
  void hiddenArguments(const ir::Variable& param, const ir::Variable& array);

  // statement.cpp
  void block(const ir::Block& block);
  /// Writes statement i of the block, maybe together with its successors; returns the next one's
  /// index.
  std::size_t statement(const ir::Block& block, std::size_t i);
  void single(const ir::Stmt& stmt);
  std::size_t declaration(const ir::Block& block, std::size_t i);
  void declare(const ir::Declare& declare, const ir::SourceLocation& where);
  void declareAlias(const ir::Variable& alias, const ir::Bind* bind,
                    const ir::SourceLocation& where);
  void bind(const ir::Bind& bind, const ir::SourceLocation& where);
  void bindTail(const ir::Bind& bind, const ir::SourceLocation& where);
  void assignment(const ir::Assign& assign);
  bool compound(const ir::Assign& assign);
  void branch(const ir::If& branch, const ir::SourceLocation& where);
  void barrier(const ir::Barrier& barrier);
  void fence(const ir::Fence& fence);
  void nested(const ir::Block* block);
  std::string declarator(const ir::Variable& variable) const;

  // calls.cpp
  void atomic(const ir::Atomic& atomic, const ir::SourceLocation& where, bool declares);
  void probe(const ir::Probe& probe, const ir::SourceLocation& where);
  void call(const ir::Call& call, const ir::SourceLocation& where, bool declares);
  void builtinCall(const ir::BuiltinCall& call, const ir::SourceLocation& where, bool declares);
  void resultPrefix(const ir::Variable* result, bool declares);
  bool isUnused(const ir::Variable& variable) const;

  // apart.cpp
  /// Writes the block as a function and a call of it; returns whether that is possible.
  bool apart(const ir::Block& inner);
  /// Whether the kernel's body may be a function; bodyApart() writes it so, and a call of it.
  bool bodyMayBeApart() const;
  void bodyApart();
  /// Writes a function before the kernel.
  void functionApart(const std::string& name, const std::vector<std::string>& params,
                     const ir::Block& body);

  // loops.cpp
  /// A loop's initialisation that fits its header: `declared` is declared there too.
  struct LoopStart {
    const ir::Variable* variable = nullptr;
    const ir::Expr* init = nullptr;
    bool declares = false;
  };
  std::size_t loopStart(const ir::Block& block, std::size_t i, LoopStart& start) const;
  bool isPlainStep(const ir::Loop& loop) const;
  bool steps(const ir::Loop& loop, const ir::Variable* variable) const;
  void loop(const ir::Loop& loop, const LoopStart& start, const ir::SourceLocation& where);
  void forHeader(const ir::Loop& loop, const LoopStart& start);
  void generalLoop(const ir::Loop& loop, const ir::SourceLocation& where);
  void doLoop(const ir::DoLoop& loop, const ir::SourceLocation& where);
  void leaveUnless(const ir::Expr* condition);

  bool isMasked() const { return session_.masked && !predicated_; }
  const VariableNames& names(const ir::Variable* variable) const { return names_.at(variable); }

  Session& session_;
  const ir::Function& function_;
  const FunctionUsage& usage_;
  std::string& out_;
  NameScope scope_;
  std::unordered_map<const ir::Variable*, VariableNames> names_;
  std::unordered_map<int, std::string> queryNames_;
  bool isKernel_ = false;
  /// The statement being written happens under `if (hpl_on)` already.
  bool predicated_ = false;
  /// Where the statement being written comes from.
  ir::SourceLocation where_;
};

/// The key in FunctionWriter::queryNames_.
int queryKey(int query, int dim);
/// The name of the kernel's hidden parameter.
std::string originName(int dim);
/// The functions that the kernel calls, directly or not, callees first.
std::vector<const ir::Function*> calledFunctions(const ir::Kernel& kernel);
/// Writes the sources of those that are OpenCL C, and names them.
void writeNatives(Session& session, const std::vector<const ir::Function*>& functions);

/// "hpl_float8": the vector type with the alignment of its elements.
std::string unalignedName(const ir::Type& type);
/// Structural equality of pure expressions.
bool sameExpr(const ir::Expr& a, const ir::Expr& b);
/// The operand of an implicit conversion between scalars that C performs by itself where the
/// target's type is known; the expression itself otherwise.
const ir::Expr& peel(const ir::Expr& expr);

}  // namespace hpl::codegen::detail
