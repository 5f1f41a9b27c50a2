// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>

#include "hpl/lang/detail/capture.h"
#include "hpl/lang/type_of.h"

/// Expressions of the embedded language. `Expr<T>` is a value that the generated kernel computes;
/// operators between kernel values and host values record nodes with C's usual conversions.
namespace hpl {

namespace detail {

/// Something that has a value in a kernel: Expr, array elements, scalars, idx, ...
template <class X>
concept KernelValue = requires { typename std::remove_cvref_t<X>::hpl_value_type; };

/// Host values become constants of the kernel; unscoped enumerators are integers.
template <class X>
concept HostValue = ElementType<std::remove_cvref_t<X>> || UnscopedEnum<std::remove_cvref_t<X>>;

/// Proxies of host elements, which also become constants.
template <class X>
concept HostProxy = requires { typename std::remove_cvref_t<X>::hpl_host_type; };

template <class X>
struct ValueOfImpl {
  using type = X;
};
template <KernelValue X>
struct ValueOfImpl<X> {
  using type = typename X::hpl_value_type;
};
template <HostProxy X>
struct ValueOfImpl<X> {
  using type = typename X::hpl_host_type;
};
template <UnscopedEnum X>
struct ValueOfImpl<X> {
  using type = decltype(+X());
};

}  // namespace detail

/// Anything that may stand in a kernel expression: a kernel value, or a host value (a constant).
template <class X>
concept Operand = detail::KernelValue<X> || detail::HostValue<X> || detail::HostProxy<X>;

namespace detail {

/// C++ type of an operand's value.
template <class X>
using ValueOf = typename ValueOfImpl<std::remove_cvref_t<X>>::type;

template <class T>
Node hostConstant(const T& value) {
  if constexpr (std::is_same_v<T, half>) {
    return constantNode(irType<T>(), 0, static_cast<double>(static_cast<float>(value)));
  } else if constexpr (std::is_floating_point_v<T>) {
    return constantNode(irType<T>(), 0, static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return constantNode(irType<T>(), static_cast<std::uint64_t>(value), 0);
  } else if constexpr (ComplexType<T>) {
    return constructNode(irType<T>(), {hostConstant(value.real()), hostConstant(value.imag())});
  } else if constexpr (VecType<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return constructNode(irType<T>(), {hostConstant(value[I])...});
    }(std::make_index_sequence<T::kLanes>());
  } else {
    return StructTraits<T>::constant(value);
  }
}

template <Operand X>
Node nodeOf(const X& x) {
  if constexpr (KernelValue<X>) {
    return x.node();
  } else if constexpr (HostProxy<X> || UnscopedEnum<X>) {
    return hostConstant(static_cast<ValueOf<X>>(x));
  } else {
    return hostConstant(x);
  }
}

/// Promoted arithmetic type: half computes as float, small integers as int.
template <class T>
struct Promote {
  using type = decltype(+T());
};
template <>
struct Promote<half> {
  using type = float;
};

template <class A, class B>
struct Common {};
template <ScalarType A, ScalarType B>
struct Common<A, B> {
  using type = decltype(typename Promote<A>::type() + typename Promote<B>::type());
};
template <VecType A>
struct Common<A, A> {
  using type = A;
};
template <VecType A, ScalarType B>
struct Common<A, B> {
  using type = A;
};
template <ScalarType A, VecType B>
struct Common<A, B> {
  using type = B;
};
template <ComplexType A>
struct Common<A, A> {
  using type = A;
};
template <ComplexType A, ScalarType B>
struct Common<A, B> {
  using type = std::complex<typename Common<typename A::value_type, B>::type>;
};
template <ScalarType A, ComplexType B>
struct Common<A, B> : Common<B, A> {};

/// Type of comparing two T: int, or the signed integer vector of the same width.
template <class T>
struct Truth {
  using type = int;
};
template <class T, int N>
struct Truth<Vec<T, N>> {
  using Lane = std::conditional_t<
      sizeof(T) == 1, signed char,
      std::conditional_t<sizeof(T) == 2, short, std::conditional_t<sizeof(T) == 4, int, long>>>;
  using type = Vec<Lane, N>;
};
template <class T>
using TruthOf = typename Truth<T>::type;

template <class T>
struct LaneOf {
  using type = T;
};
template <class T, int N>
struct LaneOf<Vec<T, N>> {
  using type = T;
};
template <class T>
concept IntegerLanes = std::is_integral_v<typename LaneOf<T>::type>;

template <class A, class B>
concept HaveCommon = requires { typename Common<A, B>::type; };

}  // namespace detail

/// The type of `a + b` in a kernel: C's usual arithmetic conversions; a scalar widens to the vector
/// or complex type of the other operand.
template <class A, class B>
using CommonType = typename detail::Common<A, B>::type;

/// Two operands of which at least one is a kernel value, with a common type.
template <class A, class B>
concept KernelOperands =
    Operand<A> && Operand<B> &&
    (detail::KernelValue<A> ||
     detail::KernelValue<B>)&&detail::HaveCommon<detail::ValueOf<A>, detail::ValueOf<B>>;

template <class T>
class Ref;
template <class T>
class Expr;

namespace detail {

/// Lane access of vectors: `v[i]` with a constant i.
template <class Derived, class T, template <class> class Result>
struct Lanes {};
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

/// Which part of which value; the node is made when it is used.
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
class ValuePart : public Members<T, ValuePart>, public Lanes<ValuePart<T>, T, Expr> {
 public:
  using hpl_value_type = T;
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
class Expr : public detail::Lanes<Expr<T>, T, Expr>, public detail::Members<T, detail::ValuePart> {
 public:
  using hpl_value_type = T;
  explicit Expr(detail::Node node) : node_(node) { this->bindMembers(node); }
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

template <class T, Operand X>
Node converted(const X& x) {
  static_assert(
      requires { typename Common<T, ValueOf<X>>::type; } || std::is_same_v<T, ValueOf<X>>,
      "HPL: this value does not convert to the type that it is assigned to");
  return convertNode(nodeOf(x), irType<T>());
}

}  // namespace detail

#define HPL_BINARY(symbol, Op)                                                                    \
  template <class A, class B>                                                                     \
    requires KernelOperands<A, B>                                                                 \
  auto operator symbol(const A& a, const B& b) {                                                  \
    using T = CommonType<detail::ValueOf<A>, detail::ValueOf<B>>;                                 \
    return Expr<T>(                                                                               \
        detail::binaryNode(ir::BinaryOp::Op, irType<T>(), detail::nodeOf(a), detail::nodeOf(b))); \
  }
#define HPL_INTEGER_BINARY(symbol, Op)                                                            \
  template <class A, class B>                                                                     \
    requires KernelOperands<A, B>                                                                 \
  auto operator symbol(const A& a, const B& b) {                                                  \
    using T = CommonType<detail::ValueOf<A>, detail::ValueOf<B>>;                                 \
    static_assert(detail::IntegerLanes<T>, "HPL: operator " #symbol " needs integer operands");   \
    return Expr<T>(                                                                               \
        detail::binaryNode(ir::BinaryOp::Op, irType<T>(), detail::nodeOf(a), detail::nodeOf(b))); \
  }
// The left operand alone decides the type of a shift, as in C.
#define HPL_SHIFT(symbol, Op)                                                                     \
  template <class A, class B>                                                                     \
    requires KernelOperands<A, B>                                                                 \
  auto operator symbol(const A& a, const B& b) {                                                  \
    using V = detail::ValueOf<A>;                                                                 \
    using T = std::conditional_t<detail::VecType<V>, V, CommonType<V, V>>;                        \
    static_assert(detail::IntegerLanes<T> && detail::IntegerLanes<detail::ValueOf<B>>,            \
                  "HPL: operator " #symbol " needs integer operands");                            \
    return Expr<T>(                                                                               \
        detail::binaryNode(ir::BinaryOp::Op, irType<T>(), detail::nodeOf(a), detail::nodeOf(b))); \
  }
#define HPL_PREDICATE(symbol, Op)                                                                 \
  template <class A, class B>                                                                     \
    requires KernelOperands<A, B>                                                                 \
  auto operator symbol(const A& a, const B& b) {                                                  \
    using T = CommonType<detail::ValueOf<A>, detail::ValueOf<B>>;                                 \
    return Expr<detail::TruthOf<T>>(                                                              \
        detail::binaryNode(ir::BinaryOp::Op, irType<T>(), detail::nodeOf(a), detail::nodeOf(b))); \
  }

HPL_BINARY(+, Add)
HPL_BINARY(-, Sub)
HPL_BINARY(*, Mul)
HPL_BINARY(/, Div)
HPL_INTEGER_BINARY(%, Rem)
HPL_INTEGER_BINARY(&, BitAnd)
HPL_INTEGER_BINARY(|, BitOr)
HPL_INTEGER_BINARY(^, BitXor)
HPL_SHIFT(<<, Shl)
HPL_SHIFT(>>, Shr)
HPL_PREDICATE(==, Eq)
HPL_PREDICATE(!=, Ne)
HPL_PREDICATE(<, Lt)
HPL_PREDICATE(<=, Le)
HPL_PREDICATE(>, Gt)
HPL_PREDICATE(>=, Ge)
HPL_PREDICATE(&&, LogicalAnd)
HPL_PREDICATE(||, LogicalOr)

#undef HPL_BINARY
#undef HPL_INTEGER_BINARY
#undef HPL_SHIFT
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
auto operator-(const X& x) {
  using T = detail::Promoted<X>;
  return Expr<T>(detail::unaryNode(ir::UnaryOp::Negate, irType<T>(), x.node()));
}
template <detail::KernelValue X>
auto operator+(const X& x) {
  using T = detail::Promoted<X>;
  return Expr<T>(detail::convertNode(x.node(), irType<T>()));
}
template <detail::KernelValue X>
auto operator~(const X& x) {
  using T = detail::Promoted<X>;
  static_assert(detail::IntegerLanes<T>, "HPL: operator ~ needs an integer operand");
  return Expr<T>(detail::unaryNode(ir::UnaryOp::BitNot, irType<T>(), x.node()));
}
template <detail::KernelValue X>
auto operator!(const X& x) {
  using V = detail::ValueOf<X>;
  return Expr<detail::TruthOf<V>>(
      detail::unaryNode(ir::UnaryOp::LogicalNot, irType<V>(), x.node()));
}

/// `condition ? yes : no`. A scalar condition evaluates one branch only; a vector condition chooses
/// lane by lane. The result has the common type of the branches.
template <Operand C, Operand A, Operand B>
auto where(const C& condition, const A& yes, const B& no) {
  using VA = detail::ValueOf<A>;
  using VB = detail::ValueOf<B>;
  if constexpr (std::is_same_v<VA, VB>) {
    return Expr<VA>(detail::selectNode(irType<VA>(), detail::nodeOf(condition), detail::nodeOf(yes),
                                       detail::nodeOf(no)));
  } else {
    using T = CommonType<VA, VB>;
    return Expr<T>(detail::selectNode(irType<T>(), detail::nodeOf(condition), detail::nodeOf(yes),
                                      detail::nodeOf(no)));
  }
}

/// Explicit conversion: `cast<float>(i)`, `cast<int4>(f4)` (lane by lane).
template <ElementType T, Operand X>
Expr<T> cast(const X& x) {
  return Expr<T>(detail::castNode(detail::nodeOf(x), irType<T>()));
}

/// The same bits as another type of the same size (OpenCL's `as_type`): `as<uint>(f)`.
template <ElementType T, Operand X>
Expr<T> as(const X& x) {
  static_assert(sizeof(T) == sizeof(detail::ValueOf<X>), "HPL: as<T>(x) needs types of one size");
  return Expr<T>(detail::reinterpretNode(detail::nodeOf(x), irType<T>()));
}

/// An index of an array in a kernel: any integer operand. Remembers the user's line.
class Index {
 public:
  template <Operand X>
  Index(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(std::is_integral_v<detail::ValueOf<X>>, "HPL: array indices must be integers");
    detail::setLocation(where);
    node_ = detail::nodeOf(x);
  }
  detail::Node node() const { return node_; }

 private:
  detail::Node node_;
};

}  // namespace hpl
