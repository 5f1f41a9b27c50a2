// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stencil_templates/stencil.h"

/// Stencils that are given by weights: `sum of weight * neighbour, divided by a factor` (EPSILOD,
/// Section 4.1).
namespace hpl {

/// A neighbour with a weight that is not zero; offsets of the slowest dimension first.
struct PatternNeighbour {
  std::array<int, 3> offset{};
  double weight = 0;
};

/// The weights of a stencil of one to three dimensions: for each dimension how far it reaches
/// before and after a cell, and one weight for each cell of that box, row-major. Compact or not,
/// symmetric or not.
///
///     StencilPattern poisson({{-1, 1}, {-1, 1}}, {0, 1, 0,
///                                                 1, 0, 1,
///                                                 0, 1, 0}, 4);
///     poisson.specific<float, 2>().boundary(Fixed(0.0f)).iterate(1000)(a, b);
class StencilPattern {
 public:
  using Range = std::pair<int, int>;

  /// Throws ArgumentError for a box that does not contain the cell itself, a number of weights that
  /// is not the box's, weights that are not finite or all zero, and factors that are zero or not
  /// finite.
  StencilPattern(std::vector<Range> shape, std::vector<double> weights, double factor = 1);

  /// Reads lines of words: `shape -1:1 -1:1` (slowest dimension first), `weights` and the numbers
  /// on that line and the following ones, `factor 4`; `#` begins a comment. Throws ArgumentError
  /// that names `source` and the line.
  static StencilPattern parse(std::string_view text, const std::string& source = "pattern");
  /// The same from a file. Throws ArgumentError if it cannot be read.
  static StencilPattern read(const std::string& file);

  int dimensions() const { return static_cast<int>(shape_.size()); }
  const std::vector<Range>& shape() const { return shape_; }
  const std::vector<double>& weights() const { return weights_; }
  double factor() const { return factor_; }
  /// Those whose weight is not zero, row-major.
  const std::vector<PatternNeighbour>& neighbours() const { return neighbours_; }

  /// The stencil that reads these neighbours only, with the weights as constants of its code. T is
  /// float or double. Throws ArgumentError unless N is the pattern's number of dimensions.
  template <class T, int N>
  Stencil specific() const;

  /// One step of the generic kernel, which works for any pattern: it reads all cells of the box and
  /// their weights from memory. Cells that lack neighbours are left as they are. The FRunner may
  /// be run while the pattern or a copy of it exists. Throws ArgumentError unless N is the
  /// pattern's number of dimensions.
  template <class T, int N>
  FRunner generic(Array<T, N>& in, Array<T, N>& out) const;

  /// OpenCL C of the specific kernel for floats, as written before any strategy.
  std::string openClSource(const std::string& kernelName) const;

 private:
  void requireDimensions(int n) const;
  /// The weights on the devices, as launches of generic() need them; made at the first call.
  template <class T, int N>
  Array<T, N>& weightsOnDevices() const;

  std::vector<Range> shape_;
  std::vector<double> weights_;
  double factor_;
  std::vector<PatternNeighbour> neighbours_;
  /// By element type; copies of a pattern share them.
  std::shared_ptr<std::map<const void*, std::shared_ptr<void>>> weightArrays_ =
      std::make_shared<std::map<const void*, std::shared_ptr<void>>>();
};

namespace stencils {

/// The point function of a pattern.
template <class T, int N>
struct PatternPoint {
  std::vector<PatternNeighbour> neighbours;
  double factor;

  Array<T, 0> operator()(Neighbourhood<T, N> cell) const {
    Array<T, 0> sum = T(0);
    for (const PatternNeighbour& n : neighbours) {
      const T weight = static_cast<T>(n.weight);
      const auto& o = n.offset;
      if constexpr (N == 1) sum += weight * cell(o[0]);
      if constexpr (N == 2) sum += weight * cell(o[0], o[1]);
      if constexpr (N == 3) sum += weight * cell(o[0], o[1], o[2]);
    }
    if (factor != 1) sum /= static_cast<T>(factor);
    return sum;
  }
};

template <class T>
void genericKernel1(Array<T, 1> out, const Array<T, 1>& in, const Array<T, 1>& weights, Int x0,
                    Int x1, Array<T, 0> factor) {
  Int x = cast<int>(idx);
  if_(x + x0 >= 0 && x + x1 < cast<int>(szx)) {
    Array<T, 0> sum = T(0);
    for_(Int i = x0, i <= x1, i++) {
      sum += weights[i - x0] * in[x + i];
    }
    out[idx] = sum / factor;
  }
}

template <class T>
void genericKernel2(Array<T, 2> out, const Array<T, 2>& in, const Array<T, 2>& weights, Int y0,
                    Int y1, Int x0, Int x1, Array<T, 0> factor) {
  Int x = cast<int>(idx), y = cast<int>(idy);
  if_(x + x0 >= 0 && x + x1 < cast<int>(szx) && y + y0 >= 0 && y + y1 < cast<int>(szy)) {
    Array<T, 0> sum = T(0);
    for_(Int j = y0, j <= y1, j++) {
      for_(Int i = x0, i <= x1, i++) {
        sum += weights[j - y0][i - x0] * in[y + j][x + i];
      }
    }
    out[idy][idx] = sum / factor;
  }
}

template <class T>
void genericKernel3(Array<T, 3> out, const Array<T, 3>& in, const Array<T, 3>& weights, Int z0,
                    Int z1, Int y0, Int y1, Int x0, Int x1, Array<T, 0> factor) {
  Int x = cast<int>(idx), y = cast<int>(idy), z = cast<int>(idz);
  if_(x + x0 >= 0 && x + x1 < cast<int>(szx) && y + y0 >= 0 && y + y1 < cast<int>(szy) &&
      z + z0 >= 0 && z + z1 < cast<int>(szz)) {
    Array<T, 0> sum = T(0);
    for_(Int k = z0, k <= z1, k++) {
      for_(Int j = y0, j <= y1, j++) {
        for_(Int i = x0, i <= x1, i++) {
          sum += weights[k - z0][j - y0][i - x0] * in[z + k][y + j][x + i];
        }
      }
    }
    out[idz][idy][idx] = sum / factor;
  }
}

}  // namespace stencils

template <class T, int N>
Stencil StencilPattern::specific() const {
  static_assert(std::is_floating_point_v<T>, "HPL: patterns compute in float or double");
  requireDimensions(N);
  return Stencil(stencils::PatternPoint<T, N>{neighbours_, factor_});
}

template <class T, int N>
Array<T, N>& StencilPattern::weightsOnDevices() const {
  static const char type = 0;
  std::shared_ptr<void>& known = (*weightArrays_)[&type];
  if (known == nullptr) {
    const auto extent = [this](std::size_t d) { return shape_[d].second - shape_[d].first + 1; };
    std::shared_ptr<Array<T, N>> fresh;
    if constexpr (N == 1) fresh = std::make_shared<Array<T, 1>>(extent(0));
    if constexpr (N == 2) fresh = std::make_shared<Array<T, 2>>(extent(0), extent(1));
    if constexpr (N == 3) fresh = std::make_shared<Array<T, 3>>(extent(0), extent(1), extent(2));
    const std::vector<T> values(weights_.begin(), weights_.end());
    fresh->copyFrom(values.data());
    known = std::move(fresh);
  }
  return *static_cast<Array<T, N>*>(known.get());
}

template <class T, int N>
FRunner StencilPattern::generic(Array<T, N>& in, Array<T, N>& out) const {
  requireDimensions(N);
  const auto lo = [this](std::size_t d) { return shape_[d].first; };
  const auto hi = [this](std::size_t d) { return shape_[d].second; };
  const T factor = static_cast<T>(factor_);
  Array<T, N>& weights = weightsOnDevices<T, N>();
  if constexpr (N == 1) {
    return eval(stencils::genericKernel1<T>)(out, in, weights, lo(0), hi(0), factor);
  } else if constexpr (N == 2) {
    return eval(stencils::genericKernel2<T>)(out, in, weights, lo(0), hi(0), lo(1), hi(1), factor);
  } else {
    return eval(stencils::genericKernel3<T>)(out, in, weights, lo(0), hi(0), lo(1), hi(1), lo(2),
                                             hi(2), factor);
  }
}

}  // namespace hpl
