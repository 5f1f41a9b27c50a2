// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/io/detail/cells.h"
#include "hpl/io/file_error.h"

/// NPY files: NumPy's own format for one array (`numpy.save`, `numpy.load`).
namespace hpl::io {

namespace detail {
void writeNpy(const std::string& file, const Cells& cells);
}

/// Writes an array or a view as an NPY file (version 1.0), in C order and this machine's byte
/// order. Elements become NumPy's type of the same size, half becomes float16, complex numbers
/// complex64 or complex128, structs structured types. Vectors add a last dimension: an
/// Array<float4, 2> of n x m is a file of shape (n, m, 4). The file appears complete or not at all.
/// Throws FileError.
template <class T, int N>
void writeNpy(const std::string& file, const Array<T, N>& array) {
  detail::writeNpy(file, detail::cellsOf(array));
}

/// An NPY file, versions 1.0 to 3.0, whose header has been read: it tells shape and type before an
/// array is made for them.
///
///     io::NpyFile file("field.npy");
///     if (file.holds<float, 2>()) Array<float, 2> a = file.read<float, 2>();
class NpyFile {
 public:
  /// Reads the header. Throws FileError for files that are missing, no NPY file, shorter or longer
  /// than their header says, or of a type that no array holds; nothing is allocated for the data.
  explicit NpyFile(const std::string& file);
  ~NpyFile();
  NpyFile(NpyFile&&) noexcept;
  NpyFile& operator=(NpyFile&&) noexcept;

  /// Extents, slowest dimension first.
  const std::vector<std::int64_t>& shape() const noexcept;
  /// NumPy's name of the element type: `'<f4'` for float.
  const std::string& descr() const noexcept;
  /// True if the first index is the contiguous one. Such files are read like others: element (i, j)
  /// of the file becomes element (i, j) of the array.
  bool fortranOrder() const noexcept;

  /// Whether read<T, N>() can give an array. Both byte orders are read; numbers are never
  /// converted to another type.
  template <class T, int N>
  bool holds() const {
    return problemWith(irType<T>(), N).empty();
  }

  /// A new array with the contents. Throws FileError unless the file holds<T, N>(), has no extent
  /// of 0, and can be read to its end.
  template <class T, int N>
  Array<T, N> read() {
    require(irType<T>(), N);
    Array<T, N> array = detail::makeArray<T, N>(shape());
    readInto(detail::layoutOf(array), array.data(HPL_WR));
    return array;
  }

  /// Fills an array or a view of the same extents. Throws FileError as read() does, and for other
  /// extents; the array keeps its contents then, unless the disk fails half-way.
  template <class T, int N>
  void read(Array<T, N>& array) {
    const detail::CellLayout layout = detail::layoutOf(array);
    requireShape(layout);
    readInto(layout, array.data(HPL_WR));
  }

 private:
  std::string problemWith(const ir::Type& type, int rank) const;
  void require(const ir::Type& type, int rank) const;
  void requireShape(const detail::CellLayout& layout) const;
  void readInto(const detail::CellLayout& layout, void* first);

  struct State;
  std::unique_ptr<State> state_;
};

/// The array in an NPY file. Throws FileError as NpyFile does.
template <class T, int N>
Array<T, N> readNpy(const std::string& file) {
  return NpyFile(file).read<T, N>();
}

/// Fills an array or a view of the file's extents. Throws FileError as NpyFile does.
template <class T, int N>
void readNpy(const std::string& file, Array<T, N>& array) {
  NpyFile(file).read(array);
}

}  // namespace hpl::io
