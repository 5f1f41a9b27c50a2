// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

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

/// A value with its type.
struct TypedValue {
  Type type;
  ScalarArgument argument;
};
template <class T>
TypedValue typed(const T& value) {
  TypedValue result{typeOf<T>(), scalarArgument(value)};
  result.argument.bytes.resize(sizeOf(result.type));
  return result;
}

using Build = std::function<E(const std::vector<E>&)>;

/// The bytes of the value of `build(parameters)`, an E of type `result`, for the given arguments.
std::vector<std::byte> evaluateBytes(Type result, const std::vector<TypedValue>& args,
                                     const Build& build);

template <class R>
R fromBytes(const std::vector<std::byte>& bytes) {
  R result;
  std::memcpy(&result, bytes.data(), sizeof(R));
  return result;
}

/// The value of `build(parameters...)`, an E of R's IR type.
template <class R, class F, class... A>
R evaluate(F build, const A&... values) {
  const Build spread = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return [&build](const std::vector<E>& p) { return build(p[I]...); };
  }(std::index_sequence_for<A...>{});
  return fromBytes<R>(evaluateBytes(typeOf<R>(), {typed(values)...}, spread));
}

/// The same of an operator, conversion or built-in by itself.
std::vector<std::byte> evaluateBytes(BinaryOp op, Type result, const std::vector<TypedValue>& args);
std::vector<std::byte> evaluateBytes(UnaryOp op, Type result, const std::vector<TypedValue>& args);
std::vector<std::byte> evaluateBytes(Builtin f, Type result, const std::vector<TypedValue>& args);
std::vector<std::byte> convertBytes(Type result, const TypedValue& value);

template <class R, class A>
R evaluate(BinaryOp op, const A& left, const A& right) {
  return fromBytes<R>(evaluateBytes(op, typeOf<R>(), {typed(left), typed(right)}));
}
template <class R, class A>
R evaluate(UnaryOp op, const A& value) {
  return fromBytes<R>(evaluateBytes(op, typeOf<R>(), {typed(value)}));
}
template <class R, class... A>
R evaluate(Builtin f, const A&... values) {
  return fromBytes<R>(evaluateBytes(f, typeOf<R>(), {typed(values)...}));
}
template <class R, class A>
R convert(const A& value) {
  return fromBytes<R>(convertBytes(typeOf<R>(), typed(value)));
}

/// Both results of a built-in with an out-pointer.
std::pair<std::vector<std::byte>, std::vector<std::byte>> evaluateOutBytes(
    Builtin f, Type result, Type out, const std::vector<TypedValue>& args);

template <class R, class O, class... A>
std::pair<R, O> evaluateOut(Builtin f, const A&... values) {
  const auto bytes = evaluateOutBytes(f, typeOf<R>(), typeOf<O>(), {typed(values)...});
  return {fromBytes<R>(bytes.first), fromBytes<O>(bytes.second)};
}

}  // namespace hpl::ir::test
