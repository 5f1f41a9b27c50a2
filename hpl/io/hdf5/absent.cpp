// SPDX-License-Identifier: Apache-2.0
// Stands in for store.cpp where hpl::io is built without HDF5.
#include "hpl/io/detail/hdf5_store.h"
#include "hpl/io/file_error.h"

namespace hpl::io::detail {

bool hasHdf5() noexcept { return false; }

std::unique_ptr<Hdf5Store> openHdf5(const std::string& file, Hdf5Mode) {
  throw FileError(file +
                      ": this build of hpl::io has no HDF5: install the HDF5 library (Debian: "
                      "libhdf5-dev), configure and build again",
                  file);
}

}  // namespace hpl::io::detail
