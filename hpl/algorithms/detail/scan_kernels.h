// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "hpl/algorithms/detail/fold_request.h"
#include "hpl/algorithms/detail/scratch.h"
#include "hpl/algorithms/reductions.h"

/// Kernels that go through an array in blocks, one work-item per block; their steps: what each
/// block amounts to, prefixes of these, and the blocks again.
namespace hpl::algorithms {

/// SumOp without a change of type: a scan has the type of its result.
template <class S>
struct ScanSum {
  using State = S;
  S neutral() const { return S{}; }
  template <class A, class B>
  auto combine(const A& a, const B& b) const {
    return a + b;
  }
};

/// The elements of a work-item's block: `begin` to `end`.
struct BlockOf {
  Ulong begin, end;
  BlockOf(const Ulong& count, const Ulong& chunk)
      : begin(min(idx * chunk, count)), end(min((idx + 1) * chunk, count)) {}
};

/// Combines the elements of each block.
template <class Op, class T>
struct BlockTotals : Held<Op> {
  explicit BlockTotals(const Op& op) : Held<Op>(op) {}
  using S = typename Op::State;
  void operator()(Array<S, 1> totals, const Array<T, 1>& in, Ulong count, Ulong chunk) const {
    detail::nameKernel("block_totals");
    const Op op = Held<Op>::get();
    const BlockOf block(count, chunk);
    Array<S, 0> total(op.neutral());
    Ulong i = block.begin;
    while_(i < block.end) {
      total = op.combine(total, valueAs<S>(in[i]));
      i += 1;
    }
    totals[idx] = total;
  }
};

/// Replaces n values by what comes before each of them, and puts the total behind them; one
/// work-item.
template <class Op>
struct Prefixes : Held<Op> {
  explicit Prefixes(const Op& op) : Held<Op>(op) {}
  using S = typename Op::State;
  void operator()(Array<S, 1> totals, Ulong n) const {
    detail::nameKernel("prefixes");
    const Op op = Held<Op>::get();
    Array<S, 0> before(op.neutral());
    Ulong i = 0;
    while_(i < n) {
      Array<S, 0> own(totals[i]);
      totals[i] = before;
      before = op.combine(before, own);
      i += 1;
    }
    totals[n] = before;
  }
};

template <class Op, class T, bool Inclusive>
struct ScanBlocks : Held<Op> {
  explicit ScanBlocks(const Op& op) : Held<Op>(op) {}
  using S = typename Op::State;
  void operator()(Array<S, 1> out, const Array<T, 1>& in, const Array<S, 1>& before, Ulong count,
                  Ulong chunk) const {
    detail::nameKernel(Inclusive ? "inclusive_scan" : "exclusive_scan");
    const Op op = Held<Op>::get();
    const BlockOf block(count, chunk);
    Array<S, 0> total(before[idx]);
    Ulong i = block.begin;
    while_(i < block.end) {
      Array<S, 0> own(valueAs<S>(in[i]));
      if constexpr (Inclusive) {
        total = op.combine(total, own);
        out[i] = total;
      } else {
        out[i] = total;
        total = op.combine(total, own);
      }
      i += 1;
    }
  }
};

template <bool Inclusive, class Op, class S, class T>
void scan(const char* name, const Op& op, const Array<S, 1>& out, const Array<T, 1>& in) {
  detail::refuseInKernel(name);
  checkLength(name, out.hostView(), in.hostView(), true);
  const BlockLaunch launch(in.hostView());
  const ScratchOf<S> totals(in.hostView(), launch.blocks() + 1);
  const auto from = launch::makeArgument(in);
  const auto count = launch::Argument::scalar(launch.count());
  const auto chunk = launch::Argument::scalar(launch.chunk());
  launch(BlockTotals<Op, T>(op), {totals.argument(), from, count, chunk});
  launch(Prefixes<Op>(op), {totals.argument(), launch::Argument::scalar(launch.blocks())}, 1);
  launch(ScanBlocks<Op, T, Inclusive>(op),
         {launch::makeArgument(out), from, totals.argument(), count, chunk});
}

/// How many elements each block keeps.
template <class F, class T>
struct CountKept : Held<F> {
  explicit CountKept(const F& f) : Held<F>(f) {}
  void operator()(Array<long, 1> totals, const Array<T, 1>& in, Ulong count, Ulong chunk) const {
    detail::nameKernel("count_kept");
    const BlockOf block(count, chunk);
    Array<long, 0> kept(0l);
    Ulong i = block.begin;
    while_(i < block.end) {
      if_(valueAt(Held<F>::get(), FlatPosition(Expr<unsigned long>(i.node())), in)) {
        kept += 1l;
      }
      i += 1;
    }
    totals[idx] = kept;
  }
};

template <class F, class T>
struct CopyKept : Held<F> {
  explicit CopyKept(const F& f) : Held<F>(f) {}
  void operator()(Array<T, 1> out, const Array<T, 1>& in, const Array<long, 1>& before, Ulong count,
                  Ulong chunk) const {
    detail::nameKernel("copy_kept");
    const BlockOf block(count, chunk);
    Array<long, 0> to(before[idx]);
    Ulong i = block.begin;
    while_(i < block.end) {
      if_(valueAt(Held<F>::get(), FlatPosition(Expr<unsigned long>(i.node())), in)) {
        out[to] = in[i];
        to += 1l;
      }
      i += 1;
    }
  }
};

template <class F, class T>
long compacted(const F& keep, const Array<T, 1>& out, const Array<T, 1>& in) {
  detail::refuseInKernel("compact(keep, out, in)");
  checkLength("compact", out.hostView(), in.hostView(), false);
  checkDistinct("compact", out.hostView(), in.hostView());
  const BlockLaunch launch(in.hostView());
  const ScratchOf<long> before(in.hostView(), launch.blocks() + 1);
  const auto from = launch::makeArgument(in);
  const auto count = launch::Argument::scalar(launch.count());
  const auto chunk = launch::Argument::scalar(launch.chunk());
  launch(CountKept<F, T>(keep), {before.argument(), from, count, chunk});
  launch(Prefixes<ScanSum<long>>(ScanSum<long>()),
         {before.argument(), launch::Argument::scalar(launch.blocks())}, 1);
  launch(CopyKept<F, T>(keep), {launch::makeArgument(out), from, before.argument(), count, chunk});
  return *static_cast<const long*>(before.onHost(launch.blocks()));
}

/// How many neighbours a block counts at once.
inline constexpr int kCountedAtOnce = 4;

/// Counts of one block each, in one copy or in one for each of the neighbours that are counted at
/// once, which then need not wait for each other: copies[copy * bins + bin]. `apart` lies between
/// the copies of a block; 0: it has one.
/// `tests`: whether each has a bin.
template <class C, class F, class T, bool tests>
struct CountBins : Held<F> {
  explicit CountBins(const F& f) : Held<F>(f) {}
  void operator()(Array<C, 1> copies, const Array<T, 1>& in, Ulong count, Ulong chunk, Ulong bins,
                  Ulong apart) const {
    detail::nameKernel("count_bins");
    const BlockOf block(count, chunk);
    Ulong cells = bins + (kCountedAtOnce - 1) * apart;
    Ulong first = idx * cells;
    Ulong i = 0;
    while_(i < cells) {
      copies[first + i] = C(0);
      i += 1;
    }
    const auto binAt = [&](int neighbour) {
      Ulong at = i + static_cast<unsigned long>(neighbour);
      return Array<long, 0>(
          valueAs<long>(valueAt(Held<F>::get(), FlatPosition(Expr<unsigned long>(at.node())), in)));
    };
    const auto countHere = [&](const Array<long, 0>& bin, int neighbour) {
      copies[first + static_cast<unsigned long>(neighbour) * apart + cast<unsigned long>(bin)] +=
          C(1);
    };
    const auto countIn = [&](const Array<long, 0>& bin, int neighbour) {
      if constexpr (!tests) return countHere(bin, neighbour);
      if_(bin >= 0l && bin < cast<long>(bins)) {
        countHere(bin, neighbour);
      }
    };
    i = block.begin;
    while_(i + kCountedAtOnce <= block.end) {
      // All are read before the first is counted: compilers cannot tell that apart from the copies.
      std::vector<Array<long, 0>> each;
      each.reserve(kCountedAtOnce);
      for (int neighbour = 0; neighbour < kCountedAtOnce; ++neighbour)
        each.push_back(binAt(neighbour));
      for (int neighbour = 0; neighbour < kCountedAtOnce; ++neighbour)
        countIn(each[static_cast<std::size_t>(neighbour)], neighbour);
      i += kCountedAtOnce;
    }
    while_(i < block.end) {
      countIn(binAt(0), 0);
      i += 1;
    }
  }
};

/// One work-item per bin.
template <class C>
struct AddCopies {
  void operator()(Array<C, 1> counts, const Array<C, 1>& copies, Ulong blocks, Ulong bins) const {
    detail::nameKernel("add_copies");
    Array<C, 0> total(C(0));
    Ulong block = 0;
    while_(block < blocks) {
      total += copies[block * bins + idx];
      block += 1;
    }
    counts[idx] = total;
  }
};

/// How many values an unsigned type has that are few; else 0.
template <class B>
constexpr unsigned long kValuesOf =
    std::is_unsigned_v<B> && sizeof(B) <= 2 ? 1ul << (8 * sizeof(B)) : 0;

template <class C, class F, class T>
void counted(const Array<C, 1>& counts, const F& bin, const Array<T, 1>& in) {
  static_assert(std::is_integral_v<GivenBy<F>>, "HPL: the function of a histogram gives integers");
  detail::refuseInKernel("histogram(counts, bin, in)");
  const unsigned long bins = counts.size();
  const BlockLaunch launch(in.hostView(), bins);
  // Many bins are seldom the same for neighbours, and their copies would fill caches.
  constexpr unsigned long kFewBins = 1024;
  const unsigned long ofEach = bins <= kFewBins ? kCountedAtOnce : 1;
  const unsigned long all = launch.blocks() * ofEach;
  const ScratchOf<C> copies(in.hostView(), all * bins);
  const std::initializer_list<launch::Argument> list = {
      copies.argument(),
      launch::makeArgument(in),
      launch::Argument::scalar(launch.count()),
      launch::Argument::scalar(launch.chunk()),
      launch::Argument::scalar(bins),
      launch::Argument::scalar(ofEach > 1 ? bins : 0ul)};
  constexpr unsigned long kValues = kValuesOf<GivenBy<F>>;
  if constexpr (kValues > 0) {
    if (bins >= kValues) {
      launch(CountBins<C, F, T, false>(bin), list);
    } else {
      launch(CountBins<C, F, T, true>(bin), list);
    }
  } else {
    launch(CountBins<C, F, T, true>(bin), list);
  }
  launch(AddCopies<C>(),
         {launch::makeArgument(counts), copies.argument(), launch::Argument::scalar(all),
          launch::Argument::scalar(bins)},
         bins);
}

/// The unsigned integers in whose order keys are sorted.
template <class K>
using KeyBits = std::conditional_t<
    sizeof(K) == 1, unsigned char,
    std::conditional_t<sizeof(K) == 2, unsigned short,
                       std::conditional_t<sizeof(K) == 4, unsigned, unsigned long>>>;

template <class K, class X>
Expr<KeyBits<K>> bitsOf(const X& key) {
  using B = KeyBits<K>;
  constexpr B kSign = static_cast<B>(B(1) << (8 * sizeof(B) - 1));
  if constexpr (std::is_floating_point_v<K>) {
    Array<B, 0> bits(as<B>(key));
    return where((bits & kSign) != B(0), ~bits, bits | kSign);
  } else if constexpr (std::is_signed_v<K>) {
    return cast<B>(cast<B>(key) ^ kSign);
  } else {
    return cast<B>(key);
  }
}

inline constexpr unsigned long kDigitBits = 8;
inline constexpr unsigned long kDigits = 1ul << kDigitBits;

template <class K, class X>
auto digitOf(const X& key, const Uint& shift) {
  return (cast<unsigned long>(bitsOf<K>(key)) >> shift) & (kDigits - 1);
}

/// How often each digit stands in each block: counts[digit * blocks + block].
template <class K>
struct CountDigits {
  void operator()(Array<unsigned, 1> counts, const Array<K, 1>& keys, Ulong count, Ulong chunk,
                  Ulong blocks, Uint shift) const {
    detail::nameKernel("count_digits");
    const BlockOf block(count, chunk);
    Ulong i = 0;
    while_(i < kDigits) {
      counts[i * blocks + idx] = 0u;
      i += 1;
    }
    i = block.begin;
    while_(i < block.end) {
      counts[digitOf<K>(keys[i], shift) * blocks + idx] += 1u;
      i += 1;
    }
  }
};

/// Moves keys and values to their places by one digit; keeps the order of equal ones.
template <class K, class V>
struct MoveByDigit {
  void operator()(Array<K, 1> keysTo, Array<V, 1> valuesTo, Array<unsigned, 1> places,
                  const Array<K, 1>& keys, const Array<V, 1>& values, Ulong count, Ulong chunk,
                  Ulong blocks, Uint shift) const {
    detail::nameKernel("move_by_digit");
    const BlockOf block(count, chunk);
    Ulong i = block.begin;
    while_(i < block.end) {
      Ulong cell = digitOf<K>(keys[i], shift) * blocks + idx;
      Uint place = places[cell];
      keysTo[place] = keys[i];
      valuesTo[place] = values[i];
      places[cell] = place + 1u;
      i += 1;
    }
  }
};

template <class K, class V>
void sortedByKey(const Array<K, 1>& keys, const Array<V, 1>& values) {
  detail::refuseInKernel("sortByKey(keys, values)");
  checkLength("sortByKey", values.hostView(), keys.hostView(), true);
  checkDistinct("sortByKey", values.hostView(), keys.hostView());
  checkCount("sortByKey", keys.hostView());
  const BlockLaunch launch(keys.hostView(), kDigits);
  const ScratchOf<K> otherKeys(keys.hostView(), keys.size());
  const ScratchOf<V> otherValues(keys.hostView(), keys.size());
  const unsigned long cells = kDigits * launch.blocks();
  const ScratchOf<unsigned> counts(keys.hostView(), cells + 1);
  const auto scalar = [](unsigned long value) { return launch::Argument::scalar(value); };
  launch::Argument from[] = {launch::makeArgument(keys), launch::makeArgument(values)};
  launch::Argument to[] = {otherKeys.argument(), otherValues.argument()};
  // Passes come in pairs, so that the last one ends where the first one began.
  constexpr unsigned kPasses = sizeof(K) == 1 ? 2 : sizeof(K);
  for (unsigned pass = 0; pass < kPasses; ++pass) {
    // The second pass over one byte finds the digit 0 everywhere, and moves all back.
    const unsigned byte = 8 * pass;
    const auto shift = launch::Argument::scalar(byte);
    launch(CountDigits<K>(), {counts.argument(), from[0], scalar(launch.count()),
                              scalar(launch.chunk()), scalar(launch.blocks()), shift});
    launch(Prefixes<ScanSum<unsigned>>(ScanSum<unsigned>()), {counts.argument(), scalar(cells)}, 1);
    launch(MoveByDigit<K, V>(),
           {to[0], to[1], counts.argument(), from[0], from[1], scalar(launch.count()),
            scalar(launch.chunk()), scalar(launch.blocks()), shift});
    std::swap(from[0], to[0]);
    std::swap(from[1], to[1]);
  }
}

}  // namespace hpl::algorithms
