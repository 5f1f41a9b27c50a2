// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/algorithms/detail/scan_kernels.h"

/// Prefix sums, compaction and histograms of one-dimensional arrays and views.
///
///     inclusiveScan(ends, lengths);                                  // ends[i] = lengths[0] + ...
///     long kept = compact([](Float v) { return v > 0.0f; }, out, in);
///     histogram(counts, [](Float v) { return cast<int>(v * 10.0f); }, in);
///
/// They run on one device, where the first cells of the input are; what other devices hold of the
/// arrays is brought there. Results come first, as in kernels.
namespace hpl {

/// out[i] = in[0] + ... + in[i], in the type of `out`, which may be `in` itself. Integers wrap;
/// real numbers are added one after another. Throws ShapeError when the arrays have different
/// lengths, KernelError inside a kernel, and what launches throw.
template <class S, class T>
void inclusiveScan(const Array<S, 1>& out, const Array<T, 1>& in) {
  algorithms::scan<true>("inclusiveScan", algorithms::ScanSum<S>(), out, in);
}
/// out[0] = 0, out[i] = in[0] + ... + in[i - 1].
template <class S, class T>
void exclusiveScan(const Array<S, 1>& out, const Array<T, 1>& in) {
  algorithms::scan<false>("exclusiveScan", algorithms::ScanSum<S>(), out, in);
}
/// The same with an operator of kernel scalars, which must be associative but need not be
/// commutative: op(out[i - 1], in[i]). `neutral` leaves others unchanged.
template <algorithms::PointFunction G, class S, class T>
void inclusiveScan(const G& op, const std::type_identity_t<S>& neutral, const Array<S, 1>& out,
                   const Array<T, 1>& in) {
  algorithms::scan<true>("inclusiveScan", algorithms::OwnOp<S, std::decay_t<G>>(op, neutral), out,
                         in);
}
template <algorithms::PointFunction G, class S, class T>
void exclusiveScan(const G& op, const std::type_identity_t<S>& neutral, const Array<S, 1>& out,
                   const Array<T, 1>& in) {
  algorithms::scan<false>("exclusiveScan", algorithms::OwnOp<S, std::decay_t<G>>(op, neutral), out,
                          in);
}

/// Copies the elements for which `keep` is true to the beginning of `out`, in their order, and
/// returns how many there are; waits for that. The rest of `out` stays as it is. `out` has at least
/// as many cells as `in`, and is another array. Throws ShapeError otherwise, and what scans throw.
template <algorithms::PointFunction F, class T>
long compact(const F& keep, const Array<T, 1>& out, const Array<T, 1>& in) {
  algorithms::checkPureFunction<std::decay_t<F>, Array<T, 1>>();
  return algorithms::compacted<std::decay_t<F>>(keep, out, in);
}

/// counts[b] = how many elements of `in` there are for which `bin` gives b; others are left out.
/// `bin` takes a kernel scalar and gives an integer. Blocks count into copies of their own, so
/// nothing is atomic. Throws KernelError inside a kernel, and what launches throw.
template <class C, algorithms::PointFunction F, class T>
  requires std::is_integral_v<C>
void histogram(const Array<C, 1>& counts, const F& bin, const Array<T, 1>& in) {
  algorithms::checkPureFunction<std::decay_t<F>, Array<T, 1>>();
  algorithms::counted<C, std::decay_t<F>>(counts, bin, in);
}
/// The same where the elements are the bins.
template <class C, class T>
  requires std::is_integral_v<C> && std::is_integral_v<T>
void histogram(const Array<C, 1>& counts, const Array<T, 1>& in) {
  algorithms::counted<C>(counts, algorithms::Element<T>(), in);
}

/// Sorts the keys in ascending order, and the values with them; equal keys keep their order. Keys
/// are integers of any size, float or double, where -0 comes before 0 and NaN last (first with the
/// sign bit set). Throws ShapeError when the arrays have different lengths, and what scans throw.
template <class K, class V>
  requires std::is_arithmetic_v<K>
void sortByKey(const Array<K, 1>& keys, const Array<V, 1>& values) {
  algorithms::sortedByKey(keys, values);
}

}  // namespace hpl
