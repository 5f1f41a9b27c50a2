// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/io/detail/cells.h"
#include "hpl/io/file_error.h"

/// Raw files: the elements of an array in row-major order and nothing else.
namespace hpl::io {

/// Where the elements of a raw file stand.
struct RawFormat {
  std::int64_t offset = 0;      ///< bytes before the first element, a header for instance
  bool moreFollows = false;     ///< whether bytes behind the last element are allowed
  bool otherByteOrder = false;  ///< whether the file has the other byte order than this machine
};

namespace detail {
void writeRaw(const std::string& file, const Cells& cells);
/// Opens a raw file that has to have these many elements, and reads them.
class RawSource {
 public:
  /// Throws FileError unless the file has as many bytes as the shape says.
  RawSource(const std::string& file, const ir::Type& type, std::vector<std::int64_t> shape,
            const RawFormat& format);
  void readInto(const CellLayout& layout, void* first) const;

 private:
  std::string file_;
  RawFormat format_;
};
}  // namespace detail

/// Writes the elements of an array or a view in row-major order and this machine's byte order:
/// vectors of 3 lanes as 3 scalars, the gaps within structs as zeros. The file appears complete or
/// not at all. Throws FileError.
template <class T, int N>
void writeRaw(const std::string& file, const Array<T, N>& array) {
  detail::writeRaw(file, detail::cellsOf(array));
}

/// Fills an array or a view from a file of as many elements. Throws FileError if the file cannot be
/// read, or has fewer or more bytes than the array; the array keeps its contents then, unless the
/// disk fails half-way.
template <class T, int N>
void readRaw(const std::string& file, Array<T, N>& array, const RawFormat& format = {}) {
  const detail::CellLayout layout = detail::layoutOf(array);
  const detail::RawSource source(file, layout.type, layout.shape(), format);
  source.readInto(layout, array.data(HPL_WR));
}

/// A new array of N extents, as the file does not tell them. Throws FileError as the other form
/// does, before the array is made, and ArgumentError unless there are N extents of at least 1.
template <class T, int N>
Array<T, N> readRaw(const std::string& file, const std::int64_t (&shape)[N],
                    const RawFormat& format = {}) {
  const std::vector<std::int64_t> extents(shape, shape + N);
  const detail::RawSource source(file, irType<T>(), extents, format);
  Array<T, N> array = detail::makeArray<T, N>(extents);
  source.readInto(detail::layoutOf(array), array.data(HPL_WR));
  return array;
}

}  // namespace hpl::io
