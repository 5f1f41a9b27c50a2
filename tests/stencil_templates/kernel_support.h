// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "stencil_templates/kernel/stencil_kernel.h"
#include "tests/messages.h"

/// The in-kernel templates against loops on the host. A case is a boundary (its letter, '-' for
/// none), element types, extents and a form; the point function is a sum over the whole
/// neighbourhood with a weight of its own for each neighbour.
namespace kernel_tests {

using hpl_tests::messageOf;

using hpl::AliasArray;
using hpl::Array;
using hpl::Device;
using hpl::Domain;
using hpl::Int;
using hpl::StencilForm;

using Shape = std::array<int, 3>;  // slowest dimension first; missing ones are 1

inline int weight(int dz, int dy, int dx) { return (15 + 5 * dz + 3 * dy + 2 * dx) % 11 - 4; }

/// Extents as the tests write them: {before, after} by dimension of three.
template <int N, int... E>
constexpr std::array<int, 6> paddedExtents() {
  constexpr int list[] = {E...};
  std::array<int, 6> result{};
  for (int i = 0; i < 2 * N; ++i) result[static_cast<std::size_t>(6 - 2 * N + i)] = list[i];
  return result;
}

/// The point function in the kernel language.
template <class T, class U, int N, int... E>
struct WeighedSum {
  template <class... Strides>
  Array<U, 0> operator()(AliasArray<T> p, Strides... strides) const {
    constexpr auto e = paddedExtents<N, E...>();
    const std::array<Int*, sizeof...(Strides)> stride{&strides...};
    Array<U, 0> sum = U{0};
    for (int dz = -e[0]; dz <= e[1]; ++dz)
      for (int dy = -e[2]; dy <= e[3]; ++dy)
        for (int dx = -e[4]; dx <= e[5]; ++dx) {
          const auto w =
              static_cast<std::conditional_t<std::is_integral_v<T>, int, T>>(weight(dz, dy, dx));
          if constexpr (N == 1) sum += w * p[dx];
          if constexpr (N == 2) sum += w * p[*stride[0] * dy + dx];
          if constexpr (N == 3) sum += w * p[*stride[1] * dz + *stride[0] * dy + dx];
        }
    return sum;
  }
};

/// Beyond the border for the letter F.
constexpr int kFixed = 3;

template <char Letter, StencilForm Form, class T, class U, int N, int... E>
struct SumKernel {
  void operator()(Array<T, N> in, Array<U, N> out, Array<T, N, hpl::Local> tmp,
                  Array<int, 1> helper) const {
    const WeighedSum<T, U, N, E...> f;
#define KERNEL_TESTS_CALL(DIMS)                                                \
  if constexpr (N == DIMS && Letter == '-')                                    \
    hpl::StencilKernel##DIMS##D<E..., Form>(in, out, tmp, helper, f);          \
  if constexpr (N == DIMS && Letter == 'F')                                    \
    hpl::StencilKernel##DIMS##DF<E..., Form>(in, out, tmp, helper, kFixed, f); \
  if constexpr (N == DIMS && Letter == 'N')                                    \
    hpl::StencilKernel##DIMS##DN<E..., Form>(in, out, tmp, helper, f);         \
  if constexpr (N == DIMS && Letter == 'M')                                    \
    hpl::StencilKernel##DIMS##DM<E..., Form>(in, out, tmp, helper, f);         \
  if constexpr (N == DIMS && Letter == 'P')                                    \
    hpl::StencilKernel##DIMS##DP<E..., Form>(in, out, tmp, helper, f);
    KERNEL_TESTS_CALL(1)
    KERNEL_TESTS_CALL(2)
    KERNEL_TESTS_CALL(3)
#undef KERNEL_TESTS_CALL
  }
};

template <StencilForm Form, int N, int... E, class In>
auto prepare(const In& part, const std::vector<Device>& devices, const Domain& local,
             int perThread) {
  if constexpr (N == 1)
    return hpl::PrepareStencilKernel1D<E..., Form>(part, devices, local, perThread);
  if constexpr (N == 2)
    return hpl::PrepareStencilKernel2D<E..., Form>(part, devices, local, perThread);
  if constexpr (N == 3)
    return hpl::PrepareStencilKernel3D<E..., Form>(part, devices, local, perThread);
}

/// Where the neighbour at i is read in a dimension of n elements; -1: nowhere.
inline int sourceOf(char letter, int i, int n) {
  if (i >= 0 && i < n) return i;
  if (letter == 'N') return i < 0 ? 0 : n - 1;
  if (letter == 'M') return i < 0 ? -1 - i : n - 1 - (i - n);
  if (letter == 'P') return (i + n) % n;
  return -1;
}

/// One step on the host; elements that cannot be computed keep what `out` holds.
template <char Letter, class T, class U, int N, int... E>
std::vector<U> stepOnHost(const Shape& n, const std::vector<T>& in, std::vector<U> out) {
  constexpr auto e = paddedExtents<N, E...>();
  const auto at = [&](int z, int y, int x) {
    return static_cast<std::size_t>((z * n[1] + y) * n[2] + x);
  };
  for (int z = 0; z < n[0]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[2]; ++x) {
        U sum{0};
        bool isWhole = true;
        for (int dz = -e[0]; dz <= e[1]; ++dz)
          for (int dy = -e[2]; dy <= e[3]; ++dy)
            for (int dx = -e[4]; dx <= e[5]; ++dx) {
              const int sz = sourceOf(Letter, z + dz, n[0]), sy = sourceOf(Letter, y + dy, n[1]),
                        sx = sourceOf(Letter, x + dx, n[2]);
              const bool isThere = sz >= 0 && sy >= 0 && sx >= 0;
              isWhole = isWhole && isThere;
              const T value = isThere ? in[at(sz, sy, sx)] : static_cast<T>(kFixed);
              const auto w = static_cast<std::conditional_t<std::is_integral_v<T>, int, T>>(
                  weight(dz, dy, dx));
              sum = static_cast<U>(sum + w * value);
            }
        if (isWhole || Letter == 'F') out[at(z, y, x)] = sum;
      }
  return out;
}

/// How a case is run.
struct Run {
  Shape shape;
  Domain local;
  int perThread = 1;
  /// Devices, and the dimension they split, from 1.
  int parts = 1;
  int dim = 1;
  /// Cells of ghosts beyond what the extents need.
  int moreGhosts = 0;

  std::string text() const {
    std::string result = "shape";
    for (const int extent : shape) result += " " + std::to_string(extent);
    result += ", local";
    for (const std::size_t size : local.size) result += " " + std::to_string(size);
    return result + ", " + std::to_string(perThread) + " each, " + std::to_string(parts) +
           " parts of dimension " + std::to_string(dim) + ", ghosts +" + std::to_string(moreGhosts);
  }
};

inline std::vector<Device> firstDevices(int n) {
  std::vector<Device> list = hpl::devices(hpl::defaultDevice().type());
  list.erase(list.begin() + n, list.end());
  return list;
}
inline int deviceCount() { return std::min(4, hpl::getDeviceNumber(hpl::defaultDevice().type())); }

template <class T>
std::vector<T> someValues(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(n);
  for (T& value : values)
    value = static_cast<T>(static_cast<int>(random() % 61) - (std::is_signed_v<T> ? 30 : 0));
  return values;
}

template <class T, int N>
Array<T, N> arrayOf(const Shape& n, const std::vector<T>& values) {
  Array<T, N> array = [&] {
    if constexpr (N == 1) return Array<T, 1>(n[2]);
    if constexpr (N == 2) return Array<T, 2>(n[1], n[2]);
    if constexpr (N == 3) return Array<T, 3>(n[0], n[1], n[2]);
  }();
  array.copyFrom(values.data());
  return array;
}

template <class T, int N>
hpl::launch::Annotated<Array<T, N>> partOf(const Array<T, N>& array, int dim, int before,
                                           int after) {
  if (dim == 1) return PART1(array, before, after);
  if (dim == 2) return PART2(array, before, after);
  return PART3(array, before, after);
}

/// Whether the templates give the host's bits after one step, or after two with the arrays
/// exchanged when their types are the same.
template <char Letter, StencilForm Form, class T, class U, int N, int... E>
bool agrees(const Run& run) {
  constexpr auto e = paddedExtents<N, E...>();
  const Shape& n = run.shape;
  const auto cells = static_cast<std::size_t>(n[0] * n[1] * n[2]);
  std::vector<T> first = someValues<T>(cells, 17);
  std::vector<U> second = someValues<U>(cells, 29);
  Array<T, N> in = arrayOf<T, N>(n, first);
  Array<U, N> out = arrayOf<U, N>(n, second);
  const auto slow = static_cast<std::size_t>(2 * (3 - N + run.dim - 1));
  const int before = e[slow] + run.moreGhosts, after = e[slow + 1] + run.moreGhosts;
  const auto part = [&](const auto& array) { return partOf(array, run.dim, before, after); };
  auto s = prepare<Form, N, E...>(part(in), firstDevices(run.parts), run.local, run.perThread);
  const SumKernel<Letter, Form, T, U, N, E...> kernel;
  const auto launch = [&](auto& from, auto& to) {
    hpl::eval(kernel).devices(s.devices).global(s.global).local(s.local)(part(from), part(to),
                                                                         s.temp, s.helper);
  };
  launch(in, out);
  second = stepOnHost<Letter, T, U, N, E...>(n, first, second);
  std::vector<U> result(cells);
  if constexpr (std::is_same_v<T, U>) {
    out.syncGhosts();
    launch(out, in);
    first = stepOnHost<Letter, U, T, N, E...>(n, second, first);
    in.copyTo(result.data());
    return result == first;
  } else {
    out.copyTo(result.data());
    return result == second;
  }
}

}  // namespace kernel_tests
