// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/io/detail/cells.h"
#include "hpl/io/file_error.h"

/// VTK image data (.vti), which ParaView and VisIt open.
namespace hpl::io {

namespace detail {

/// An array whose cells are asked for later.
struct CellSource {
  virtual ~CellSource() = default;
  virtual CellLayout layout() const = 0;
  virtual Cells cells() const = 0;
};
template <class T, int N>
struct HeldArray final : CellSource {
  explicit HeldArray(const Array<T, N>& held) : array(held) {}
  CellLayout layout() const override { return layoutOf(array); }
  Cells cells() const override { return cellsOf(array); }
  Array<T, N> array;
};

}  // namespace detail

/// A regular grid with named arrays on its points or in its cells.
///
///     io::VtkImage image;
///     image.spacing({dz, dy, dx});
///     image.points("pressure", p);
///     image.points("velocity", v);
///     image.write("step0100.vti");
///
/// Dimensions, spacing and origin are in the order of the array's indices: (i, j, k) becomes VTK's
/// (z, y, x), so that the last, contiguous index runs along x. Arrays of one and two dimensions lie
/// in the line y = z = 0 and the plane z = 0.
class VtkImage {
 public:
  VtkImage() = default;

  /// Distance between neighbours along each dimension of the arrays; 1 without this. Throws
  /// ArgumentError unless all are positive and finite.
  VtkImage& spacing(const std::vector<double>& distances);
  /// Place of the first point; 0 without this. Throws ArgumentError unless all are finite.
  VtkImage& origin(const std::vector<double>& place);

  /// Adds an array or a view of values at the points of the grid. The array is read by write().
  /// Elements are scalars, vectors (of as many components) or complex numbers (of two); bool
  /// becomes an unsigned char, half a float. Throws ArgumentError for names that are empty or used
  /// already, for more than three dimensions, and for extents that do not fit those of the arrays
  /// before.
  template <class T, int N>
    requires(N <= 3 && !hpl::detail::RegisteredStruct<T>)
  VtkImage& points(const std::string& name, const Array<T, N>& values) {
    add(name, std::make_shared<detail::HeldArray<T, N>>(values), false);
    return *this;
  }
  /// Adds an array or a view of values in the cells, of which there is one less than points along
  /// each dimension.
  template <class T, int N>
    requires(N <= 3 && !hpl::detail::RegisteredStruct<T>)
  VtkImage& cells(const std::string& name, const Array<T, N>& values) {
    add(name, std::make_shared<detail::HeldArray<T, N>>(values), true);
    return *this;
  }

  /// Writes the file: XML, with the arrays as binary data behind it. It appears complete or not at
  /// all. Throws FileError, and ArgumentError if there is no array, or spacing or origin have
  /// another number of dimensions.
  void write(const std::string& file) const;

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<const detail::CellSource> source;
    bool inCells = false;
  };
  void add(const std::string& name, std::shared_ptr<const detail::CellSource> source, bool inCells);
  std::string arraysXml(bool inCells, std::int64_t& offset) const;
  std::string header() const;

  std::vector<Entry> entries_;
  std::vector<std::int64_t> points_;  ///< extents of the points, once there is an array
  std::vector<double> spacing_;
  std::vector<double> origin_;
};

}  // namespace hpl::io
