// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hpl/array/scalar.h"
#include "hpl/lang/complex.h"
#include "hpl/lang/expr.h"
#include "hpl/lang/math.h"

/// The operations of reductions, each twice: for kernels, and for the host, which combines the
/// results of the devices' blocks.
namespace hpl::algorithms {

/// In what a sum of T is computed: integers in 64 bits, half in float, all others as they are.
template <class T>
struct SumTypeOf {
  using type = T;
};
template <class T>
  requires std::is_integral_v<T>
struct SumTypeOf<T> {
  using type =
      std::conditional_t<std::is_signed_v<T> || std::is_same_v<T, bool>, long, unsigned long>;
};
template <>
struct SumTypeOf<half> {
  using type = float;
};
template <class T, int N>
struct SumTypeOf<Vec<T, N>> {
  using type = Vec<typename SumTypeOf<T>::type, N>;
};
template <class T>
using SumType = typename SumTypeOf<T>::type;

/// In what values are compared: half and bool do not compare on all devices.
template <class T>
using CompareType = std::conditional_t<std::is_same_v<T, half>, float,
                                       std::conditional_t<std::is_same_v<T, bool>, int, T>>;

/// A value of a kernel in another type, or the same.
template <class T, class X>
Expr<T> valueAs(const X& x) {
  if constexpr (std::is_same_v<detail::ValueOf<X>, T>) {
    return Expr<T>(x.node());
  } else {
    return cast<T>(x);
  }
}

/// Functors that are empty take no room, so that kernels made of them are told apart by type.
template <class F, bool = std::is_empty_v<F>&& std::is_default_constructible_v<F>>
struct Held {
  explicit Held(const F& f) : held(f) {}
  const F& get() const { return held; }
  F held;
};
template <class F>
struct Held<F, true> {
  explicit Held(const F&) {}
  F get() const { return F{}; }
};

/// sum, dot.
template <class T>
struct SumOp {
  static constexpr const char* kName = "sum_of";
  using Value = T;
  using State = SumType<T>;
  using Result = State;
  static constexpr bool kOnHost = true;

  State neutral() const { return State{}; }
  template <class A, class B>
  auto combine(const A& a, const B& b) const {
    return a + b;
  }
  State combineOnHost(const State& a, const State& b) const {
    if constexpr (std::is_integral_v<State>) {
      // Wraps, as devices do.
      return static_cast<State>(static_cast<unsigned long>(a) + static_cast<unsigned long>(b));
    } else {
      return a + b;
    }
  }
  template <class A>
  auto finish(const A& a) const {
    return a;
  }
};

/// The square root of a sum.
template <class T>
struct NormOp : SumOp<T> {
  static constexpr const char* kName = "norm_of";
  using Result = std::conditional_t<std::is_integral_v<T>, double, T>;
  template <class A>
  auto finish(const A& a) const {
    using std::sqrt;
    if constexpr (detail::KernelValue<A>) {
      return sqrt(valueAs<Result>(a));
    } else {
      return sqrt(static_cast<Result>(a));
    }
  }
};

/// The smallest or largest representable value.
template <class T>
T extremeOf(bool largest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) return largest ? Limits::infinity() : -Limits::infinity();
  return largest ? Limits::max() : Limits::lowest();
}

template <bool Largest, class A, class B>
auto comesBefore(const A& a, const B& b) {
  if constexpr (Largest) {
    return a > b;
  } else {
    return a < b;
  }
}

template <class T>
struct LaneTypeOf {
  using type = T;
};
template <class T, int N>
struct LaneTypeOf<Vec<T, N>> {
  using type = T;
};

/// min, max; of vectors lane by lane. A NaN wins against everything.
template <class T, bool Largest>
struct ExtremeOp {
  static constexpr const char* kName = Largest ? "max_of" : "min_of";
  using Value = T;
  using State = CompareType<T>;
  using Result = T;
  using Lane = typename LaneTypeOf<State>::type;
  static constexpr bool kOnHost = true;

  State neutral() const { return State(extremeOf<Lane>(!Largest)); }
  template <class A, class B>
  auto combine(const A& a, const B& b) const {
    if constexpr (std::is_floating_point_v<Lane>) {
      return where(comesBefore<Largest>(b, a) | (b != b), b, a);
    } else {
      return where(comesBefore<Largest>(b, a), b, a);
    }
  }
  State combineOnHost(const State& a, const State& b) const {
    if constexpr (std::is_same_v<State, Lane>) {
      return comesBefore<Largest>(b, a) || b != b ? b : a;
    } else {
      State best = a;
      for (int lane = 0; lane < State::kLanes; ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        if (comesBefore<Largest>(b[l], a[l]) || b[l] != b[l]) best[l] = b[l];
      }
      return best;
    }
  }
  template <class A>
  auto finish(const A& a) const {
    if constexpr (detail::KernelValue<A>) {
      return valueAs<Result>(a);
    } else {
      return static_cast<Result>(a);
    }
  }
};

/// reduce: the program's own functor of kernel values.
template <class T, class G>
struct OwnOp : Held<G> {
  static constexpr const char* kName = "reduce_by";
  OwnOp(const G& g, const T& neutralValue) : Held<G>(g), start(neutralValue) {}
  using Value = T;
  using State = T;
  using Result = T;
  static constexpr bool kOnHost = false;

  T neutral() const { return start; }
  template <class A, class B>
  auto combine(const A& a, const B& b) const {
    return this->get()(Array<T, 0>(a), Array<T, 0>(b));
  }
  template <class A>
  auto finish(const A& a) const {
    return a;
  }

  T start;
};

/// A value of a kernel that grows by one element after the other.
template <class Op>
class ValueAccumulator {
 public:
  using State = typename Op::State;
  explicit ValueAccumulator(const Op& op) : op_(op), value_(op.neutral()) {}
  ValueAccumulator(const Op& op, const Expr<State>& value) : op_(op), value_(value) {}

  template <class X>
  void take(const X& x, const Expr<unsigned long>&) {
    value_ = op_.combine(value_, valueAs<State>(x));
  }
  void merge(const ValueAccumulator& other) { value_ = op_.combine(value_, other.value_); }
  const Array<State, 0>& value() const { return value_; }

 private:
  const Op& op_;
  Array<State, 0> value_;
};

/// argmin, argmax: the first of the places where the extreme value, or a NaN, stands.
template <class T, bool Largest>
struct PlaceOp {
  static constexpr const char* kName = Largest ? "argmax_of" : "argmin_of";
  using Value = T;
  using State = CompareType<T>;
  static constexpr long kNowhere = std::numeric_limits<long>::max();

  State neutral() const { return extremeOf<State>(!Largest); }
  static bool isBetter(State a, long placeOfA, State b, long placeOfB) {
    const bool isNanA = a != a, isNanB = b != b;
    if (isNanA != isNanB) return isNanA;
    const bool isSame = isNanA || a == b;
    return isSame ? placeOfA < placeOfB : comesBefore<Largest>(a, b);
  }
};

/// The same in a kernel.
template <class Op>
class PlaceAccumulator;
template <class T, bool Largest>
class PlaceAccumulator<PlaceOp<T, Largest>> {
 public:
  using Op = PlaceOp<T, Largest>;
  using State = typename Op::State;
  explicit PlaceAccumulator(const Op& op) : value_(op.neutral()), place_(Op::kNowhere) {}
  PlaceAccumulator(const Op&, const Expr<State>& value, const Expr<long>& place)
      : value_(value), place_(place) {}

  template <class X>
  void take(const X& x, const Expr<unsigned long>& place) {
    join(Array<State, 0>(valueAs<State>(x)), Array<long, 0>(cast<long>(place)));
  }
  void merge(const PlaceAccumulator& other) { join(other.value_, other.place_); }
  const Array<State, 0>& value() const { return value_; }
  const Array<long, 0>& place() const { return place_; }

 private:
  void join(const Array<State, 0>& value, const Array<long, 0>& place) {
    Int better;
    if constexpr (std::is_floating_point_v<State>) {
      Int isNan = value != value;
      Int wasNan = value_ != value_;
      better = (comesBefore<Largest>(value, value_) & (wasNan == 0)) |
               ((isNan != 0) & (wasNan == 0)) |
               (((value == value_) | ((isNan != 0) & (wasNan != 0))) & (place < place_));
    } else {
      better = comesBefore<Largest>(value, value_) | ((value == value_) & (place < place_));
    }
    place_ = where(better != 0, place, place_);
    value_ = where(better != 0, value, value_);
  }

  Array<State, 0> value_;
  Array<long, 0> place_;
};

}  // namespace hpl::algorithms
