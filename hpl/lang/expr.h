// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>

#include "hpl/lang/capture.h"
#include "hpl/lang/detail/misuse.h"
#include "hpl/lang/operand.h"
#include "hpl/lang/type_of.h"

/// Expressions of the embedded language. `Expr<T>` is a value that the generated kernel computes;
/// operators between kernel values and host values record nodes with C's usual conversions.
namespace hpl {

template <class T>
class Ref;
template <class T>
class Expr;

namespace detail {

/// Lane access of vectors: `v[i]` with a constant i. Other values have no lanes.
template <class Derived, class T, template <class> class Result>
struct Lanes {
  template <class I>
  Result<T> operator[](const I&) const {
    static_assert(kNever<I>,
                  "HPL: an index too many: an element of an Array<T, N> is a[i]...[k] with N "
                  "indices, and scalars have none");
    return noResult<Result<T>>();
  }
};
template <class Derived, class T, int N, template <class> class Result>
struct Lanes<Derived, Vec<T, N>, Result> {
  /// Lane `i`, a host constant; KernelError when it does not exist.
  Result<T> operator[](std::size_t i) const {
    if (i >= N) throwKernelError("a vector has no such lane");
    return Result<T>(
        componentNode(static_cast<const Derived&>(*this).node(), {static_cast<std::uint8_t>(i)}));
  }
};

/// Named parts of a kernel value: `.x .y .z .w` of vectors up to four lanes, and the fields of
/// structs (specialised by HPL_STRUCT). `Part` is ValuePart or PlacePart.
template <class T, template <class> class Part>
struct Members {
  void bindMembers(Node) {}
};
template <class T, template <class> class Part>
struct Members<Vec<T, 2>, Part> {
  Part<T> x, y;
  void bindMembers(Node whole) {
    x.bindLane(whole, 0);
    y.bindLane(whole, 1);
  }
};
template <class T, template <class> class Part>
struct Members<Vec<T, 3>, Part> {
  Part<T> x, y, z;
  void bindMembers(Node whole) {
    x.bindLane(whole, 0);
    y.bindLane(whole, 1);
    z.bindLane(whole, 2);
  }
};
template <class T, template <class> class Part>
struct Members<Vec<T, 4>, Part> {
  Part<T> x, y, z, w;
  void bindMembers(Node whole) {
    x.bindLane(whole, 0);
    y.bindLane(whole, 1);
    z.bindLane(whole, 2);
    w.bindLane(whole, 3);
  }
};

/// Names a part of a value; the node is made when it is used.
class PartOf {
 public:
  void set(Node whole, std::size_t index, bool lane) {
    whole_ = whole;
    index_ = index;
    lane_ = lane;
  }
  Node node() const {
    if (whole_ == nullptr) throwOutsideKernel("a part of a vector or struct");
    return lane_ ? componentNode(whole_, {static_cast<std::uint8_t>(index_)})
                 : memberNode(whole_, index_);
  }

 private:
  Node whole_ = nullptr;
  std::size_t index_ = 0;
  bool lane_ = false;
};

/// A readable part of an expression.
template <class T>
class ValuePart : public Members<T, ValuePart>,
                  public Lanes<ValuePart<T>, T, Expr>,
                  public NoHostValue<T> {
 public:
  using hpl_value_type = T;
  ValuePart() = default;
  ValuePart(const ValuePart&) = default;
  ValuePart& operator=(const ValuePart&) {
    static_assert(kNever<T>, HPL_NO_PLACE);
    return *this;
  }
  template <class X>
  ValuePart& operator=(const X&) {
    static_assert(kNever<X>, HPL_NO_PLACE);
    return *this;
  }
  Node node() const { return part_.node(); }
  void bindLane(Node whole, std::size_t lane) { part_.set(whole, lane, true); }
  void bindField(Node whole, std::size_t field) {
    part_.set(whole, field, false);
    if constexpr (!ScalarType<T> && !ComplexType<T>) this->bindMembers(node());
  }

 private:
  PartOf part_;
};

template <class C, class F>
std::size_t fieldIndex(F C::*field) {
  return StructTraits<C>::indexOf(field);
}

}  // namespace detail

/// A value computed by the kernel under capture.
template <class T>
class Expr : public detail::Lanes<Expr<T>, T, Expr>,
             public detail::Members<T, detail::ValuePart>,
             public detail::NoHostValue<T> {
 public:
  using hpl_value_type = T;
  explicit Expr(detail::Node node) : node_(node) { this->bindMembers(node); }
  Expr(const Expr&) = default;
  /// A C++ variable names another computation: `auto sum = a[0]; sum = sum + a[1];`.
  Expr& operator=(const Expr& other) & {
    node_ = other.node_;
    this->bindMembers(node_);
    return *this;
  }
  template <class X>
  Expr& operator=(const X&) {
    static_assert(detail::kNever<X>, HPL_NO_PLACE);
    return *this;
  }
  detail::Node node() const { return node_; }

  /// Field of a registered struct: `v.at(&S::f)`.
  template <class C, class F>
    requires std::same_as<C, T>
  Expr<F> at(F C::*field) const {
    return Expr<F>(detail::memberNode(node_, detail::fieldIndex(field)));
  }

 private:
  detail::Node node_;
};

namespace detail {

/// Whether a V becomes a T by itself: scalars, also to vectors and complex numbers.
template <class T, class V>
constexpr bool kConverts =
    std::is_same_v<T, V> || (ScalarType<V> && (ScalarType<T> || VecType<T> || ComplexType<T>));

template <class T, class X>
Node converted(const X& x) {
  if constexpr (Unindexed<X>) {
    throwKernelError(HPL_INDEX_IS_MISSING);
  } else if constexpr (!Operand<X>) {
    static_assert(kNever<X>,
                  "HPL: this is no value of a kernel: those are elements a[i][j], scalars such as "
                  "Float, host numbers, and expressions of them");
    return nullptr;
  } else if constexpr (!kConverts<T, ValueOf<X>>) {
    static_assert(
        kNever<X>,
        "HPL: this value does not convert to the type that it is assigned to; cast<T>(x), "
        "make<T>(parts...) and lanes such as v.x give other types");
    return nullptr;
  } else {
    return convertNode(nodeOf(x), irType<T>());
  }
}

}  // namespace detail

namespace detail {

// The results of functions that macros define. Their errors are those of classes which the return
// types name: compilers then show the line of the program and the sentence, and neither bodies nor
// macros.

template <class T>
struct MissingIndex : Expr<T> {
  template <class X>
  MissingIndex(const X&);
  static_assert(kNever<T>, HPL_INDEX_IS_MISSING);
};
template <class T>
struct NoInteger : Expr<T> {
  template <class X>
  NoInteger(const X&);
  static_assert(
      kNever<T>,
      "HPL: the operators % & | ^ ~ << >> and functions of integers need integer operands");
};
template <class X>
struct NoPlace : Expr<ValueOf<X>> {
  static_assert(!kIndexed<X>, HPL_NO_PLACE);
  static_assert(kIndexed<X>, HPL_INDEX_IS_MISSING);
};

/// Expr<T>, where no operand lacks an index.
template <class T, class... X>
using Result = std::conditional_t<kIndexed<X...>, Expr<T>, MissingIndex<T>>;
/// The same of operators that need integers.
template <class T, class... X>
using IntegerResult = std::conditional_t<(kIntegerLanes<ValueOf<X>> && ...) || !kIndexed<X...>,
                                         Result<T, X...>, NoInteger<T>>;

/// The left operand alone decides the type of a shift, as in C.
template <class A>
struct Shifted : Common<A, A> {};
template <VecType A>
struct Shifted<A> {
  using type = A;
};

template <class A, class B>
using CommonOf = CommonType<ValueOf<A>, ValueOf<B>>;
template <class A, class B>
using ShiftedOf = typename Shifted<ValueOf<A>>::type;

}  // namespace detail

#define HPL_BINARY(symbol, Op)                                                                    \
  template <class A, class B>                                                                     \
    requires KernelOperands<A, B>                                                                 \
  detail::Result<detail::CommonOf<A, B>, A, B> operator symbol(const A& a, const B& b) {          \
    using T = detail::CommonOf<A, B>;                                                             \
    return Expr<T>(                                                                               \
        detail::binaryNode(ir::BinaryOp::Op, irType<T>(), detail::nodeOf(a), detail::nodeOf(b))); \
  }
#define HPL_INTEGER(symbol, Op, Type)                                                             \
  template <class A, class B>                                                                     \
    requires KernelOperands<A, B>                                                                 \
  detail::IntegerResult<detail::Type<A, B>, A, B> operator symbol(const A& a, const B& b) {       \
    using T = detail::Type<A, B>;                                                                 \
    return Expr<T>(                                                                               \
        detail::binaryNode(ir::BinaryOp::Op, irType<T>(), detail::nodeOf(a), detail::nodeOf(b))); \
  }
#define HPL_PREDICATE(symbol, Op)                                                                 \
  template <class A, class B>                                                                     \
    requires KernelOperands<A, B>                                                                 \
  detail::Result<detail::TruthOf<detail::CommonOf<A, B>>, A, B> operator symbol(const A& a,       \
                                                                                const B& b) {     \
    using T = detail::CommonOf<A, B>;                                                             \
    return Expr<detail::TruthOf<T>>(                                                              \
        detail::binaryNode(ir::BinaryOp::Op, irType<T>(), detail::nodeOf(a), detail::nodeOf(b))); \
  }
// For values that are no places; those of places are members of Assignable.
#define HPL_COMPOUND(symbol)                \
  template <detail::KernelValue A, class B> \
    requires(!detail::Place<A>)             \
  detail::NoPlace<A> operator symbol(const A&, const B&);
#define HPL_STEP(symbol)                        \
  template <detail::KernelValue A>              \
    requires(!detail::Place<A>)                 \
  detail::NoPlace<A> operator symbol(const A&); \
  template <detail::KernelValue A>              \
    requires(!detail::Place<A>)                 \
  detail::NoPlace<A> operator symbol(const A&, int);

HPL_BINARY(+, Add)
HPL_BINARY(-, Sub)
HPL_BINARY(*, Mul)
HPL_BINARY(/, Div)
HPL_INTEGER(%, Rem, CommonOf)
HPL_INTEGER(&, BitAnd, CommonOf)
HPL_INTEGER(|, BitOr, CommonOf)
HPL_INTEGER(^, BitXor, CommonOf)
HPL_INTEGER(<<, Shl, ShiftedOf)
HPL_INTEGER(>>, Shr, ShiftedOf)
HPL_PREDICATE(==, Eq)
HPL_PREDICATE(!=, Ne)
HPL_PREDICATE(<, Lt)
HPL_PREDICATE(<=, Le)
HPL_PREDICATE(>, Gt)
HPL_PREDICATE(>=, Ge)
HPL_PREDICATE(&&, LogicalAnd)
HPL_PREDICATE(||, LogicalOr)
HPL_COMPOUND(+=)
HPL_COMPOUND(-=)
HPL_COMPOUND(*=)
HPL_COMPOUND(/=)
HPL_COMPOUND(%=)
HPL_COMPOUND(&=)
HPL_COMPOUND(|=)
HPL_COMPOUND(^=)
HPL_COMPOUND(<<=)
HPL_COMPOUND(>>=)
// NOLINTBEGIN(bugprone-macro-repeated-side-effects): the argument is a symbol, not an expression.
HPL_STEP(++)
HPL_STEP(--)
// NOLINTEND(bugprone-macro-repeated-side-effects)

#undef HPL_COMPOUND
#undef HPL_STEP
#undef HPL_BINARY
#undef HPL_INTEGER
#undef HPL_PREDICATE

namespace detail {
template <class V>
struct PromotedOf {
  using type = V;
};
template <ScalarType V>
struct PromotedOf<V> : Promote<V> {};
template <class X>
using Promoted = typename PromotedOf<ValueOf<X>>::type;
}  // namespace detail

template <detail::KernelValue X>
detail::Result<detail::Promoted<X>, X> operator-(const X& x) {
  using T = detail::Promoted<X>;
  return Expr<T>(detail::unaryNode(ir::UnaryOp::Negate, irType<T>(), detail::nodeOf(x)));
}
template <detail::KernelValue X>
detail::Result<detail::Promoted<X>, X> operator+(const X& x) {
  using T = detail::Promoted<X>;
  return Expr<T>(detail::convertNode(detail::nodeOf(x), irType<T>()));
}
template <detail::KernelValue X>
detail::IntegerResult<detail::Promoted<X>, X> operator~(const X& x) {
  using T = detail::Promoted<X>;
  return Expr<T>(detail::unaryNode(ir::UnaryOp::BitNot, irType<T>(), detail::nodeOf(x)));
}
template <detail::KernelValue X>
detail::Result<detail::TruthOf<detail::ValueOf<X>>, X> operator!(const X& x) {
  using V = detail::ValueOf<X>;
  return Expr<detail::TruthOf<V>>(
      detail::unaryNode(ir::UnaryOp::LogicalNot, irType<V>(), detail::nodeOf(x)));
}

/// `condition ? yes : no`. A scalar condition evaluates one branch only; a vector condition chooses
/// lane by lane. The result has the common type of the branches.
template <Operand C, Operand A, Operand B>
auto where(const C& condition, const A& yes, const B& no) {
  static_assert(detail::kIndexed<C, A, B>, HPL_INDEX_IS_MISSING);
  using VA = detail::ValueOf<A>;
  using VB = detail::ValueOf<B>;
  if constexpr (std::is_same_v<VA, VB>) {
    return Expr<VA>(detail::selectNode(irType<VA>(), detail::nodeOf(condition), detail::nodeOf(yes),
                                       detail::nodeOf(no)));
  } else if constexpr (!detail::HaveCommon<VA, VB>) {
    static_assert(
        detail::kNever<A, B>,
        "HPL: where(condition, a, b) needs values of one type, or scalars, which widen to "
        "the vector or complex number that the other is");
    return Expr<VA>(nullptr);
  } else {
    using T = CommonType<VA, VB>;
    return Expr<T>(detail::selectNode(irType<T>(), detail::nodeOf(condition), detail::nodeOf(yes),
                                      detail::nodeOf(no)));
  }
}

/// Explicit conversion: `cast<float>(i)`, `cast<int4>(f4)` (lane by lane).
template <ElementType T, Operand X>
Expr<T> cast(const X& x) {
  static_assert(detail::kIndexed<X>, HPL_INDEX_IS_MISSING);
  return Expr<T>(detail::castNode(detail::nodeOf(x), irType<T>()));
}

/// The same bits as another type of the same size (OpenCL's `as_type`): `as<uint>(f)`.
template <ElementType T, Operand X>
Expr<T> as(const X& x) {
  static_assert(detail::kIndexed<X>, HPL_INDEX_IS_MISSING);
  static_assert(sizeof(T) == sizeof(detail::ValueOf<X>), "HPL: as<T>(x) needs types of one size");
  return Expr<T>(detail::reinterpretNode(detail::nodeOf(x), irType<T>()));
}

namespace detail {

/// An index of an array in a kernel: any integer operand. Remembers the user's line.
class Index {
 public:
  template <Operand X>
  Index(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(std::is_integral_v<ValueOf<X>>, "HPL: array indices must be integers");
    static_assert(kIndexed<X>, HPL_INDEX_IS_MISSING);
    setLocation(where);
    node_ = nodeOf(x);
  }
  Node node() const { return node_; }

 private:
  Node node_;
};

}  // namespace detail

}  // namespace hpl
