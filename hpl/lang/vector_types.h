// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

/// Host vector types with OpenCL's layout: float4, int2, uchar16, ... Lanes are read and written as
/// `v[i]` or `v(i)`, and as `.x .y .z .w` up to four lanes. 3-lane vectors occupy 4 lanes.
namespace hpl {

namespace detail {

/// Storage with named lanes; the unnamed struct is what makes `.x` an ordinary member.
template <class T, int N>
struct VecStorage {
  T s[N];
};
template <class T>
struct VecStorage<T, 2> {
  __extension__ union {
    T s[2];
    __extension__ struct {
      T x, y;
    };
  };
};
template <class T>
struct VecStorage<T, 3> {
  __extension__ union {
    T s[4];
    __extension__ struct {
      T x, y, z;
    };
  };
};
template <class T>
struct VecStorage<T, 4> {
  __extension__ union {
    T s[4];
    __extension__ struct {
      T x, y, z, w;
    };
  };
};

}  // namespace detail

/// A vector of N scalars, N = 2, 3, 4, 8 or 16.
template <class T, int N>
struct alignas((N == 3 ? 4 : N) * sizeof(T)) Vec : detail::VecStorage<T, N> {
  using Scalar = T;
  static constexpr int kLanes = N;

  /// All lanes zero.
  constexpr Vec() : detail::VecStorage<T, N>{} {}
  /// All lanes equal.
  constexpr explicit Vec(T all) : detail::VecStorage<T, N>{} {
    for (int i = 0; i < N; ++i) this->s[i] = all;
  }
  /// One value per lane.
  template <class... U>
    requires(sizeof...(U) == N && N > 1 && (std::is_convertible_v<U, T> && ...))
  constexpr Vec(U... lanes) : detail::VecStorage<T, N>{} {
    int i = 0;
    ((this->s[i++] = static_cast<T>(lanes)), ...);
  }

  constexpr T& operator[](std::size_t lane) { return this->s[lane]; }
  constexpr const T& operator[](std::size_t lane) const { return this->s[lane]; }
  constexpr T& operator()(std::size_t lane) { return this->s[lane]; }
  constexpr const T& operator()(std::size_t lane) const { return this->s[lane]; }

  friend constexpr bool operator==(const Vec& a, const Vec& b) {
    for (int i = 0; i < N; ++i)
      if (!(a.s[i] == b.s[i])) return false;
    return true;
  }
  constexpr Vec operator-() const {
    Vec result;
    for (int i = 0; i < N; ++i) result.s[i] = static_cast<T>(-this->s[i]);
    return result;
  }
  // Lane by lane, as in kernels; a scalar is one for all lanes.
#define HPL_VEC_OPERATOR(symbol, assigning)                                            \
  constexpr Vec& operator assigning(const Vec& b) {                                    \
    for (int i = 0; i < N; ++i) this->s[i] = static_cast<T>(this->s[i] symbol b.s[i]); \
    return *this;                                                                      \
  }                                                                                    \
  constexpr Vec& operator assigning(T b) { return *this assigning Vec(b); }            \
  friend constexpr Vec operator symbol(const Vec& a, const Vec& b) {                   \
    Vec result = a;                                                                    \
    result assigning b;                                                                \
    return result;                                                                     \
  }                                                                                    \
  friend constexpr Vec operator symbol(const Vec& a, T b) { return a symbol Vec(b); }  \
  friend constexpr Vec operator symbol(T a, const Vec& b) { return Vec(a) symbol b; }
  HPL_VEC_OPERATOR(+, +=)
  HPL_VEC_OPERATOR(-, -=)
  HPL_VEC_OPERATOR(*, *=)
  HPL_VEC_OPERATOR(/, /=)
#undef HPL_VEC_OPERATOR
};

#define HPL_VECTOR_TYPES(name, T) \
  using name##2 = Vec<T, 2>;      \
  using name##3 = Vec<T, 3>;      \
  using name##4 = Vec<T, 4>;      \
  using name##8 = Vec<T, 8>;      \
  using name##16 = Vec<T, 16>;

/// The names of scalars and vectors as in OpenCL C, for those who want no other names of hpl.
inline namespace element_types {

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;

HPL_VECTOR_TYPES(char, signed char)
HPL_VECTOR_TYPES(uchar, unsigned char)
HPL_VECTOR_TYPES(short, short)
HPL_VECTOR_TYPES(ushort, unsigned short)
HPL_VECTOR_TYPES(int, int)
HPL_VECTOR_TYPES(uint, unsigned int)
HPL_VECTOR_TYPES(long, long)
HPL_VECTOR_TYPES(ulong, unsigned long)
HPL_VECTOR_TYPES(float, float)
HPL_VECTOR_TYPES(double, double)

#undef HPL_VECTOR_TYPES

}  // namespace element_types

}  // namespace hpl
