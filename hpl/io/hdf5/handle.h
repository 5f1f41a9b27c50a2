// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "hpl/io/detail/file_type.h"

namespace hpl::io::detail {

/// An identifier of HDF5 that is closed at the end of its scope.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  operator hid_t() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// False where closing, which flushes files, failed.
  bool close() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

/// While this lives, HDF5 prints no errors by itself.
class Silence {
 public:
  Silence() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// HDF5's words for the last failure: those of the function that failed first.
std::string lastFailure();

/// The HDF5 type of elements as this machine has them in memory: what FileType says, with h5py's
/// conventions for bool, half and complex numbers.
Handle h5TypeOf(const FileType& type);

/// Whether a type of a file is the same one but for byte order and the places of fields.
bool isSameType(hid_t file, const FileType& type);

/// "32-bit floating point", for messages.
std::string describeH5Type(hid_t type);

}  // namespace hpl::io::detail
