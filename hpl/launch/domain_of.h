// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/array/array.h"
#include "hpl/layout/domain.h"

namespace hpl {

/// The domain with one work-item for each element of an array or view of one to three dimensions:
/// `eval(sumRows).global(of(sums))(matrix, sums)`. With annotations it is that of the whole, as
/// .global() wants it: of(x), not of(PART1(x)).
template <class T, int N, MemoryFlag M>
  requires(N >= 1 && N <= 3)
Domain of(const Array<T, N, M>& array) {
  detail::refuseInKernel("of(array)");
  Domain domain;
  domain.dims = N;
  for (int axis = 0; axis < 3; ++axis)
    domain.size[axis] = axis < N ? array.getDimension(N - 1 - axis) : 1;
  return domain;
}
/// The type of of(2.0f): an error.
template <class X>
Domain of(const X&) {
  static_assert(detail::kNever<X>,
                "HPL: of(x) is the domain of an Array<T, N> of one to three dimensions; of an "
                "annotated argument PART1(x) write of(x), of others .global(x, y, z)");
  return {};
}

}  // namespace hpl
