// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "hpl/algorithms/detail/fold_request.h"

/// Sums, extremes and other reductions of arrays, views, and functions of their elements, on the
/// devices where the cells are.
///
///     float total = sum(x);                                          // waits for the result
///     float energy = sum([](Float m, Float v) { return 0.5f * m * v * v; }, mass, speed);
///     auto residual = norm(r);                                       // does not wait
///     dot(p, q).into(alpha);                                         // Array<float, 1> alpha(1)
///
/// A function takes one kernel scalar (Float, Int, ...) for each argument that follows it and gives
/// the value to be combined; arguments are arrays or views of equal extents, and host scalars. It
/// may change parameters that it takes by reference (Float&), each element once: an update and a
/// reduction of the new values are one pass through memory,
///
///     sum([](Float& r, Float q, Float a) { r -= a * q; return r * r; }, residual, image, alpha);
///
/// valueIn(cell) is the value of an array of one element, for all elements the same: the result
/// that an earlier reduction left there, into(cell), never visits the host. Distributed arrays are
/// combined by each device that has a part of them, ghosts left out.
///
/// All throw ShapeError when arrays have different extents, and for handles that name nothing;
/// ArgumentError when an array that is changed shares cells with another argument;
/// KernelError inside a kernel; and what launches throw (KernelError, BuildError, DeviceError,
/// AllocationError).
namespace hpl {

/// The result of a reduction that is under way. It converts to its value when it is read, and waits
/// then. Copy the value, not the result: it cannot be copied.
template <class R>
class Reduced {
 public:
  /// Results are also arguments of launches, as scalars.
  using hpl_host_type = R;

  Reduced(const char* name, algorithms::PartialsHandle partials, launch::EntryHandle combine,
          R (*onHost)(const algorithms::Partials&))
      : name_(name),
        partials_(std::move(partials)),
        combine_(std::move(combine)),
        onHost_(onHost) {}

  /// The value; the first call waits for the devices. Throws DeviceError when one of them failed.
  const R& value() const {
    if (isKnown_) return value_;
    if (onHost_ != nullptr) {
      value_ = onHost_(*partials_);
    } else {
      value_ = *static_cast<const R*>(
          algorithms::combineOnDevice(*partials_, combine_, name_, irType<R>(), sizeof(R)));
    }
    isKnown_ = true;
    return value_;
  }
  operator R() const { return value(); }  // NOLINT(google-explicit-constructor)
  const R* operator->() const { return &value(); }

  /// Leaves the value in an array of one cell, or in a view of one cell, on the device: later
  /// launches read it there, and the host never waits. May be called several times. Throws
  /// ShapeError when the array has more cells.
  void into(const Array<R, 1>& cell) const {
    algorithms::combineInto(*partials_, combine_, name_, cell.hostView(), irType<R>());
  }

 private:
  const char* name_;
  algorithms::PartialsHandle partials_;
  launch::EntryHandle combine_;
  R (*onHost_)(const algorithms::Partials&);
  mutable bool isKnown_ = false;
  mutable R value_{};
};

/// Where the smallest or largest element is. Like Reduced, it waits when it is asked.
template <class T, int N>
class Found {
 public:
  using Value = T;
  Found(algorithms::PartialsHandle partials, T (*find)(const algorithms::Partials&, long&))
      : partials_(std::move(partials)), find_(find) {}

  /// The element's value. Throws DeviceError when a device failed.
  T value() const {
    know();
    return value_;
  }
  /// Its position in row-major order: of a one-dimensional array its index.
  long index() const {
    know();
    return index_;
  }
  operator long() const { return index(); }  // NOLINT(google-explicit-constructor)
  /// Its indices, counted from the first cell of the array or view.
  std::array<std::int64_t, N> indices() const {
    know();
    std::array<std::int64_t, N> at{};
    long rest = index_;
    for (int d = N - 1; d >= 0; --d) {
      at[static_cast<std::size_t>(d)] = rest % partials_->extents[d];
      rest /= partials_->extents[d];
    }
    return at;
  }

 private:
  void know() const {
    if (!isKnown_) value_ = find_(*partials_, index_);
    isKnown_ = true;
  }
  algorithms::PartialsHandle partials_;
  T (*find_)(const algorithms::Partials&, long&);
  mutable bool isKnown_ = false;
  mutable T value_{};
  mutable long index_ = 0;
};

/// The value of an array of one element, or of a view of one, as an argument of the function of a
/// reduction. ShapeError by the reduction when there are more.
template <class T>
ValueIn<T> valueIn(const Array<T, 1>& cell) {
  return {cell};
}

namespace algorithms {

/// The element itself.
template <class T>
struct Element {
  Array<T, 0> operator()(Array<T, 0> x) const { return x; }
};
/// conj(x) y; of vectors the sum over their lanes.
template <class T>
struct Product {
  auto operator()(Array<T, 0> x, Array<T, 0> y) const {
    if constexpr (detail::ComplexType<T>) {
      return conj(x) * y;
    } else if constexpr (detail::VecType<T>) {
      using S = SumType<typename T::Scalar>;
      Array<S, 0> total(valueAs<S>(x[0]) * valueAs<S>(y[0]));
      for (std::size_t lane = 1; lane < static_cast<std::size_t>(T::kLanes); ++lane)
        total += valueAs<S>(x[lane]) * valueAs<S>(y[lane]);
      return total;
    } else {
      return valueAs<SumType<T>>(x) * valueAs<SumType<T>>(y);
    }
  }
};
/// The square of the magnitude.
template <class T>
struct Square {
  auto operator()(Array<T, 0> x) const {
    if constexpr (detail::ComplexType<T>) {
      return norm(x);
    } else {
      return Product<T>()(x, x);
    }
  }
};

template <class F>
using GivenBy = typename ValueGivenBy<std::decay_t<F>>::type;

template <class T>
constexpr bool isOrdered =
    std::is_arithmetic_v<typename LaneTypeOf<T>::type> || std::is_same_v<T, half>;

/// The kernel that combines partials: one group, of as many work-items as fit.
template <class Op>
launch::EntryHandle combineEntry(const Op& op) {
  static const layout::KernelRewriter& rewriter = newFoldRewriter(Form::Groups);
  return launch::entryOf(CombineKernel<Op>(op), &rewriter);
}

/// Launches the reduction of f(arguments...) with an operator.
template <class Op, class F, class... A>
Reduced<typename Op::Result> reduced(const char* name, const Op& op, const F& f,
                                     const A&... arguments) {
  using Result = typename Op::Result;
  Result (*onHost)(const Partials&) = nullptr;
  if constexpr (Op::kOnHost) onHost = &combinedOnHost<Op>;
  return {name, startFold<FoldKernel>(name, false, op, f, arguments...), combineEntry<Op>(op),
          onHost};
}

template <class F, class... A>
auto summed(const char* name, const F& f, const A&... arguments) {
  return reduced(name, SumOp<GivenBy<F>>(), f, arguments...);
}

template <bool Largest, class F, class... A>
auto extreme(const char* name, const F& f, const A&... arguments) {
  using T = GivenBy<F>;
  static_assert(isOrdered<T>,
                "HPL: min and max need numbers or vectors of numbers; use reduce(f, neutral, a) "
                "with an order of your own for others");
  return reduced(name, ExtremeOp<T, Largest>(), f, arguments...);
}

/// The best of all pieces, and its place.
template <class Op>
typename Op::Value bestOf(const Partials& partials, long& place) {
  struct Best {
    typename Op::State value = Op().neutral();
    long place = Op::kNowhere;

    void take(const typename Op::State& other, long where) {
      if (where == Op::kNowhere) return;
      if (place != Op::kNowhere && !Op::isBetter(other, where, value, place)) return;
      value = other;
      place = where;
    }
  };
  const auto bestOfPiece = [&partials](const FoldPiece& piece, const void* values,
                                       const void* places, std::byte* out) {
    const auto* some = static_cast<const typename Op::State*>(values);
    const auto* there = static_cast<const long*>(places);
    Best best;
    for (std::size_t i = 0; i < piece.cells(); ++i)
      if (there[i] != Op::kNowhere) best.take(some[i], placeInWhole(partials, piece, there[i]));
    std::memcpy(out, &best, sizeof best);
  };
  thread_local std::vector<std::byte> found;
  digestPieces(partials, sizeof(Best), PieceDigest(bestOfPiece), found);
  Best best;
  for (std::size_t i = 0; i < partials.pieces.size(); ++i) {
    Best own;
    std::memcpy(&own, found.data() + i * sizeof own, sizeof own);
    best.take(own.value, own.place);
  }
  place = best.place;
  return static_cast<typename Op::Value>(best.value);
}

template <bool Largest, int N, class F, class... A>
Found<GivenBy<F>, N> foundExtreme(const char* name, const F& f, const A&... arguments) {
  using T = GivenBy<F>;
  static_assert(isOrdered<T> && !detail::VecType<T>, "HPL: argmin and argmax need numbers");
  using Op = PlaceOp<T, Largest>;
  return {startFold<PlaceKernel>(name, true, Op(), f, arguments...), &bestOf<Op>};
}

}  // namespace algorithms

/// The sum of all elements, or of f of them. Integers are added in 64 bits (the result is long or
/// unsigned long) and wrap, half is added in float. Real numbers are added in blocks: the error is
/// at most 1,000 roundings of the sum of the magnitudes in arrays of up to 2^32 elements, and
/// usually about one. The same array on the same devices gives the same bits each time.
template <class T, int N>
  requires(N > 0)
auto sum(const Array<T, N>& a) {
  return algorithms::summed("sum", algorithms::Element<T>(), a);
}
template <algorithms::PointFunction F, class... A>
auto sum(const F& f, const A&... arguments) {
  algorithms::checkFunction<std::decay_t<F>, A...>();
  return algorithms::summed<std::decay_t<F>>("sum", f, arguments...);
}

/// The sum of x y, element by element: of conj(x) y for complex numbers, and for vectors also over
/// their lanes. Types and errors as for sum().
template <class T, int N>
  requires(N > 0)
auto dot(const Array<T, N>& x, const Array<T, N>& y) {
  return algorithms::summed("dot", algorithms::Product<T>(), x, y);
}

/// The Euclidean norm: the square root of the sum of the squares of the magnitudes. The squares are
/// added as sum() does, so they must not overflow; of integers the result is a double.
template <class T, int N>
  requires(N > 0)
auto norm(const Array<T, N>& a) {
  using Squared = algorithms::GivenBy<algorithms::Square<T>>;
  return algorithms::reduced("norm", algorithms::NormOp<Squared>(), algorithms::Square<T>(), a);
}

/// The smallest and the largest element, or value of f; of vectors lane by lane. If there is a NaN,
/// the result is a NaN (not with FAST floating point).
template <class T, int N>
  requires(N > 0)
auto min(const Array<T, N>& a) {
  return algorithms::extreme<false>("min", algorithms::Element<T>(), a);
}
template <class T, int N>
  requires(N > 0)
auto max(const Array<T, N>& a) {
  return algorithms::extreme<true>("max", algorithms::Element<T>(), a);
}
template <algorithms::PointFunction F, class... A>
  requires(sizeof...(A) > 0)
auto min(const F& f, const A&... arguments) {
  algorithms::checkFunction<std::decay_t<F>, A...>();
  return algorithms::extreme<false, std::decay_t<F>>("min", f, arguments...);
}
template <algorithms::PointFunction F, class... A>
  requires(sizeof...(A) > 0)
auto max(const F& f, const A&... arguments) {
  algorithms::checkFunction<std::decay_t<F>, A...>();
  return algorithms::extreme<true, std::decay_t<F>>("max", f, arguments...);
}

/// Where the smallest and the largest element stand, the first one in row-major order if there are
/// several; if there is a NaN, the first NaN.
template <class T, int N>
  requires(N > 0)
auto argmin(const Array<T, N>& a) {
  return algorithms::foundExtreme<false, N>("argmin", algorithms::Element<T>(), a);
}
template <class T, int N>
  requires(N > 0)
auto argmax(const Array<T, N>& a) {
  return algorithms::foundExtreme<true, N>("argmax", algorithms::Element<T>(), a);
}
template <algorithms::PointFunction F, class... A>
auto argmin(const F& f, const A&... arguments) {
  algorithms::checkFunction<std::decay_t<F>, A...>();
  return algorithms::foundExtreme<false, algorithms::rankAmong<A...>, std::decay_t<F>>(
      "argmin", f, arguments...);
}
template <algorithms::PointFunction F, class... A>
auto argmax(const F& f, const A&... arguments) {
  algorithms::checkFunction<std::decay_t<F>, A...>();
  return algorithms::foundExtreme<true, algorithms::rankAmong<A...>, std::decay_t<F>>("argmax", f,
                                                                                      arguments...);
}

/// Combines all elements with a function of two kernel scalars, which must be associative and
/// commutative; `neutral` is what it leaves other values unchanged by:
///
///     Array<int, 1> flags(n);
///     int all = reduce([](Int p, Int q) { return p & q; }, ~0, flags);
template <algorithms::PointFunction G, class T, int N>
  requires(N > 0)
Reduced<T> reduce(const G& op, const std::type_identity_t<T>& neutral, const Array<T, N>& a) {
  using Function = std::decay_t<G>;
  algorithms::checkPureFunction<Function, Array<T, N>, Array<T, N>>();
  return algorithms::reduced("reduce", algorithms::OwnOp<T, Function>(op, neutral),
                             algorithms::Element<T>(), a);
}

}  // namespace hpl
