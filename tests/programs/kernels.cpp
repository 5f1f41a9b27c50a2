// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

using namespace hpl;

namespace programs {

namespace {

// The element of an array of any number of dimensions; axes that it lacks are left out.
template <class A, class Z, class Y, class X>
auto cell(Array<A, 1>& a, Z, Y, X x) {
  return a[x];
}
template <class A, class Z, class Y, class X>
auto cell(Array<A, 2>& a, Z, Y y, X x) {
  return a[y][x];
}
template <class A, class Z, class Y, class X>
auto cell(Array<A, 3>& a, Z z, Y y, X x) {
  return a[z][y][x];
}
template <class A, class Z, class Y, class X>
auto cell(const Array<A, 1>& a, Z, Y, X x) {
  return a[x];
}
template <class A, class Z, class Y, class X>
auto cell(const Array<A, 2>& a, Z, Y y, X x) {
  return a[y][x];
}
template <class A, class Z, class Y, class X>
auto cell(const Array<A, 3>& a, Z z, Y y, X x) {
  return a[z][y][x];
}
template <class A>
auto own(A& a) {
  return cell(a, idz, idy, idx);
}

template <int N>
void number(Array<int, N> a, Int c, Int) {
  own(a) = c;
}

template <int N>
void ids(Array<int, N> a, Int c, Int) {
  own(a) = c + cast<int>(idx) + 11 * cast<int>(idy) + 101 * cast<int>(idz) + 1009 * cast<int>(szx) +
           10007 * cast<int>(szy);
}

template <int N>
void add(Array<int, N> a, Int c, Int) {
  own(a) += c;
}

template <int N>
void grow(Array<int, N> a, Int, Int d) {
  own(a) = 3 * own(a) + d;
}

template <int N>
void rim(Array<int, N> a, Int c, Int) {
  if_(idx == 0 || idx + 1 == szx) {
    own(a) = c;
  }
}

template <int N>
void head(Array<int, N> a, Int c, Int d) {
  if_(cast<int>(idx) < d) {
    own(a) = c;
  }
}

template <int N>
void odd(Array<int, N> a, Int c, Int) {
  if_((own(a) & 1) == 1) {
    own(a) = own(a) / 2 + c;
  }
}

template <int N>
void colour(Array<int, N> a, Int c, Int d) {
  if constexpr (N == 1) {
    if_(idx > 0 && idx + 1 < szx && (cast<int>(idx) + d) % 2 == 0) {
      a[idx] = a[idx - 1] + 3 * a[idx + 1] + c;
    }
  } else {
    Int x = cast<int>(idx), y = cast<int>(idy), z = cast<int>(idz);
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy && (x + y + z + d) % 2 == 0) {
      own(a) = cell(a, idz, idy, idx - 1) + 3 * cell(a, idz, idy, idx + 1) +
               5 * cell(a, idz, idy - 1, idx) + 7 * cell(a, idz, idy + 1, idx) + c;
    }
  }
}

template <int N>
void copy(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  own(out) = own(in) + c;
}

template <int N>
void star(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if constexpr (N == 1) {
    if_(idx > 0 && idx + 1 < szx) {
      out[idx] = in[idx - 1] + c * in[idx] + 3 * in[idx + 1];
    }
  } else if constexpr (N == 2) {
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      out[idy][idx] = in[idy][idx - 1] + c * in[idy][idx] + 3 * in[idy][idx + 1] +
                      5 * in[idy - 1][idx] + 7 * in[idy + 1][idx];
    }
  } else {
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy && idz > 0 && idz + 1 < szz) {
      out[idz][idy][idx] = in[idz][idy][idx - 1] + c * in[idz][idy][idx] +
                           3 * in[idz][idy][idx + 1] + 5 * in[idz][idy - 1][idx] +
                           7 * in[idz][idy + 1][idx] + 11 * in[idz - 1][idy][idx] +
                           13 * in[idz + 1][idy][idx];
    }
  }
}

template <int N>
void corners(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if constexpr (N == 1) {
    if_(idx > 0 && idx + 1 < szx) {
      out[idx] = in[idx - 1] - c * in[idx + 1];
    }
  } else {
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      own(out) = cell(in, idz, idy - 1, idx - 1) + c * cell(in, idz, idy - 1, idx + 1) +
                 3 * cell(in, idz, idy + 1, idx - 1) + 5 * cell(in, idz, idy + 1, idx + 1);
    }
  }
}

template <int N>
void far(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if constexpr (N == 1) {
    if_(idx > 1 && idx + 1 < szx) {
      out[idx] = in[idx - 2] + c * in[idx + 1];
    }
  } else {
    if_(idx > 0 && idx + 2 < szx && idy > 1 && idy + 1 < szy) {
      own(out) = cell(in, idz, idy - 2, idx + 2) + c * cell(in, idz, idy + 1, idx - 1);
    }
  }
}

template <int N>
void right(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if_(idx + 1 < szx) {
    own(out) = cell(in, idz, idy, idx + 1) + c;
  }
}

template <int N>
void down(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if constexpr (N == 1) {
    if_(idx + 2 < szx) {
      out[idx] = in[idx + 2] + c;
    }
  } else {
    if_(idy + 1 < szy) {
      own(out) = cell(in, idz, idy + 1, idx) + c;
    }
  }
}

template <int N>
void wide(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if_(idx > 2 && idx + 3 < szx) {
    Int sum = c;
    for (int i = -3; i <= 3; ++i) sum += (i + 5) * cell(in, idz, idy, idx + i);
    own(out) = sum;
  }
}

template <int N>
void clamp(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  own(out) = cell(in, idz, idy, min(idx + 1, szx - 1)) + c;
}

template <int N>
void look(Array<int, N> out, const Array<int, N>& in, Int c, Int d) {
  Int x = cast<int>(idx) + d;
  if_(x >= 0 && x < cast<int>(szx)) {
    own(out) = cell(in, idz, idy, x) + c;
  }
}

template <int N>
void gather(Array<int, N> out, const Array<int, N>& in, Int c, Int d) {
  Int x = (3 * cast<int>(idx) + (d & 7)) % cast<int>(szx);
  own(out) = cell(in, idz, idy, x) + c;
}

template <int N>
void scatter(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if_(idx + 1 < szx) {
    cell(out, idz, idy, idx + 1) = own(in) + c;
  }
}

template <int N>
void spread(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if_(2 * idx + 1 < szx) {
    cell(out, idz, idy, 2 * idx) = own(in) + c;
    cell(out, idz, idy, 2 * idx + 1) = 3 * own(in);
  }
}

template <int N>
void cond(Array<int, N> out, const Array<int, N>& in, Int c, Int) {
  if_(idx > 0) {
    if_((own(in) & 1) == 1) {
      own(out) = 5 * cell(in, idz, idy, idx - 1) + c;
    }
  }
}

}  // namespace

template <int N>
InPlace<N> inPlaceKernel(Work work) {
  static constexpr InPlace<N> kKernels[] = {number<N>, ids<N>,  add<N>, grow<N>,
                                            rim<N>,    head<N>, odd<N>, colour<N>};
  return kKernels[static_cast<int>(work)];
}

template <int N>
Mapping<N> mappingKernel(Work work) {
  static constexpr Mapping<N> kKernels[] = {copy<N>,    star<N>,   corners<N>, far<N>,  right<N>,
                                            down<N>,    wide<N>,   clamp<N>,   look<N>, gather<N>,
                                            scatter<N>, spread<N>, cond<N>};
  return kKernels[static_cast<int>(work) - kInPlace];
}

template InPlace<1> inPlaceKernel<1>(Work);
template InPlace<2> inPlaceKernel<2>(Work);
template InPlace<3> inPlaceKernel<3>(Work);
template Mapping<1> mappingKernel<1>(Work);
template Mapping<2> mappingKernel<2>(Work);
template Mapping<3> mappingKernel<3>(Work);

}  // namespace programs
