// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpl/ir/kernel.h"

/// Builds IR by hand, tersely, for tests:
///
///   IrBuilder b("blur");
///   A in = b.array("in", kFloat, 2, {.readOnly = true}), out = b.array("out", kFloat, 2);
///   b.set(out(b.idy(), b.idx()), in(b.idy(), b.idx() - 1) + in(b.idy(), b.idx() + 1));
///   Kernel k = b.finish();
///
/// Statements go to the innermost open block. Operands of different types are converted as OpenCL C
/// does it (implicit Cast nodes). Nothing is verified: malformed IR can be built on purpose.
namespace hpl::ir::test {

inline constexpr Type kVoid{};
inline constexpr Type kBool{Scalar::Bool};
inline constexpr Type kChar{Scalar::Char};
inline constexpr Type kUchar{Scalar::Uchar};
inline constexpr Type kShort{Scalar::Short};
inline constexpr Type kUshort{Scalar::Ushort};
inline constexpr Type kInt{Scalar::Int};
inline constexpr Type kUint{Scalar::Uint};
inline constexpr Type kLong{Scalar::Long};
inline constexpr Type kUlong{Scalar::Ulong};
inline constexpr Type kHalf{Scalar::Half};
inline constexpr Type kFloat{Scalar::Float};
inline constexpr Type kDouble{Scalar::Double};
inline constexpr Type vec(Type element, int lanes) {
  return Type{element.scalar, static_cast<std::uint8_t>(lanes), false, nullptr};
}
inline constexpr Type complexOf(Type element) { return Type{element.scalar, 1, true, nullptr}; }

/// The result type of an arithmetic operator on scalars; vectors and complex numbers win over
/// scalars.
inline Type commonType(const Type& a, const Type& b) {
  if (a == b && !(a.isScalar() && a.isInteger() && a.scalar < Scalar::Int)) return a;
  if (a.isVector() || a.complex || a.isStruct()) return a;
  if (b.isVector() || b.complex || b.isStruct()) return b;
  const Scalar wider = a.scalar > b.scalar ? a.scalar : b.scalar;
  return Type{wider < Scalar::Int ? Scalar::Int : wider};
}

class IrBuilder;

/// An expression; converts to `const Expr*`.
struct E {
  IrBuilder* b = nullptr;
  const Expr* e = nullptr;
  operator const Expr*() const { return e; }  // NOLINT: meant to be implicit
  const Type& type() const { return e->type; }
  /// Lanes of a vector, real (0) or imaginary (1) part.
  E lane(std::vector<std::uint8_t> lanes) const;
  E field(std::uint32_t index) const;
};

struct ParamOptions {
  Space space = Space::Global;
  bool readOnly = false;
};

/// A variable: `v(i, j)` is an element, `*v` the value of a scalar, `v` itself an argument of
/// calls.
struct A {
  IrBuilder* b = nullptr;
  const Variable* v = nullptr;
  template <class... Index>
  E operator()(Index... index) const;
  E operator*() const;
};

class IrBuilder {
 public:
  explicit IrBuilder(const std::string& name) { open(name, kVoid); }

  // --- Functions -------------------------------------------------------------------------------
  /// Defines a function; `body` declares its parameters first and returns with `ret`.
  template <class Body>
  const Function* function(const std::string& name, Type result, Body body) {
    open(name, result);
    body();
    return close();
  }
  Kernel finish() {
    kernel_.entry = close();
    return std::move(kernel_);
  }
  /// Statements and expressions made from here on say that they come from this line (0: unknown).
  IrBuilder& at(std::uint32_t line, const char* file = "kernel.cpp") {
    where_ = line == 0 ? SourceLocation{} : SourceLocation{file, line};
    return *this;
  }
  Arena& arena() { return *kernel_.arena; }

  // --- Variables -------------------------------------------------------------------------------
  A array(const std::string& name, Type type, int rank, ParamOptions options = {}) {
    return parameter(name, type, rank, options.space, Role::ArrayParam, options.readOnly);
  }
  A scalar(const std::string& name, Type type) {
    return parameter(name, type, 0, Space::Private, Role::ScalarParam, false);
  }
  A aliasParam(const std::string& name, Type type, Space space = Space::Global,
               bool readOnly = false) {
    return parameter(name, type, 1, space, Role::Alias, readOnly);
  }
  /// Private scalar with an initial value.
  A var(const std::string& name, Type type, E init) {
    A v = variable(name, type, {}, Space::Private, Role::Declared);
    stmt(Declare{v.v, convert(init, type)});
    return v;
  }
  A var(const std::string& name, Type type) { return local(name, type, {}, Space::Private); }
  A var(const std::string& name, Type type, std::int64_t init) {
    return var(name, type, lit(type, init));
  }
  /// Declared storage: private or local array, or local scalar (no extents).
  A local(const std::string& name, Type type, std::vector<std::int64_t> extents,
          Space space = Space::Local) {
    A v = variable(name, type, std::move(extents), space, Role::Declared);
    stmt(Declare{v.v, nullptr});
    return v;
  }
  /// Declares an alias without binding it.
  A alias(const std::string& name, Type type, Space space = Space::Global, bool readOnly = false) {
    A v = variable(name, type, {}, space, Role::Alias);
    const_cast<Variable*>(v.v)->rank = 1;
    const_cast<Variable*>(v.v)->readOnly = readOnly;
    stmt(Declare{v.v, nullptr});
    return v;
  }

  // --- Expressions -----------------------------------------------------------------------------
  template <class Node>
  E expr(Type type, Node node) {
    return {this, arena().add(Expr{type, where_, std::move(node)})};
  }
  E lit(Type type, std::int64_t value) {
    Constant c;
    if (type.isFloating()) {
      c.real = static_cast<double>(value);
    } else {
      c.bits = static_cast<std::uint64_t>(value);
    }
    return expr(type, c);
  }
  E real(Type type, double value) { return expr(type, Constant{0, value}); }
  E lit(int value) { return lit(kInt, value); }
  E ref(A v) { return expr(v.v->type, VarRef{v.v}); }
  E element(const Variable* array, std::vector<const Expr*> indices) {
    return expr(array->type, Access{array, std::move(indices)});
  }
  E whole(A v) { return expr(v.v->type, ArrayRef{v.v}); }
  E query(Query q, int dim) { return expr(kUlong, WorkItem{q, static_cast<std::uint8_t>(dim)}); }
  E idx() { return query(Query::GlobalId, 0); }
  E idy() { return query(Query::GlobalId, 1); }
  E idz() { return query(Query::GlobalId, 2); }
  E lidx() { return query(Query::LocalId, 0); }
  E gidx() { return query(Query::GroupId, 0); }
  E cast(Type type, E e) { return expr(type, Cast{e, false}); }
  E convert(E e, Type type) { return e.type() == type ? e : expr(type, Cast{e, true}); }
  E unary(UnaryOp op, E e) {
    return expr(op == UnaryOp::LogicalNot ? predicateType(e.type()) : e.type(), Unary{op, e});
  }
  /// Converts both operands to their common type first (shifts: each keeps its own).
  E binary(BinaryOp op, E l, E r) {
    if (op == BinaryOp::Shl || op == BinaryOp::Shr) return expr(l.type(), Binary{op, l, r});
    const Type type = commonType(l.type(), r.type());
    E left = convert(l, type), right = convert(r, type);
    return expr(isPredicate(op) ? predicateType(type) : type, Binary{op, left, right});
  }
  E select(E condition, E yes, E no) {
    const Type type = commonType(yes.type(), no.type());
    return expr(type, Select{condition, convert(yes, type), convert(no, type)});
  }
  E builtin(Builtin f, Type type, std::vector<const Expr*> args) {
    return expr(type, BuiltinExpr{f, std::move(args)});
  }
  E construct(Type type, std::vector<const Expr*> args) {
    return expr(type, Construct{std::move(args)});
  }

  // --- Statements ------------------------------------------------------------------------------
  template <class Node>
  const Stmt* stmt(Node node) {
    const Stmt* s = arena().add(Stmt{where_, std::move(node)});
    blocks_.back()->stmts.push_back(s);
    return s;
  }
  void set(E target, E value) { stmt(Assign{target, convert(value, target.type())}); }
  void set(E target, std::int64_t value) { stmt(Assign{target, lit(target.type(), value)}); }
  void set(A v, E value) { set(ref(v), value); }
  void set(A v, std::int64_t value) { set(ref(v), value); }
  void bind(A alias, E target) { stmt(Bind{alias.v, target}); }
  template <class Body>
  const Block* block(Body body) {
    Block* block = arena().addBlock();
    blocks_.push_back(block);
    body();
    blocks_.pop_back();
    return block;
  }
  template <class Body>
  void nested(Body body) {
    const Block* inner = block(body);
    stmt(*inner);
  }
  template <class Then>
  void if_(E condition, Then then) {
    const Block* yes = block(then);
    stmt(If{condition, yes, nullptr});
  }
  template <class Then, class Else>
  void if_(E condition, Then then, Else otherwise) {
    const Block* yes = block(then);
    const Block* no = block(otherwise);
    stmt(If{condition, yes, no});
  }
  /// for (; condition; step()) body()
  template <class Step, class Body>
  void for_(E condition, Step step, Body body) {
    const Block* stepBlock = block(step);
    const Block* bodyBlock = block(body);
    stmt(Loop{nullptr, condition, stepBlock, bodyBlock});
  }
  /// for (type name = from; name < to; name += stride) body(name)
  template <class Body>
  A count(const std::string& name, Type type, std::int64_t from, std::int64_t to, Body body,
          std::int64_t stride = 1) {
    A i = var(name, type, lit(type, from));
    for_(
        binary(stride > 0 ? BinaryOp::Lt : BinaryOp::Gt, ref(i), lit(type, to)),
        [&] {
          set(i, expr(type, Binary{BinaryOp::Add, ref(i), lit(type, stride)}));
        },
        [&] { body(i); })
      ;
    return i;
  }
  template <class Body>
  void while_(E condition, Body body) {
    const Block* bodyBlock = block(body);
    stmt(Loop{nullptr, condition, nullptr, bodyBlock});
  }
  template <class Body>
  void doWhile(E condition, Body body) {
    const Block* bodyBlock = block(body);
    stmt(DoLoop{bodyBlock, nullptr, condition});
  }
  void break_() { stmt(Break{}); }
  void continue_() { stmt(Continue{}); }
  void ret() { stmt(Return{nullptr}); }
  void ret(E value) { stmt(Return{value}); }
  void barrier(int flags = kLocalFence) { stmt(Barrier{static_cast<std::uint8_t>(flags)}); }
  void atomic(AtomicOp op, E target, std::vector<const Expr*> operands, A result = {}) {
    stmt(Atomic{result.v, op, target, std::move(operands)});
  }
  void call(const Function* f, std::vector<const Expr*> args, A result = {}) {
    stmt(Call{result.v, f, std::move(args)});
  }

 private:
  struct Frame {
    Function function;
    std::vector<Block*> blocks;
  };

  static Type predicateType(const Type& operand) {
    if (!operand.isVector()) return kInt;
    static constexpr Scalar kBySize[] = {Scalar::Char,  Scalar::Char, Scalar::Short,
                                         Scalar::Short, Scalar::Int,  Scalar::Int,
                                         Scalar::Int,   Scalar::Int,  Scalar::Long};
    return operand.withScalar(kBySize[sizeOf(operand.scalar)]);
  }
  void open(const std::string& name, Type result) {
    frames_.push_back(Frame{Function{name, {}, result, {}, nullptr, where_}, std::move(blocks_)});
    blocks_ = {arena().addBlock()};
    frames_.back().function.body = blocks_.back();
  }
  const Function* close() {
    const bool outermost = frames_.size() == 1;
    const Function* f = arena().add(std::move(frames_.back().function));
    blocks_ = std::move(frames_.back().blocks);
    frames_.pop_back();
    if (!outermost) kernel_.functions.push_back(f);
    return f;
  }
  A variable(const std::string& name, Type type, std::vector<std::int64_t> extents, Space space,
             Role role) {
    Variable v;
    v.id = nextId_++;
    v.name = name;
    v.type = type;
    v.rank = static_cast<int>(extents.size());
    v.space = space;
    v.role = role;
    v.extents = std::move(extents);
    v.where = where_;
    return {this, arena().add(std::move(v))};
  }
  A parameter(const std::string& name, Type type, int rank, Space space, Role role, bool readOnly) {
    A a = variable(name, type, {}, space, role);
    Variable* v = const_cast<Variable*>(a.v);
    std::vector<const Variable*>& params = frames_.back().function.params;
    v->rank = rank;
    v->readOnly = readOnly || space == Space::Constant;
    v->paramIndex = static_cast<int>(params.size());
    params.push_back(v);
    return a;
  }

  Kernel kernel_;
  std::vector<Frame> frames_;
  std::vector<Block*> blocks_;
  SourceLocation where_;
  std::uint32_t nextId_ = 0;
};

inline E E::lane(std::vector<std::uint8_t> lanes) const {
  const Type type{this->type().scalar, static_cast<std::uint8_t>(lanes.size()), false, nullptr};
  return b->expr(type, Component{e, std::move(lanes)});
}
inline E E::field(std::uint32_t index) const {
  return b->expr(type().structure->fields.at(index).type, Member{e, index});
}
inline E A::operator*() const { return b->ref(*this); }

namespace detail {
inline const Expr* toIndex(IrBuilder&, const E& e) { return e; }
inline const Expr* toIndex(IrBuilder& b, int i) { return b.lit(i); }
inline const Expr* toIndex(IrBuilder& b, const A& a) { return b.ref(a); }
}  // namespace detail

template <class... Index>
E A::operator()(Index... index) const {
  return b->element(v, {detail::toIndex(*b, index)...});
}

#define HPL_TEST_OPERATOR(symbol, op)                                                       \
  inline E operator symbol(E l, E r) { return l.b->binary(BinaryOp::op, l, r); }            \
  inline E operator symbol(E l, int r) { return l symbol l.b->lit(l.type().element(), r); } \
  inline E operator symbol(int l, E r) { return r.b->lit(r.type().element(), l) symbol r; } \
  inline E operator symbol(A l, E r) { return *l symbol r; }                                \
  inline E operator symbol(E l, A r) { return l symbol * r; }                               \
  inline E operator symbol(A l, A r) { return *l symbol * r; }                              \
  inline E operator symbol(A l, int r) { return *l symbol r; }                              \
  inline E operator symbol(int l, A r) { return l symbol * r; }
HPL_TEST_OPERATOR(+, Add)
HPL_TEST_OPERATOR(-, Sub)
HPL_TEST_OPERATOR(*, Mul)
HPL_TEST_OPERATOR(/, Div)
HPL_TEST_OPERATOR(%, Rem)
HPL_TEST_OPERATOR(&, BitAnd)
HPL_TEST_OPERATOR(|, BitOr)
HPL_TEST_OPERATOR(^, BitXor)
HPL_TEST_OPERATOR(<<, Shl)
HPL_TEST_OPERATOR(>>, Shr)
HPL_TEST_OPERATOR(&&, LogicalAnd)
HPL_TEST_OPERATOR(||, LogicalOr)
HPL_TEST_OPERATOR(==, Eq)
HPL_TEST_OPERATOR(!=, Ne)
HPL_TEST_OPERATOR(<, Lt)
HPL_TEST_OPERATOR(<=, Le)
HPL_TEST_OPERATOR(>, Gt)
HPL_TEST_OPERATOR(>=, Ge)
#undef HPL_TEST_OPERATOR

}  // namespace hpl::ir::test
