// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/interpreter/lanes.h"

namespace hpl::ir::detail {
namespace {

/// The lane type of a predicate's result: int for scalars, else signed and as wide as the operand.
template <class T>
using Signed = std::conditional_t<
    sizeof(T) == 1, std::int8_t,
    std::conditional_t<sizeof(T) == 2, std::int16_t,
                       std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;

/// True is 1 for scalars and all bits for lanes of vectors.
template <class T, class F>
Operation predicate(const Shape& shape, F) {
  if (!shape.result.isVector()) {
    return lanewise<std::int32_t, T, T>([](auto a, auto b) { return F{}(a, b) ? 1 : 0; });
  }
  return lanewise<Signed<T>, T, T>([](auto a, auto b) { return F{}(a, b) ? -1 : 0; });
}

template <class F>
Operation comparison(const Shape& shape, F f) {
  if (shape.args[0].complex) return nullptr;
  return forScalar(shape.args[0].scalar, [&]<class T>() { return predicate<T>(shape, f); });
}

/// Integer operators: `F` gets both operands zero-extended or wrapped to an unsigned type.
template <class F>
Operation wrapping(const Shape& shape, F) {
  return forInteger(shape.result.scalar, []<class T>() {
    using W = Wrapping<T>;
    return lanewise<T, T, T>([](T a, T b) { return F{}(static_cast<W>(a), static_cast<W>(b)); });
  });
}

template <class F>
Operation arithmetic(const Shape& shape, F f) {
  if (shape.result.isInteger()) return wrapping(shape, f);
  return forFloating(shape.result.scalar, []<class T>() {
    return lanewise<T, T, T>([](auto a, auto b) { return F{}(a, b); });
  });
}

template <class T>
T quotient(T a, T b) {
  if (b == 0) return 0;
  // The only overflow: the most negative number divided by -1 wraps to itself.
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
    return static_cast<T>(0 - static_cast<Wrapping<T>>(a));
  }
  return static_cast<T>(a / b);
}

template <class T>
T modulus(T a, T b) {
  if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
  return static_cast<T>(a % b);
}

template <class T>
struct Complex {
  T re;
  T im;
};

/// Textbook formulas, the same as in generated code: it shows no special treatment of infinities.
template <class T>
Complex<T> product(Complex<T> a, Complex<T> b) {
  return {times(a.re, b.re) - times(a.im, b.im), times(a.re, b.im) + times(a.im, b.re)};
}
template <class T>
Complex<T> ratio(Complex<T> a, Complex<T> b) {
  const T d = times(b.re, b.re) + times(b.im, b.im);
  return {(times(a.re, b.re) + times(a.im, b.im)) / d, (times(a.im, b.re) - times(a.re, b.im)) / d};
}

template <class T, class R, class F>
Operation complexwise(F) {
  return [](const Shape&, const std::byte* const* args, std::byte* result, std::byte*,
            std::int64_t items) {
    const auto* a = reinterpret_cast<const Complex<T>*>(args[0]);
    const auto* b = reinterpret_cast<const Complex<T>*>(args[1]);
    for (std::int64_t i = 0; i < items; ++i) reinterpret_cast<R*>(result)[i] = F{}(a[i], b[i]);
  };
}

template <class T>
Operation findComplex(BinaryOp op) {
  using C = Complex<T>;
  switch (op) {
    case BinaryOp::Mul:
      return complexwise<T, C>([](C a, C b) { return product(a, b); });
    case BinaryOp::Div:
      return complexwise<T, C>([](C a, C b) { return ratio(a, b); });
    case BinaryOp::Eq:
      return complexwise<T, std::int32_t>([](C a, C b) { return a.re == b.re && a.im == b.im; });
    case BinaryOp::Ne:
      return complexwise<T, std::int32_t>([](C a, C b) { return a.re != b.re || a.im != b.im; });
    default:
      return nullptr;
  }
}

Operation findDivision(BinaryOp op, const Shape& shape) {
  if (op == BinaryOp::Div) {
    if (!shape.result.isInteger()) return arithmetic(shape, [](auto a, auto b) { return a / b; });
    return forInteger(shape.result.scalar, []<class T>() {
      return lanewise<T, T, T>([](T a, T b) { return quotient(a, b); });
    });
  }
  return forInteger(shape.result.scalar, []<class T>() {
    return lanewise<T, T, T>([](T a, T b) { return modulus(a, b); });
  });
}

/// The amount may have an integer type of its own; it counts modulo the width of the result.
Operation findShift(BinaryOp op, const Shape& shape) {
  return forInteger(shape.result.scalar, [&]<class T>() {
    return forInteger(shape.args[1].scalar, [&]<class S>() {
      if (op == BinaryOp::Shl) {
        return lanewise<T, T, S>([](T a, S amount) {
          return static_cast<Wrapping<T>>(a)
                 << (static_cast<std::uint64_t>(amount) & (kBits<T> - 1));
        });
      }
      return lanewise<T, T, S>(
          [](T a, S amount) { return a >> (static_cast<std::uint64_t>(amount) & (kBits<T> - 1)); });
    });
  });
}

Operation findComparison(BinaryOp op, const Shape& shape) {
  switch (op) {
    case BinaryOp::Eq:
      return comparison(shape, [](auto a, auto b) { return a == b; });
    case BinaryOp::Ne:
      return comparison(shape, [](auto a, auto b) { return a != b; });
    case BinaryOp::Lt:
      return comparison(shape, [](auto a, auto b) { return a < b; });
    case BinaryOp::Le:
      return comparison(shape, [](auto a, auto b) { return a <= b; });
    case BinaryOp::Gt:
      return comparison(shape, [](auto a, auto b) { return a > b; });
    case BinaryOp::Ge:
      return comparison(shape, [](auto a, auto b) { return a >= b; });
    case BinaryOp::LogicalAnd:
      return comparison(shape, [](auto a, auto b) { return a != 0 && b != 0; });
    case BinaryOp::LogicalOr:
      return comparison(shape, [](auto a, auto b) { return a != 0 || b != 0; });
    default:
      return nullptr;
  }
}

}  // namespace

Operation findUnary(UnaryOp op, const Shape& shape) {
  const Scalar scalar = shape.args[0].scalar;
  if (shape.args[0].isStruct()) return nullptr;
  switch (op) {
    case UnaryOp::Plus:
      return forScalar(scalar, []<class T>() { return lanewise<T, T>([](auto a) { return a; }); });
    case UnaryOp::Negate:
      if (shape.result.isFloating()) {
        return forFloating(scalar,
                           []<class T>() { return lanewise<T, T>([](auto a) { return -a; }); });
      }
      return forInteger(scalar, []<class T>() {
        return lanewise<T, T>([](T a) { return 0 - static_cast<Wrapping<T>>(a); });
      });
    case UnaryOp::BitNot:
      return forInteger(scalar, []<class T>() {
        return lanewise<T, T>([](T a) { return ~static_cast<Wrapping<T>>(a); });
      });
    case UnaryOp::LogicalNot:
      if (shape.args[0].complex) return nullptr;
      return forScalar(scalar, [&]<class T>() {
        if (shape.result.isVector()) {
          return lanewise<Signed<T>, T>([](auto a) { return a == 0 ? -1 : 0; });
        }
        return lanewise<std::int32_t, T>([](auto a) { return a == 0 ? 1 : 0; });
      });
  }
  return nullptr;
}

Operation findBinary(BinaryOp op, const Shape& shape) {
  const Type& type = shape.args[0];
  if (type.isStruct()) return nullptr;
  if (type.complex && op != BinaryOp::Add && op != BinaryOp::Sub) {
    if (type.scalar == Scalar::Float) return findComplex<float>(op);
    return type.scalar == Scalar::Double ? findComplex<double>(op) : nullptr;
  }
  switch (op) {
    case BinaryOp::Add:
      return arithmetic(shape, [](auto a, auto b) { return a + b; });
    case BinaryOp::Sub:
      return arithmetic(shape, [](auto a, auto b) { return a - b; });
    case BinaryOp::Mul:
      return arithmetic(shape, [](auto a, auto b) { return a * b; });
    case BinaryOp::Div:
    case BinaryOp::Rem:
      return findDivision(op, shape);
    case BinaryOp::BitAnd:
      return wrapping(shape, [](auto a, auto b) { return a & b; });
    case BinaryOp::BitOr:
      return wrapping(shape, [](auto a, auto b) { return a | b; });
    case BinaryOp::BitXor:
      return wrapping(shape, [](auto a, auto b) { return a ^ b; });
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return findShift(op, shape);
    default:
      return findComparison(op, shape);
  }
}

}  // namespace hpl::ir::detail
