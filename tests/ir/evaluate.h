// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "hpl/ir/interpreter.h"
#include "tests/ir/ir_builder.h"

/// Evaluates one expression in the interpreter, from and to host values.
namespace hpl::ir::test {

/// A half, as its bits.
struct HalfBits {
  std::uint16_t bits;
  friend bool operator==(const HalfBits&, const HalfBits&) = default;
};

/// Vectors are std::array (3 lanes occupy 4).
template <class T>
struct HostType;
template <class T>
  requires std::is_arithmetic_v<T>
struct HostType<T> {
  static constexpr Type type() {
    if (std::is_same_v<T, bool>) return kBool;
    if (std::is_same_v<T, float>) return kFloat;
    if (std::is_same_v<T, double>) return kDouble;
    const int size = std::countr_zero(sizeof(T));
    return Type{static_cast<Scalar>(2 + 2 * size + (std::is_signed_v<T> ? 0 : 1))};
  }
};
template <>
struct HostType<HalfBits> {
  static constexpr Type type() { return kHalf; }
};
template <class T, std::size_t kLanes>
struct HostType<std::array<T, kLanes>> {
  static constexpr Type type() { return vec(HostType<T>::type(), kLanes); }
};
template <class T>
struct HostType<std::complex<T>> {
  static constexpr Type type() { return complexOf(HostType<T>::type()); }
};

template <class T>
constexpr Type typeOf() {
  return HostType<T>::type();
}

template <class T>
ScalarArgument asArgument(const T& value) {
  ScalarArgument argument = scalarArgument(value);
  argument.bytes.resize(sizeOf(typeOf<T>()));
  return argument;
}

/// The value of `build(parameters...)`, an E of R's IR type, for the given arguments.
template <class R, class Build, class... A>
R evaluate(Build build, const A&... values) {
  IrBuilder b("evaluate");
  auto out = b.array("out", typeOf<R>(), 1);
  const auto kernel = [&](auto... params) { b.stmt(Assign{out(0), build(*params...)}); };
  int count = 0;
  const auto parameter = [&](Type type) { return b.scalar("p" + std::to_string(++count), type); };
  // Braces: parameters are declared from left to right.
  std::apply(kernel, std::tuple{parameter(typeOf<A>())...});
  const Kernel k = b.finish();
  std::array<R, 2> result{};
  interpret(k, NDRange{}, {arrayArgument(result.data(), {1}), asArgument(values)...});
  return result[0];
}

/// The same of an operator or built-in by itself.
template <class R, class... A>
R evaluate(BinaryOp op, const A&... values) {
  return evaluate<R>(
      [&](E l, E r) { return l.b->expr(typeOf<R>(), Binary{op, l, r}); }, values...);
}
template <class R, class A>
R evaluate(UnaryOp op, const A& value) {
  return evaluate<R>([&](E e) { return e.b->expr(typeOf<R>(), Unary{op, e}); }, value);
}
template <class R, class A>
R convert(const A& value) {
  return evaluate<R>([&](E e) { return e.b->cast(typeOf<R>(), e); }, value);
}
template <class R, class First, class... A>
R evaluate(Builtin f, const First& first, const A&... values) {
  return evaluate<R>(
      [&](E e, auto... rest) {
        return e.b->builtin(f, typeOf<R>(), {e, static_cast<const Expr*>(rest)...});
      },
      first, values...);
}

}  // namespace hpl::ir::test
