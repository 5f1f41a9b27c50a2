// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/io/detail/cells.h"
#include "hpl/io/image.h"

/// Numbers as colours.
namespace hpl::io {

/// Colours from the lowest to the highest value, 2 to 256 of them.
using ColorMap = std::vector<Color>;

/// Dark violet over green to yellow; brightness grows evenly. 256 colours, like the maps below. The
/// map is that of Matplotlib (S. van der Walt, N. Smith, CC0), through the polynomials of M. Zucker
/// (CC0), which differ from its table by at most 4 of 255; those of inferno and magma by at most 9.
const ColorMap& viridis();
/// Black over red to pale yellow; brightness grows evenly. Source as viridis.
const ColorMap& inferno();
/// Black over violet to pale pink; brightness grows evenly. Source as viridis.
const ColorMap& magma();
/// Black to white.
const ColorMap& gray();
/// Blue over white to red, for values on both sides of a middle: a polynomial fit, within 4 of 255,
/// of "coolwarm" (K. Moreland, "Diverging Color Maps for Scientific Visualization", 2009; free to
/// use).
const ColorMap& coolwarm();

/// How values become colours: a map, the range that it covers, a colour for NaN, and the size of a
/// value in pixels.
///
///     io::writePng("heat.png", t, io::ColorScale(io::inferno()).range(0, 100));
class ColorScale {
 public:
  /// The range from the lowest to the highest finite value of what is drawn. Throws ArgumentError
  /// for maps without 2 to 256 colours.
  ColorScale(ColorMap colors = viridis());  // NOLINT(google-explicit-constructor): a map is a scale

  /// `low` (and less) is drawn in the first colour, `high` (and more) in the last. Throws
  /// ArgumentError unless both are finite and low < high.
  ColorScale& range(double low, double high);
  /// The colour of NaN; magenta without this.
  ColorScale& nan(Color color);
  /// Draws each value as a square of this many pixels. Throws ArgumentError unless positive.
  ColorScale& zoom(int pixels);

  const ColorMap& colors() const noexcept { return colors_; }
  /// Lowest and highest value, if range() was given.
  const std::optional<std::pair<double, double>>& range() const noexcept { return range_; }
  Color nan() const noexcept { return nan_; }
  int zoom() const noexcept { return zoom_; }

 private:
  ColorMap colors_;
  std::optional<std::pair<double, double>> range_;
  Color nan_{255, 0, 255};
  int zoom_ = 1;
};

/// Numbers that have an order, and so a place on a scale.
template <class T>
concept Scalable = hpl::detail::ScalarType<T>;

namespace detail {
Image colorImage(const Cells& cells, const ColorScale& scale);
}

/// The array or view as a picture, row 0 at the top. It has the map as its palette, or, where there
/// is a NaN, red, green and blue. Throws ArgumentError for pictures of 2^31 or more pixels.
template <Scalable T>
Image colorImage(const Array<T, 2>& values, const ColorScale& scale = {}) {
  return detail::colorImage(detail::cellsOf(values), scale);
}

}  // namespace hpl::io
