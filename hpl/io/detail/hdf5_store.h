// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpl/io/detail/file_type.h"

namespace hpl::io::detail {

/// The functions of the HDF5 library that Hdf5File uses, in bytes: there is one implementation, or
/// none where hpl::io was built without HDF5. Functions throw FileError.
class Hdf5Store {
 public:
  Hdf5Store() = default;
  Hdf5Store(const Hdf5Store&) = delete;
  Hdf5Store& operator=(const Hdf5Store&) = delete;
  virtual ~Hdf5Store() = default;

  /// Part of a dataset: a box of it.
  struct Part {
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> extents;
  };

  virtual bool contains(const std::string& path) const = 0;
  virtual std::vector<std::string> list(const std::string& group) const = 0;
  virtual std::vector<std::int64_t> shapeOf(const std::string& path) const = 0;
  /// Whether the elements of a dataset are these scalars or structs, in any byte order.
  virtual bool holds(const std::string& path, const FileType& element) const = 0;
  /// The type of a dataset's elements, for messages.
  virtual std::string typeOf(const std::string& path) const = 0;
  /// Bytes of the whole file.
  virtual std::int64_t fileBytes() const = 0;

  /// A new dataset of these extents; `grows`: along the first one without bound.
  virtual void create(const std::string& path, const FileType& element,
                      const std::vector<std::int64_t>& extents, bool grows) = 0;
  /// Gives a dataset another extent along its first dimension.
  virtual void resize(const std::string& path, std::int64_t first) = 0;
  virtual void write(const std::string& path, const FileType& element, const Part& part,
                     const std::byte* bytes) = 0;
  virtual void read(const std::string& path, const FileType& element, const Part& part,
                    std::byte* bytes) const = 0;

  virtual void setInteger(const std::string& path, const std::string& name, std::int64_t value) = 0;
  virtual void setNumber(const std::string& path, const std::string& name, double value) = 0;
  virtual void setText(const std::string& path, const std::string& name,
                       const std::string& value) = 0;
  virtual std::int64_t integer(const std::string& path, const std::string& name) const = 0;
  virtual double number(const std::string& path, const std::string& name) const = 0;
  virtual std::string text(const std::string& path, const std::string& name) const = 0;

  virtual void flush() = 0;
  virtual void close() = 0;

  [[noreturn]] virtual void fail(const std::string& reason) const = 0;
};

enum class Hdf5Mode { Read, Create, Update };

/// Throws FileError where there is no HDF5.
std::unique_ptr<Hdf5Store> openHdf5(const std::string& file, Hdf5Mode mode);
bool hasHdf5() noexcept;

}  // namespace hpl::io::detail
