// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/io/detail/cells.h"
#include "hpl/io/file_error.h"

/// HDF5 files, where hpl::io was built with the HDF5 library.
namespace hpl::io {

namespace detail {
class Hdf5Store;
}

/// An HDF5 file: arrays as datasets, in groups, with attributes.
///
///     io::Hdf5File file("run.h5", io::Hdf5File::Create);
///     file.write("grid/depth", depth);
///     file.setAttribute("grid/depth", "unit", "m");
///     for (int step = 0; step < steps; ++step) file.append("steps/u", u);
///     file.close();
///
/// Paths are names of groups and a dataset, separated by '/'; groups come into being with what is
/// written in them. Elements are as h5py has them: half is a 16-bit float, complex numbers are
/// structs of r and i, bool is an enumeration, structs are compounds; vectors add a last dimension.
///
/// The HDF5 library may not be used by two threads at once, not even for different files.
///
/// All functions throw FileError, with what HDF5 says, for what the file does not allow.
class Hdf5File {
 public:
  enum Mode {
    Read,    ///< an existing file
    Create,  ///< a new file, which gets its name, and replaces a file that had it, with flush() or
             ///< close()
    Update   ///< an existing file, to which is written in place
  };

  /// Whether this build of hpl::io has HDF5. Without it the constructor throws FileError.
  static bool isAvailable() noexcept;

  explicit Hdf5File(const std::string& file, Mode mode = Read);
  /// Closes the file; errors are lost here, so call close() to see them.
  ~Hdf5File();
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;

  /// Writes an array or a view as a dataset. One that exists is overwritten if it has the same type
  /// and shape, and is refused otherwise.
  template <class T, int N>
  void write(const std::string& path, const Array<T, N>& array) {
    writeCells(path, detail::cellsOf(array));
  }
  /// Adds an array or a view at the end of a dataset of one more dimension, the first, which has no
  /// bound: a time step. The first one makes the dataset.
  template <class T, int N>
  void append(const std::string& path, const Array<T, N>& step) {
    appendCells(path, detail::cellsOf(step));
  }

  /// Whether there is a group or a dataset.
  bool contains(const std::string& path) const;
  /// Names of the groups and datasets in a group, sorted.
  std::vector<std::string> list(const std::string& group = "/") const;
  /// Extents of a dataset, slowest dimension first; the lanes of vectors come last.
  std::vector<std::int64_t> shape(const std::string& path) const;
  /// Whether read<T, N>() can give this dataset. Both byte orders are read; numbers are never
  /// converted to another type.
  template <class T, int N>
  bool holds(const std::string& path) const {
    return problemWith(path, irType<T>(), N).empty();
  }

  /// A dataset as a new array.
  template <class T, int N>
  Array<T, N> read(const std::string& path) const {
    Array<T, N> array = detail::makeArray<T, N>(requireShape(path, irType<T>(), N));
    readInto(path, kWhole, detail::layoutOf(array), array.data(HPL_WR));
    return array;
  }
  /// A dataset into an array or a view of the same extents.
  template <class T, int N>
  void read(const std::string& path, Array<T, N>& array) const {
    const detail::CellLayout layout = detail::layoutOf(array);
    requireFit(path, kWhole, layout);
    readInto(path, kWhole, layout, array.data(HPL_WR));
  }
  /// One step, from 0, of a dataset that append() made, as a new array.
  template <class T, int N>
  Array<T, N> readStep(const std::string& path, std::int64_t step) const {
    std::vector<std::int64_t> extents = requireShape(path, irType<T>(), N + 1);
    requireStep(path, step);
    extents.erase(extents.begin());
    Array<T, N> array = detail::makeArray<T, N>(extents);
    readInto(path, step, detail::layoutOf(array), array.data(HPL_WR));
    return array;
  }
  /// One step into an array or a view of the same extents.
  template <class T, int N>
  void readStep(const std::string& path, std::int64_t step, Array<T, N>& array) const {
    const detail::CellLayout layout = detail::layoutOf(array);
    requireStep(path, step);
    requireFit(path, step, layout);
    readInto(path, step, layout, array.data(HPL_WR));
  }

  /// Sets an attribute of a group or a dataset ("/": of the file): a number or a text. One that
  /// exists is replaced.
  template <class V>
    requires std::integral<V> || std::floating_point<V> || std::convertible_to<V, std::string>
  void setAttribute(const std::string& path, const std::string& name, const V& value) {
    if constexpr (std::integral<V>) {
      setInteger(path, name, static_cast<std::int64_t>(value));
    } else if constexpr (std::floating_point<V>) {
      setNumber(path, name, static_cast<double>(value));
    } else {
      setText(path, name, std::string(value));
    }
  }
  /// The value of an attribute: `std::int64_t`, `double` (from integers, too) or `std::string`.
  template <class V>
  V attribute(const std::string& path, const std::string& name) const = delete;

  /// Makes what was written so far readable by other programs; a new file gets its name.
  void flush();
  /// Closes the file. Later calls do nothing; other functions throw FileError from now on.
  void close();

 private:
  static constexpr std::int64_t kWhole = -1;

  detail::Hdf5Store& store() const;
  void writeCells(const std::string& path, const detail::Cells& cells);
  void appendCells(const std::string& path, const detail::Cells& cells);
  std::string problemWith(const std::string& path, const ir::Type& type, int rank) const;
  /// The extents without lanes.
  std::vector<std::int64_t> requireShape(const std::string& path, const ir::Type& type,
                                         int rank) const;
  void requireStep(const std::string& path, std::int64_t step) const;
  void requireFit(const std::string& path, std::int64_t step,
                  const detail::CellLayout& layout) const;
  void readInto(const std::string& path, std::int64_t step, const detail::CellLayout& layout,
                void* first) const;
  void setInteger(const std::string& path, const std::string& name, std::int64_t value);
  void setNumber(const std::string& path, const std::string& name, double value);
  void setText(const std::string& path, const std::string& name, const std::string& value);

  std::string file_;
  std::unique_ptr<detail::Hdf5Store> store_;
};

template <>
std::int64_t Hdf5File::attribute<std::int64_t>(const std::string& path,
                                               const std::string& name) const;
template <>
double Hdf5File::attribute<double>(const std::string& path, const std::string& name) const;
template <>
std::string Hdf5File::attribute<std::string>(const std::string& path,
                                             const std::string& name) const;

}  // namespace hpl::io
