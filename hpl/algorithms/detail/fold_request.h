// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <vector>

#include "hpl/algorithms/detail/fold.h"
#include "hpl/array/detail/ordered_fold.h"
#include "hpl/launch/argument.h"

/// From the functions that programs call to launches: which kernel, which types.
namespace hpl {

/// See valueIn().
template <class T>
struct ValueIn {
  const Array<T, 1>& cell;
};

}  // namespace hpl

namespace hpl::algorithms {

template <class A>
constexpr bool isArray = detail::ArrayTraits<A>::kIsArray && [] {
  if constexpr (detail::ArrayTraits<A>::kIsArray) return detail::ArrayTraits<A>::kRank > 0;
  return false;
}();
template <class A>
constexpr bool isScalar = detail::ArrayTraits<A>::kIsArray && !isArray<A>;

/// A function of kernel scalars: neither an array nor a value.
template <class F>
concept PointFunction =
    !detail::ArrayTraits<std::decay_t<F>>::kIsArray && !Operand<std::decay_t<F>>;

template <class F>
constexpr bool hasKernelParameters = false;
template <class F>
  requires requires { typename detail::Signature<F>::Params; }
constexpr bool hasKernelParameters<F> = []<class... P>(std::tuple<P...>*) {
  return (isScalar<std::remove_cvref_t<P>> && ...);
}(static_cast<typename detail::Signature<F>::Params*>(nullptr));

/// The rank of an array; 0 for scalars.
template <class A>
constexpr int rankOfOne = 0;
template <class A>
  requires isArray<A>
constexpr int rankOfOne<A> = detail::ArrayTraits<A>::kRank;

/// The rank of the arrays among the arguments.
template <class... A>
constexpr int rankAmong = [] {
  int rank = 0;
  ((rank = rankOfOne<A> > rank ? rankOfOne<A> : rank), ...);
  return rank;
}();

template <class... A>
constexpr bool haveOneRank = rankAmong<A...> > 0 &&
                             ((rankOfOne<A> == 0 || rankOfOne<A> == rankAmong<A...>)&&...);

/// The kernel parameter for a launch's argument: arrays as they are, a reference to those that the
/// function changes, scalars as the function's own parameter says.
template <class A, class P>
struct KernelParameter {
  using type = std::remove_cvref_t<P>;
};
template <class A, class P>
  requires isArray<A>
struct KernelParameter<A, P> {
  using type = std::conditional_t<isUpdated<P>, A&, A>;
};

template <class T, class P>
struct KernelParameter<ValueIn<T>, P> {
  using type = CellOf<T>;
};

/// The value that a function of kernel scalars gives.
template <class F, class Params = typename detail::Signature<F>::Params>
struct ValueGivenBy;
template <class F, class... P>
struct ValueGivenBy<F, std::tuple<P...>> {
  using type = detail::ValueOf<std::invoke_result_t<const F&, std::remove_cvref_t<P>&...>>;
};

/// The kernels of one reduction.
template <template <class, class, Form, Walk, class, class...> class Kernel, class Op, class F,
          class Params, class... A>
class FoldMaker;
template <template <class, class, Form, Walk, class, class...> class Kernel, class Op, class F,
          class... P, class... A>
class FoldMaker<Kernel, Op, F, std::tuple<P...>, A...> {
 public:
  FoldMaker(const Op& op, const F& f) : op_(op), f_(f) {}

  static FoldEntry entry(const void* maker, Form form, Walk walk) {
    const auto& self = *static_cast<const FoldMaker*>(maker);
    if constexpr (kRank > 1) {
      if (walk == Walk::Rows)
        return form == Form::Lanes ? self.template made<Form::Lanes, Walk::Rows>()
                                   : self.template made<Form::Groups, Walk::Rows>();
    }
    return form == Form::Lanes ? self.template made<Form::Lanes, Walk::Flat>()
                               : self.template made<Form::Groups, Walk::Flat>();
  }

 private:
  static constexpr int kRank = rankOf<typename KernelParameter<A, P>::type...>();

  template <Form form, Walk walk>
  FoldEntry made() const {
    using Size = std::conditional_t<walk == Walk::Flat, Ulong, Array<RowExtents<kRank>, 0>>;
    using K = Kernel<Op, F, form, walk, Size, typename KernelParameter<A, P>::type...>;
    static const layout::KernelRewriter& rewriter = newFoldRewriter(form);
    return {launch::entryOf(K(op_, f_), &rewriter), &rewriter};
  }

  const Op& op_;
  const F& f_;
};

/// The arguments that the function changes, a bit for each.
template <class... P>
constexpr std::uint64_t updatedAmong(std::tuple<P...>*) {
  std::uint64_t bits = 0;
  int position = 0;
  ((bits |= std::uint64_t{isUpdated<P>} << position++), ...);
  return bits;
}

template <class A>
constexpr bool isCell = false;
template <class T>
constexpr bool isCell<ValueIn<T>> = true;
/// The arguments that are cells, a bit for each.
template <class... A>
constexpr std::uint64_t cellsAmong() {
  std::uint64_t bits = 0;
  int position = 0;
  ((bits |= std::uint64_t{isCell<A>} << position++), ...);
  return bits;
}

template <class X>
launch::Argument argumentOf(const X& x) {
  return launch::makeKernelArgument(x);
}
template <class T>
launch::Argument argumentOf(const ValueIn<T>& value) {
  return launch::makeKernelArgument(value.cell);
}

/// Whether the parameters that the function changes are those of arrays.
template <class... P, class... A>
constexpr bool updatesArrays(std::tuple<P...>*, std::tuple<A...>*) {
  if constexpr (sizeof...(P) == sizeof...(A)) return ((!isUpdated<P> || isArray<A>)&&...);
  return true;
}

template <template <class, class, Form, Walk, class, class...> class Kernel, class Op, class F,
          class... A>
PartialsHandle startFold(const char* name, bool hasPlaces, const Op& op, const F& f,
                         const A&... arguments) {
  using State = typename Op::State;
  using Params = typename detail::Signature<F>::Params;
  using Maker = FoldMaker<Kernel, Op, F, Params, A...>;
  const Maker maker(op, f);
  const launch::Argument list[] = {argumentOf(arguments)...};
  return startFold({name, irType<State>(), sizeof(State), hasPlaces, &Maker::entry, &maker, list,
                    sizeof...(A), updatedAmong(static_cast<Params*>(nullptr)), cellsAmong<A...>()});
}

/// Checks the function and the arguments of a reduction; `mayUpdate`: the function may change
/// elements that it takes by reference.
template <bool mayUpdate, class F, class... A>
constexpr void checkFunctionThat() {
  static_assert(hasKernelParameters<F>,
                "HPL: the function of a reduction takes kernel scalars such as Float and Int (not "
                "auto, float or arrays) and gives a value");
  if constexpr (hasKernelParameters<F>) {
    static_assert(detail::Signature<F>::kCount == sizeof...(A),
                  "HPL: the function of a reduction needs one parameter for each argument");
    using Params = typename detail::Signature<F>::Params;
    static_assert(
        updatesArrays(static_cast<Params*>(nullptr), static_cast<std::tuple<A...>*>(nullptr)),
        "HPL: the function of a reduction takes by reference what it changes, elements of "
        "arrays, and host scalars by value");
    static_assert(mayUpdate || !updates<F>,
                  "HPL: functions of scans, histograms and reduce(f, neutral, a) take their "
                  "parameters by value");
  }
  static_assert(haveOneRank<A...>,
                "HPL: a reduction needs an array, and all of its arrays the same rank");
}
template <class F, class... A>
constexpr void checkFunction() {
  checkFunctionThat<true, F, A...>();
}
/// The same for functions that may not change what they are given.
template <class F, class... A>
constexpr void checkPureFunction() {
  checkFunctionThat<false, F, A...>();
}

/// Combines the partials on the host, piece by piece.
template <class Op>
typename Op::Result combinedOnHost(const Partials& partials) {
  using State = typename Op::State;
  const Op op;
  const auto combine = [&](const State& a, const State& b) { return op.combineOnHost(a, b); };
  const auto foldPiece = [&combine](const FoldPiece& piece, const void* values, const void*,
                                    std::byte* out) {
    detail::OrderedFold<State, decltype(combine)> fold(combine);
    fold.add(static_cast<const State*>(values), static_cast<std::int64_t>(piece.cells()));
    const State state = fold.result();
    std::memcpy(out, &state, sizeof state);
  };
  // Kept from call to call, so that repetitions allocate nothing.
  thread_local std::vector<std::byte> states;
  digestPieces(partials, sizeof(State), PieceDigest(foldPiece), states);
  State total = op.neutral();
  for (std::size_t i = 0; i < partials.pieces.size(); ++i) {
    State state;
    std::memcpy(&state, states.data() + i * sizeof state, sizeof state);
    total = op.combineOnHost(total, state);
  }
  return op.finish(total);
}

}  // namespace hpl::algorithms
