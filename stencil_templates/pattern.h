// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stencil_templates/detail/pattern_step.h"
#include "stencil_templates/stencil.h"

/// Stencils given by weights: the sum of weight * neighbour, divided by a factor (EPSILOD, Section
/// 4.1).
namespace hpl {

template <class T, int N>
class PatternStencil;
template <class T, int N>
class StencilSkeleton;

/// The weights of a stencil of one to eight dimensions: for each dimension its reach before and
/// after a cell, and one weight for each cell of that box, row-major. It need be neither compact
/// nor symmetric.
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
  /// The neighbours whose weight is not zero, row-major.
  const std::vector<PatternNeighbour>& neighbours() const { return neighbours_; }

  /// The stencil that reads these neighbours only, with the weights as constants of its code. T is
  /// float or double. Up to three dimensions it is a Stencil, beyond them a PatternStencil. Throws
  /// ArgumentError unless N is the pattern's number of dimensions.
  template <class T, int N>
  std::conditional_t<(N <= 3), Stencil, PatternStencil<T, N>> specific() const;

  /// One step of the generic kernel, which works for any pattern: it reads all cells of the box and
  /// their weights from memory. Cells that lack neighbours stay as they are. The FRunner may be run
  /// while the pattern or a copy of it exists. Throws ArgumentError unless N is the pattern's
  /// number of dimensions.
  template <class T, int N>
  FRunner generic(Array<T, N>& in, Array<T, N>& out) const;

  /// OpenCL C of the specific kernel for floats, as written before any strategy.
  std::string openClSource(const std::string& kernelName) const;

 private:
  template <class T, int N>
  friend class PatternStencil;
  template <class T, int N>
  friend class StencilSkeleton;

  void requireDimensions(int n) const;
  stencils::PatternPlan plan() const { return {shape_, neighbours_, factor_}; }
  /// The weights on the devices, as launches of generic() need them; made at the first call.
  template <class T, int N>
  Array<T, N>& weightsOnDevices() const;

  std::vector<Range> shape_;
  std::vector<double> weights_;
  double factor_;
  std::vector<PatternNeighbour> neighbours_;
  /// The kernel of generic() for more than three dimensions, by element type; made at the first
  /// call.
  template <class T>
  const stencils::PatternStep& genericStep() const;

  /// By element type; copies of a pattern share them.
  std::shared_ptr<std::map<const void*, std::shared_ptr<void>>> weightArrays_ =
      std::make_shared<std::map<const void*, std::shared_ptr<void>>>();
  std::shared_ptr<std::map<const void*, std::shared_ptr<stencils::PatternStep>>> genericSteps_ =
      std::make_shared<std::map<const void*, std::shared_ptr<stencils::PatternStep>>>();
};

/// A pattern of more than three dimensions, ready to be applied. OpenCL's domains have three, so
/// the last three dimensions of the arrays are the domain and each work-item loops over the cells
/// along the others. Cells that lack neighbours stay as they are: boundaries, time tiling and the
/// ghost exchange of Stencil are for three dimensions. Keep the object: copies share the captured
/// code.
///
///     StencilPattern pattern(...);   // four ranges
///     pattern.specific<float, 4>().devices(2).iterate(100)(a, b);
template <class T, int N>
class PatternStencil {
 public:
  /// The call in messages.
  static constexpr const char* kCall = "PatternStencil";

  /// Throws ArgumentError unless N is the pattern's number of dimensions.
  explicit PatternStencil(const StencilPattern& pattern)
      : step_(
            std::make_shared<stencils::PatternStep>(pattern.plan(), stencils::specificPattern<T>)) {
    pattern.requireDimensions(N);
  }

  /// The pattern on another device; default: defaultDevice(). Throws DeviceError when there is no
  /// such device.
  PatternStencil device(const Device& device) const {
    return with([&](launch::LaunchOptions& options) { options.device = &device.state(); });
  }
  /// The pattern on several devices: all of the default device's type, the first n of them or of
  /// another type, or those of a list. Each computes a share of dimension N - 2 (counted from 1),
  /// and gets the cells that it reads. Throws DeviceError if there are fewer devices, and
  /// LaunchError for an empty list or a device that is named twice.
  PatternStencil devices() const { return devices(hpl::devices(defaultDevice().type())); }
  PatternStencil devices(int n) const { return devices(defaultDevice().type(), n); }
  PatternStencil devices(DeviceType type, int n) const {
    return with(
        [&](launch::LaunchOptions& options) { launch::chooseDevices(options, kCall, type, n); });
  }
  PatternStencil devices(const std::vector<Device>& list) const {
    return with(
        [&](launch::LaunchOptions& options) { launch::chooseDevices(options, kCall, list); });
  }
  /// How floating point is treated; default: HPL_FP.
  PatternStencil fp(FpMode mode) const {
    return with([&](launch::LaunchOptions& options) {
      options.fp = mode;
      options.fpChosen = true;
    });
  }

  /// Applies the pattern once. Returns at once; the FRunner repeats the launch while a copy of this
  /// object exists. Throws ShapeError for shapes that differ or are smaller than the box that the
  /// pattern reads, ArgumentError when the arrays share cells, and the errors of eval.
  FRunner operator()(const Array<T, N>& in, const Array<T, N>& out) const {
    const launch::Argument from = launch::makeArgument(in);
    step_->checkReach(from);
    return step_->launch(options_, from, launch::makeArgument(out));
  }

  /// Several applications, by turns from `a` to `b` and back: `iterate(n)(a, b)`. The result is
  /// always in `a`, and some earlier state in `b`. After an odd number of steps the two handles
  /// exchange the arrays that they name (views cannot exchange and are copied). Cells that lack
  /// neighbours keep the values of `a`. Throws ArgumentError for a negative number of steps.
  auto iterate(std::int64_t steps) const {
    stencils::checkPatternSteps(steps);
    return [self = *this, steps](Array<T, N>& a, Array<T, N>& b) {
      if (steps > 0) self.turn(steps, a, b);
    };
  }

 private:
  template <class Choose>
  PatternStencil with(const Choose& choose) const {
    PatternStencil copy = *this;
    choose(copy.options_);
    return copy;
  }

  void turn(std::int64_t steps, Array<T, N>& a, Array<T, N>& b) const {
    b = a;  // the rims of both
    FRunner there = (*this)(a, b);
    FRunner back;
    for (std::int64_t done = 1; done < steps; ++done) {
      if (done == 1) {
        back = (*this)(b, a);
      } else {
        (done % 2 == 0 ? there : back).run();
      }
    }
    if (steps % 2 == 0) return;
    const auto isView = [](const Array<T, N>& array) {
      return array.hostView().handle() == &array;
    };
    if (isView(a) || isView(b)) {
      a = b;
    } else {
      swap(a, b);
    }
  }

  std::shared_ptr<const stencils::PatternStep> step_;
  launch::LaunchOptions options_;
};

namespace stencils {

/// The point function of a pattern.
template <class T, int N>
struct PatternPoint {
  std::vector<PatternNeighbour> neighbours;
  double factor;

  Array<T, 0> operator()(Neighbourhood<T, N> cell) const {
    const auto term = [&](const PatternNeighbour& n) {
      const T weight = static_cast<T>(n.weight);
      const auto& o = n.offset;
      if constexpr (N == 1) return weight * cell(o[0]);
      if constexpr (N == 2) return weight * cell(o[0], o[1]);
      if constexpr (N == 3) return weight * cell(o[0], o[1], o[2]);
    };
    Array<T, 0> sum = term(neighbours.front());
    for (std::size_t k = 1; k < neighbours.size(); ++k) sum += term(neighbours[k]);
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
std::conditional_t<(N <= 3), Stencil, PatternStencil<T, N>> StencilPattern::specific() const {
  static_assert(std::is_floating_point_v<T>, "HPL: patterns compute in float or double");
  requireDimensions(N);
  if constexpr (N <= 3) {
    return Stencil(stencils::PatternPoint<T, N>{neighbours_, factor_});
  } else {
    return PatternStencil<T, N>(*this);
  }
}

template <class T, int N>
Array<T, N>& StencilPattern::weightsOnDevices() const {
  static const char type = 0;
  std::shared_ptr<void>& known = (*weightArrays_)[&type];
  if (known == nullptr) {
    const auto extent = [this](std::size_t d) { return shape_[d].second - shape_[d].first + 1; };
    const auto fresh = [&]<std::size_t... D>(std::index_sequence<D...>) {
      return std::make_shared<Array<T, N>>(extent(D)...);
    }(std::make_index_sequence<N>());
    const std::vector<T> values(weights_.begin(), weights_.end());
    fresh->copyFrom(values.data());
    known = fresh;
  }
  return *static_cast<Array<T, N>*>(known.get());
}

template <class T>
const stencils::PatternStep& StencilPattern::genericStep() const {
  static const char type = 0;
  std::shared_ptr<stencils::PatternStep>& known = (*genericSteps_)[&type];
  if (known == nullptr)
    known = std::make_shared<stencils::PatternStep>(plan(), stencils::genericPattern<T>);
  return *known;
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
  } else if constexpr (N == 3) {
    return eval(stencils::genericKernel3<T>)(out, in, weights, lo(0), hi(0), lo(1), hi(1), lo(2),
                                             hi(2), factor);
  } else {
    const launch::Argument list[] = {launch::makeArgument(weights), launch::makeArgument(factor)};
    return genericStep<T>().launch({}, launch::makeArgument(in), launch::makeArgument(out),
                                   &list[0], &list[1]);
  }
}

}  // namespace hpl
