// SPDX-License-Identifier: Apache-2.0
// Random stencils on one device, distributed by the library, and annotated with AUTO_SYNC: all must
// equal the same loop on the host, bit for bit.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <type_traits>

#include "support.h"
#include "tests/seeds.h"

namespace random_stencils_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMostTerms = 6;
constexpr int kFarthest = 2;
constexpr int kSteps = 5;

// One neighbour of one of the two inputs. Dimensions that an array does not have are 0.
struct Term {
  bool ofSecond = false;
  int offset[3] = {0, 0, 0};
  int weight = 1;
};

struct Stencil {
  int count = 0;
  Term terms[kMostTerms];
  /// How far it reaches in each dimension.
  int before[3] = {0, 0, 0};
  int after[3] = {0, 0, 0};
  /// Its guard asks for the size of the domain instead of the sizes that are passed.
  bool byDomain = false;
};

Stencil randomStencil(std::mt19937& random, int rank) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Stencil stencil;
  stencil.count = 2 + below(kMostTerms - 1);
  for (int t = 0; t < stencil.count; ++t) {
    Term& term = stencil.terms[t];
    // The first term is of the input that changes.
    term.ofSecond = t > 0 && below(3) == 0;
    term.weight = below(7) - 3;
    for (int d = 0; d < rank; ++d) {
      term.offset[d] = below(2 * kFarthest + 1) - kFarthest;
      stencil.before[d] = std::max(stencil.before[d], -term.offset[d]);
      stencil.after[d] = std::max(stencil.after[d], term.offset[d]);
    }
  }
  return stencil;
}

// The element of an array at the work-item's place plus an offset.
template <class T>
auto neighbour(Array<T, 1>& in, const int* offset) {
  return in[idx + offset[0]];
}
template <class T>
auto neighbour(Array<T, 2>& in, const int* offset) {
  return in[idy + offset[0]][idx + offset[1]];
}
template <class T>
auto neighbour(Array<T, 3>& in, const int* offset) {
  return in[idz + offset[0]][idy + offset[1]][idx + offset[2]];
}

template <class Position, class Size>
auto within(const Position& position, const Size& size, int before, int after) {
  return position >= before && position + after < size;
}

// Whether every neighbour is there: in the part, or within the sizes that were passed.
template <int N>
auto insideDomain(const Stencil& s) {
  const auto inX = within(idx, szx, s.before[N - 1], s.after[N - 1]);
  if constexpr (N == 1) {
    return inX;
  } else {
    const auto inXY = inX && within(idy, szy, s.before[N - 2], s.after[N - 2]);
    if constexpr (N == 2) {
      return inXY;
    } else {
      return inXY && within(idz, szz, s.before[0], s.after[0]);
    }
  }
}
template <int N>
auto insideSizes(const Stencil& s, const Int& n0, const Int& n1, const Int& n2) {
  const auto inX = within(cast<int>(idx),
                          N == 1   ? n0
                          : N == 2 ? n1
                                   : n2,
                          s.before[N - 1], s.after[N - 1]);
  if constexpr (N == 1) {
    return inX;
  } else {
    const auto inXY =
        inX && within(cast<int>(idy), N == 2 ? n0 : n1, s.before[N - 2], s.after[N - 2]);
    if constexpr (N == 2) {
      return inXY;
    } else {
      return inXY && within(cast<int>(idz), n0, s.before[0], s.after[0]);
    }
  }
}

// The kernel is written at capture time: a sum with the stencil's terms and no others.
template <class T, int N>
auto kernelOf(const Stencil& stencil) {
  return [stencil](Array<T, N> out, Array<T, N> first, Array<T, N> second, Int n0, Int n1, Int n2) {
    const auto store = [&] {
      Array<T, 0> sum = T{0};
      for (int t = 0; t < stencil.count; ++t) {
        const Term& term = stencil.terms[t];
        Array<T, N>& in = term.ofSecond ? second : first;
        sum += static_cast<T>(term.weight) * neighbour(in, term.offset);
      }
      constexpr int here[3] = {0, 0, 0};
      neighbour(out, here) = sum;
    };
    if (stencil.byDomain) {
      if_(insideDomain<N>(stencil)) {
        store();
      }
    } else {
      if_(insideSizes<N>(stencil, n0, n1, n2)) {
        store();
      }
    }
  };
}

template <class T>
T product(int weight, T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<unsigned>(weight) * static_cast<unsigned>(value));
  } else {
    return static_cast<T>(weight) * value;
  }
}
template <class T>
T sumOf(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
  } else {
    return a + b;
  }
}

using Shape = std::array<int, 3>;

// One step on the host.
template <class T>
void stepOnHost(const Stencil& stencil, const Shape& n, std::vector<T>& out,
                const std::vector<T>& first, const std::vector<T>& second) {
  const auto at = [&](int z, int y, int x) {
    return static_cast<std::size_t>((z * n[1] + y) * n[2] + x);
  };
  const auto inside = [&](int d, int i) {
    return i >= stencil.before[d] && i + stencil.after[d] < n[static_cast<std::size_t>(d)];
  };
  for (int z = 0; z < n[0]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[2]; ++x) {
        if (!inside(0, z) || !inside(1, y) || !inside(2, x)) continue;
        T sum{0};
        for (int t = 0; t < stencil.count; ++t) {
          const Term& term = stencil.terms[t];
          const std::vector<T>& in = term.ofSecond ? second : first;
          sum = sumOf(sum,
                      product(term.weight,
                              in[at(z + term.offset[0], y + term.offset[1], x + term.offset[2])]));
        }
        out[at(z, y, x)] = sum;
      }
}

template <class T, int N>
Array<T, N> arrayOf(const Shape& n, const std::vector<T>& values) {
  Array<T, N> array = [&] {
    if constexpr (N == 1) return Array<T, 1>(n[0]);
    if constexpr (N == 2) return Array<T, 2>(n[0], n[1]);
    if constexpr (N == 3) return Array<T, 3>(n[0], n[1], n[2]);
  }();
  array.copyFrom(values.data());
  return array;
}

template <class T>
std::vector<T> randomValues(std::mt19937& random, std::size_t n) {
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(static_cast<int>(random() % 201) - 100);
  return values;
}

/// Some steps with two arrays that change places and a third that stays.
template <class T, int N, class Step>
std::vector<T> result(const Shape& n, const std::array<std::vector<T>, 3>& start, Step step) {
  Array<T, N> a = arrayOf<T, N>(n, start[0]);
  Array<T, N> b = arrayOf<T, N>(n, start[1]);
  Array<T, N> c = arrayOf<T, N>(n, start[2]);
  for (int i = 0; i < kSteps; ++i) {
    step(b, a, c);
    swap(a, b);
  }
  std::vector<T> values(a.size());
  a.copyTo(values.data());
  return values;
}

template <int N>
Domain smallGroups() {
  if constexpr (N == 1) return Domain(8);
  if constexpr (N == 2) return Domain(8, 1);
  if constexpr (N == 3) return Domain(4, 1, 1);
}

template <class T, int N>
void compare(unsigned seed) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  Stencil stencil = randomStencil(random, N);
  const auto some = [&](int least) { return least + static_cast<int>(random() % 5); };
  // The first dimension is that of the parts: four of them and their ghosts must fit.
  const Shape n = {some(24), N > 1 ? some(9) : 1, N > 2 ? some(7) : 1};
  const std::size_t cells = static_cast<std::size_t>(n[0] * n[1] * n[2]);
  const std::array<std::vector<T>, 3> start = {randomValues<T>(random, cells),
                                               randomValues<T>(random, cells),
                                               randomValues<T>(random, cells)};
  const int ghosts = kFarthest + static_cast<int>(random() % 4);
  CAPTURE(ghosts);

  std::array<std::vector<T>, 3> host = start;
  for (int i = 0; i < kSteps; ++i) {
    stepOnHost(stencil, n, host[1], host[0], host[2]);
    std::swap(host[0], host[1]);
  }
  const auto kernel = kernelOf<T, N>(stencil);
  CHECK(result<T, N>(n, start, [&](auto& out, auto& in, auto& other) {
          eval(kernel).local(smallGroups<N>())(out, in, other, n[0], n[1], n[2]);
        }) == host[0]);
  CHECK(result<T, N>(n, start, [&](auto& out, auto& in, auto& other) {
          eval(kernel)
              .devices(deviceCount())
              .local(smallGroups<N>())(out, in, other, n[0], n[1], n[2]);
        }) == host[0]);
  stencil.byDomain = seed % 3 != 0;
  const auto partKernel = kernelOf<T, N>(stencil);
  CHECK(result<T, N>(n, start, [&](auto& out, auto& in, auto& other) {
          eval(partKernel)
              .devices(deviceCount())
              .local(smallGroups<N>())(PART1(out, ghosts, AUTO_SYNC), PART1(in, ghosts, AUTO_SYNC),
                                       PART1(other, ghosts, AUTO_SYNC), out.part(1),
                                       N > 1 ? n[1] : 1, N > 2 ? n[2] : 1);
        }) == host[0]);
}

}  // namespace

TEST_CASE("random stencils give the same bits on one device, divided, and annotated") {
  // Few by default: each builds two kernels for every device.
  for (const unsigned seed : Seeds(1, 1)) {
    if (seed % 2 == 1) {
      compare<int, 1>(seed);
      compare<float, 2>(seed);
      compare<int, 3>(seed);
    } else {
      compare<float, 1>(seed);
      compare<int, 2>(seed);
      compare<float, 3>(seed);
    }
  }
}

}  // namespace random_stencils_tests
