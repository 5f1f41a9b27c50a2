// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hpl/algorithms/detail/fold_ops.h"
#include "hpl/array/alias_array.h"
#include "hpl/array/array.h"
#include "hpl/array/parameter.h"
#include "hpl/lang/control.h"
#include "hpl/lang/work_items.h"

/// The kernels of reductions. A launch has `lanes` work-items along x, which take neighbouring
/// elements by turns, and blocks along y, each of consecutive elements. The result of a lane goes
/// into partials[block][lane]; in the form for groups, a group is a block, and combines the results
/// of its lanes as a tree into partials[block][0].
///
/// A lane combines kRun elements, kRun of such runs, and then these: so a sum of n floats has the
/// rounding error of 2 kRun + n / (lanes * blocks * kRun^2) additions.
namespace hpl::algorithms {

inline constexpr unsigned long kRun = 32;
/// Most work-items of a group in the form for groups; a device that cannot run that many has a
/// smaller power of two.
inline constexpr int kGroup = 128;

enum class Form { Lanes, Groups };

/// How the elements are walked through: as one row, where nothing lies between them, or row by row.
enum class Walk { Flat, Rows };

/// The lengths that a walk by rows needs: the row's own, then those of the slower dimensions but
/// the slowest, and last the number of rows.
template <int N>
using RowExtents = Vec<unsigned long, (N <= 4 ? 4 : 8)>;

/// Stands for an array argument in a flat walk.
template <class T>
const Array<T, 1>& flattened(const Array<T, 1>& array) {
  return array;
}
template <class T, int N>
  requires(N > 1)
AliasArray<T> flattened(const Array<T, N>& array) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    detail::Node zeros[N] = {((void)I, detail::hostConstant(0ul))...};
    return AliasArray<T>(Ref<T>(detail::accessNode(array.symbol(), zeros, N)));
  }(std::make_index_sequence<static_cast<std::size_t>(N)>());
}
template <class T>
const Array<T, 0>& flattened(const Array<T, 0>& scalar) {
  return scalar;
}

/// Reads the arguments at a position.
class FlatPosition {
 public:
  explicit FlatPosition(const Expr<unsigned long>& index) : index_(index) {}
  template <class T>
  auto operator()(const Array<T, 1>& array) const {
    return array[index_];
  }
  template <class T>
  auto operator()(const AliasArray<T>& array) const {
    return array[index_];
  }
  template <class T>
  const Array<T, 0>& operator()(const Array<T, 0>& scalar) const {
    return scalar;
  }
  /// The element itself, to be written.
  template <class A>
  detail::Node place(const A& array) const {
    const detail::Node index = index_.node();
    return detail::accessNode(array.symbol(), &index, 1);
  }

 private:
  Expr<unsigned long> index_;
};

/// Element `column` of a row that is known by its number.
template <int N>
class RowPosition {
 public:
  using Index = Expr<unsigned long>;
  RowPosition(const Array<RowExtents<N>, 0>& extents, const Ulong& row) {
    Array<unsigned long, 0> rest(row);
    for (int d = N - 2; d > 0; --d) {
      const auto lane = static_cast<std::size_t>(N - 1 - d);
      indices_[d] = Array<unsigned long, 0>(rest % extents[lane]).node();
      rest = rest / extents[lane];
    }
    indices_[0] = rest.node();
  }
  RowPosition at(const Index& column) const {
    RowPosition position = *this;
    position.indices_[N - 1] = column.node();
    return position;
  }
  template <class T>
  Expr<T> operator()(const Array<T, N>& array) const {
    return Expr<T>(detail::accessNode(array.symbol(), indices_, N));
  }
  template <class T>
  const Array<T, 0>& operator()(const Array<T, 0>& scalar) const {
    return scalar;
  }
  template <class A>
  detail::Node place(const A& array) const {
    return detail::accessNode(array.symbol(), indices_, N);
  }

 private:
  detail::Node indices_[N] = {};
};

/// Whether a function changes the elements that it is given for a parameter: `Float& x`.
template <class P>
inline constexpr bool isUpdated =
    std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>;
template <class F, class Params = typename detail::Signature<F>::Params>
inline constexpr bool updates = false;
template <class F, class... P>
inline constexpr bool updates<F, std::tuple<P...>> = (isUpdated<P> || ...);

/// Stores what the function has made of an element. Host scalars are refused elsewhere.
template <class P, class Position, class Value, class A>
void storeIfUpdated(const Position& position, const Value& value, const A& array) {
  if constexpr (isUpdated<P> && requires { array.symbol(); })
    detail::assignNode(position.place(array), detail::nodeOf(value));
}

/// The value of the program's function at a position; its parameters are kernel scalars. Those that
/// it takes by reference are stored again.
template <class F, class Position, class... A>
auto valueAt(const F& f, const Position& position, const A&... arguments) {
  using Params = typename detail::Signature<F>::Params;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (updates<F>) {
      std::tuple<std::remove_cvref_t<std::tuple_element_t<I, Params>>...> values{
          position(arguments)...};
      // A value of its own: an expression would read what is stored.
      const auto made = f(std::get<I>(values)...);
      const Array<detail::ValueOf<decltype(made)>, 0> result(made);
      (storeIfUpdated<std::tuple_element_t<I, Params>>(position, std::get<I>(values), arguments),
       ...);
      return result;
    } else {
      return f(std::remove_cvref_t<std::tuple_element_t<I, Params>>(position(arguments))...);
    }
  }(std::index_sequence_for<A...>());
}

/// The number of a work-item's lane, and the number of lanes.
template <Form form>
struct Lanes {
  Expr<unsigned long> count{lszx.node()};
  Expr<unsigned long> lane{lidx.node()};
};
template <>
struct Lanes<Form::Lanes> {
  Expr<unsigned long> count{szx.node()};
  Expr<unsigned long> lane{idx.node()};
};

/// Combines the elements from `begin` to `end` that are this lane's: take(accumulator, index), and
/// take(accumulator, index, condition) for elements that are this lane's on a condition, unless
/// each may be taken by one lane only (`once`).
template <Form form, bool once, class Make, class Take>
auto walkRun(const Lanes<form>& lanes, Make make, const Ulong& begin, const Ulong& end, Take take) {
  auto total = make();
  Ulong at = begin;
  Ulong whole = begin + (end - begin) / lanes.count * lanes.count;
  while_(at < whole) {
    auto middle = make();
    Ulong stopMiddle = min(at + kRun * kRun * lanes.count, whole);
    while_(at < stopMiddle) {
      // Two side by side, as one operation takes several cycles.
      auto inner = make();
      auto other = make();
      Ulong stop = min(at + kRun * lanes.count, stopMiddle);
      while_(at + lanes.count < stop) {
        take(inner, at + lanes.lane);
        take(other, at + lanes.count + lanes.lane);
        at += 2 * lanes.count;
      }
      if_(at < stop) {
        take(inner, at + lanes.lane);
        at += lanes.count;
      }
      inner.merge(other);
      middle.merge(inner);
    }
    total.merge(middle);
  }
  if constexpr (form == Form::Groups) {
    if_(at + lanes.lane < end) {
      take(total, at + lanes.lane);
    }
  } else if constexpr (once) {
    Ulong taker = 0;
    while_(at < end) {
      if_(lanes.lane == taker) {
        take(total, Expr<unsigned long>(at.node()));
      }
      at += 1;
      taker += 1;
    }
  } else {
    // Read by all lanes, so that the kernel can be written in vectors.
    Ulong taker = 0;
    while_(at < end) {
      take(total, Expr<unsigned long>(at.node()), lanes.lane == taker);
      at += 1;
      taker += 1;
    }
  }
  return total;
}

template <class Accumulator, class X>
void takeValue(Accumulator& accumulator, const X& x, const Expr<unsigned long>& place) {
  accumulator.take(x, place);
}
template <class Accumulator, class X, class C>
void takeValue(Accumulator& accumulator, const X& x, const Expr<unsigned long>& place,
               const C& condition) {
  Array<detail::ValueOf<X>, 0> value(x);
  if_(condition) {
    accumulator.take(value, place);
  }
}

/// This lane's share of `count` elements that lie one after another.
template <Form form, class Make, class F, class... P>
auto walkFlat(Make make, const Ulong& count, const F& f, const P&... parameters) {
  const Lanes<form> lanes;
  Ulong even = (count + szy - 1) / szy;
  Ulong chunk = (even + lanes.count - 1) / lanes.count * lanes.count;
  Ulong begin = min(idy * chunk, count);
  Ulong end = min(begin + chunk, count);
  return [&](const auto&... arguments) {
    return walkRun<form, updates<F>>(
        lanes, make, begin, end,
        [&](auto& accumulator, const Expr<unsigned long>& index, const auto&... only) {
          takeValue(accumulator, valueAt(f, FlatPosition(index), arguments...), index, only...);
        });
  }(flattened(parameters)...);
}

/// This lane's share of a view with gaps: blocks are bands of rows, cut into pieces where there are
/// fewer rows than blocks.
template <Form form, int N, class Make, class F, class... P>
auto walkRows(Make make, const Array<RowExtents<N>, 0>& extents, const F& f,
              const P&... parameters) {
  const Lanes<form> lanes;
  constexpr std::size_t kLast = RowExtents<N>::kLanes - 1;
  Ulong length = extents[0], rows = extents[kLast];
  Ulong bands = min(rows, szy);
  Ulong pieces = szy / bands;
  Ulong perBand = (rows + bands - 1) / bands;
  Ulong perPiece = ((length + pieces - 1) / pieces + lanes.count - 1) / lanes.count * lanes.count;
  Ulong row = min(idy / pieces * perBand, rows);
  Ulong lastRow = min(row + perBand, rows);
  Ulong begin = min(idy % pieces * perPiece, length);
  Ulong end = min(begin + perPiece, length);
  auto total = make();
  while_(row < lastRow) {
    auto some = make();
    Ulong stop = min(row + kRun, lastRow);
    while_(row < stop) {
      const RowPosition<N> first(extents, row);
      auto one = walkRun<form, updates<F>>(
          lanes, make, begin, end,
          [&](auto& accumulator, const Expr<unsigned long>& column, const auto&... only) {
            takeValue(accumulator, valueAt(f, first.at(column), parameters...),
                      row * length + column, only...);
          });
      some.merge(one);
      row += 1;
    }
    total.merge(some);
  }
  return total;
}

/// Leaves what this lane has in `partials`; groups combine it first.
template <Form form, class Op>
void storeFold(const Op& op, const ValueAccumulator<Op>& mine,
               Array<typename Op::State, 2>& partials) {
  if constexpr (form == Form::Lanes) {
    partials[idy][idx] = mine.value();
  } else {
    using State = typename Op::State;
    Array<State, 1, Local> tree(kGroup);
    tree[lidx] = mine.value();
    barrier(LOCAL);
    Ulong half = lszx / 2;
    while_(half > 0) {
      if_(lidx < half) {
        ValueAccumulator<Op> both(op, Expr<State>(tree[lidx].node()));
        both.merge(ValueAccumulator<Op>(op, Expr<State>(tree[lidx + half].node())));
        tree[lidx] = both.value();
      }
      barrier(LOCAL);
      half = half / 2;
    }
    if_(lidx == 0) {
      partials[idy][0] = tree[0];
    }
  }
}

template <Form form, class Op>
void storePlaces(const Op& op, const PlaceAccumulator<Op>& mine,
                 Array<typename Op::State, 2>& partials, Array<long, 2>& places) {
  if constexpr (form == Form::Lanes) {
    partials[idy][idx] = mine.value();
    places[idy][idx] = mine.place();
  } else {
    using State = typename Op::State;
    Array<State, 1, Local> tree(kGroup);
    Array<long, 1, Local> placeTree(kGroup);
    tree[lidx] = mine.value();
    placeTree[lidx] = mine.place();
    barrier(LOCAL);
    Ulong half = lszx / 2;
    while_(half > 0) {
      if_(lidx < half) {
        const auto at = [&](const auto& lane) {
          return PlaceAccumulator<Op>(op, Expr<State>(tree[lane].node()),
                                      Expr<long>(placeTree[lane].node()));
        };
        PlaceAccumulator<Op> both = at(lidx);
        both.merge(at(lidx + half));
        tree[lidx] = both.value();
        placeTree[lidx] = both.place();
      }
      barrier(LOCAL);
      half = half / 2;
    }
    if_(lidx == 0) {
      partials[idy][0] = tree[0];
      places[idy][0] = placeTree[0];
    }
  }
}

/// Stands for a parameter that is an array of one element, whose value all elements get.
template <class T>
struct CellOf {};

/// The rank of an array that is walked through, and of others 0.
template <class P>
inline constexpr int kWalkedRank = detail::ArrayTraits<std::remove_reference_t<P>>::kRank;
template <class T>
inline constexpr int kWalkedRank<CellOf<T>> = 0;

/// The rank of the arrays among the parameters of a kernel.
template <class... P>
constexpr int rankOf() {
  int rank = 0;
  ((rank = kWalkedRank<P> > rank ? kWalkedRank<P> : rank), ...);
  return rank;
}

/// The parameter of a kernel for an array or scalar of type P; P& is one whose elements change.
template <class P>
struct AsParameter {
  using type = const P&;
};
template <class P>
struct AsParameter<P&> {
  using type = P;
};
template <class T>
struct AsParameter<CellOf<T>> {
  using type = const Array<T, 1>&;
};

/// The value that a walk goes on with: the parameter, or the value of one that is a cell, read
/// once.
template <class P>
struct Opened {
  template <class X>
  static const X& of(const X& parameter) {
    return parameter;
  }
};
template <class T>
struct Opened<CellOf<T>> {
  static Array<T, 0> of(const Array<T, 1>& cell) { return Array<T, 0>(cell[0]); }
};

/// sum, min and the like. `Size` is a Ulong in a flat walk, else the lengths of the rows.
template <class Op, class F, Form form, Walk walk, class Size, class... P>
struct FoldKernel : Held<Op>, Held<F> {
  FoldKernel(const Op& op, const F& f) : Held<Op>(op), Held<F>(f) {}

  void operator()(Array<typename Op::State, 2> partials, Size size,
                  typename AsParameter<P>::type... parameters) const {
    detail::nameKernel(Op::kName);
    const Op op = Held<Op>::get();
    const auto make = [&] { return ValueAccumulator<Op>(op); };
    if constexpr (walk == Walk::Flat) {
      storeFold<form>(op, walkFlat<form>(make, size, Held<F>::get(), Opened<P>::of(parameters)...),
                      partials);
    } else {
      constexpr int kRank = rankOf<P...>();
      storeFold<form>(
          op, walkRows<form, kRank>(make, size, Held<F>::get(), Opened<P>::of(parameters)...),
          partials);
    }
  }
};

/// argmin, argmax.
template <class Op, class F, Form form, Walk walk, class Size, class... P>
struct PlaceKernel : Held<F> {
  PlaceKernel(const Op&, const F& f) : Held<F>(f) {}

  void operator()(Array<typename Op::State, 2> partials, Array<long, 2> places, Size size,
                  typename AsParameter<P>::type... parameters) const {
    detail::nameKernel(Op::kName);
    const Op op;
    const auto make = [&] { return PlaceAccumulator<Op>(op); };
    if constexpr (walk == Walk::Flat) {
      storePlaces<form>(op,
                        walkFlat<form>(make, size, Held<F>::get(), Opened<P>::of(parameters)...),
                        partials, places);
    } else {
      constexpr int kRank = rankOf<P...>();
      storePlaces<form>(
          op, walkRows<form, kRank>(make, size, Held<F>::get(), Opened<P>::of(parameters)...),
          partials, places);
    }
  }
};

/// Combines the partials of one device, and what `state` holds of the devices before it, and stores
/// the result in `cell`: one group.
template <class Op>
struct CombineKernel : Held<Op> {
  explicit CombineKernel(const Op& op) : Held<Op>(op) {}
  using State = typename Op::State;

  void operator()(Array<typename Op::Result, 1> cell, Array<State, 1> state,
                  const Array<State, 2>& partials, Ulong columns, Ulong cells, Int isFirst) const {
    detail::nameKernel("combine_partials");
    const Op op = Held<Op>::get();
    ValueAccumulator<Op> mine(op);
    Ulong at = lidx;
    while_(at < cells) {
      ValueAccumulator<Op> some(op);
      Ulong stop = min(at + kRun * lszx, cells);
      while_(at < stop) {
        some.take(partials[at / columns][at % columns], Expr<unsigned long>(at.node()));
        at += lszx;
      }
      mine.merge(some);
    }
    Array<State, 0> total(mine.value());
    reduceGroup(op, total);
    if_(lidx == 0) {
      if_(isFirst == 0) {
        total = op.combine(Array<State, 0>(state[0]), total);
      }
      state[0] = total;
      cell[0] = op.finish(total);
    }
  }

 private:
  static void reduceGroup(const Op& op, Array<State, 0>& total) {
    Array<State, 1, Local> tree(kGroup);
    tree[lidx] = total;
    barrier(LOCAL);
    if_(lidx == 0) {
      Ulong other = 1;
      while_(other < lszx) {
        total = op.combine(total, Array<State, 0>(tree[other]));
        other += 1;
      }
    }
  }
};

}  // namespace hpl::algorithms
