// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

/// References for launch-level stencils: plain C++ that adds margins to an array, dimension by
/// dimension, and then sums weighted neighbours without any thought of borders.
namespace stencil_tests {

using Index3 = std::array<int, 3>;

/// Cells of one to three dimensions; unused leading dimensions have extent 1.
template <class T>
struct Grid {
  Index3 n{1, 1, 1};
  std::vector<T> cells;

  explicit Grid(const Index3& extents)
      : n(extents), cells(static_cast<std::size_t>(n[0] * n[1] * n[2])) {}
  T& at(const Index3& c) {
    return cells[static_cast<std::size_t>((c[0] * n[1] + c[1]) * n[2] + c[2])];
  }
  T at(const Index3& c) const { return const_cast<Grid&>(*this).at(c); }
};

enum class Kind { Untouched, Fixed, Nearest, Mirror, MirrorOdd, Periodic, Computed };
constexpr int kKinds = 7;

/// One face; `value` is that of Fixed.
struct FaceRule {
  Kind kind = Kind::Untouched;
  int value = 0;
};

/// Rules of the faces before and after each dimension.
using Rules = std::array<std::array<FaceRule, 2>, 3>;

/// The values of Computed faces.
inline int computedValue(const Index3& c) { return 7 + 100 * c[0] - 10 * c[1] + 3 * c[2]; }

/// One neighbour and its weight.
struct Tap {
  Index3 offset{0, 0, 0};
  int weight = 0;
};

/// Cells needed before and after, per dimension.
struct Margins {
  Index3 before{0, 0, 0};
  Index3 after{0, 0, 0};
};
Margins marginsOf(const std::vector<Tap>& taps);

/// The grid with margins along dimension `d`; `offset` tells where its cell 0 is in each dimension.
template <class T>
Grid<T> withMargins(const Grid<T>& grid, int dimension, int before, int after,
                    const std::array<FaceRule, 2>& rules, const Index3& offset) {
  const auto d = static_cast<std::size_t>(dimension);
  Index3 extents = grid.n;
  extents[d] += before + after;
  Grid<T> result(extents);
  Index3 c{};
  for (c[0] = 0; c[0] < extents[0]; ++c[0]) {
    for (c[1] = 0; c[1] < extents[1]; ++c[1]) {
      for (c[2] = 0; c[2] < extents[2]; ++c[2]) {
        Index3 from = c;
        from[d] -= before;
        const int n = grid.n[d];
        const bool low = from[d] < 0;
        if (!low && from[d] < n) {
          result.at(c) = grid.at(from);
          continue;
        }
        Index3 place = from;
        for (std::size_t k = 0; k < 3; ++k)
          if (k != d) place[k] -= offset[k];
        const FaceRule& rule = rules[low ? 0 : 1];
        const int mirrored = low ? -1 - from[d] : 2 * n - 1 - from[d];
        switch (rule.kind) {
          case Kind::Untouched:
            result.at(c) = T(0);
            break;
          case Kind::Fixed:
            result.at(c) = static_cast<T>(rule.value);
            break;
          case Kind::Computed:
            result.at(c) = static_cast<T>(computedValue(place));
            break;
          case Kind::Nearest:
            from[d] = low ? 0 : n - 1;
            result.at(c) = grid.at(from);
            break;
          case Kind::Periodic:
            from[d] = (from[d] + n) % n;
            result.at(c) = grid.at(from);
            break;
          case Kind::Mirror:
          case Kind::MirrorOdd:
            from[d] = mirrored;
            result.at(c) =
                rule.kind == Kind::Mirror ? grid.at(from) : static_cast<T>(T(0) - grid.at(from));
            break;
        }
      }
    }
  }
  return result;
}

/// All margins of a grid: those of the last dimension first, so that slower dimensions add whole
/// rows and planes.
template <class T>
Grid<T> padded(const Grid<T>& grid, const Margins& margins, const Rules& rules) {
  Grid<T> result = grid;
  Index3 offset{0, 0, 0};
  for (int d = 2; d >= 0; --d) {
    const auto k = static_cast<std::size_t>(d);
    result = withMargins(result, d, margins.before[k], margins.after[k], rules[k], offset);
    offset[k] = margins.before[k];
  }
  return result;
}

/// Whether an Untouched face keeps the cell from being computed.
bool isLeftOut(const Index3& cell, const Index3& extents, const Margins& margins,
               const Rules& rules);

/// sum + weight * value; integers wrap around, as they do on devices.
template <class T>
T plusWeighted(T sum, T weight, T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(sum) +
                          static_cast<std::uint64_t>(weight) * static_cast<std::uint64_t>(value));
  else
    return static_cast<T>(sum + weight * value);
}

/// `out` after one application: sums of weight * neighbour in the order of the taps.
template <class T>
Grid<T> weightedSum(const Grid<T>& in, Grid<T> out, const std::vector<Tap>& taps,
                    const Rules& rules) {
  const Margins margins = marginsOf(taps);
  const Grid<T> all = padded(in, margins, rules);
  Index3 c{};
  for (c[0] = 0; c[0] < in.n[0]; ++c[0]) {
    for (c[1] = 0; c[1] < in.n[1]; ++c[1]) {
      for (c[2] = 0; c[2] < in.n[2]; ++c[2]) {
        if (isLeftOut(c, in.n, margins, rules)) continue;
        T sum = T(0);
        for (const Tap& tap : taps) {
          Index3 from{};
          for (std::size_t k = 0; k < 3; ++k) from[k] = c[k] + margins.before[k] + tap.offset[k];
          sum = plusWeighted(sum, static_cast<T>(tap.weight), all.at(from));
        }
        out.at(c) = sum;
      }
    }
  }
  return out;
}

}  // namespace stencil_tests
