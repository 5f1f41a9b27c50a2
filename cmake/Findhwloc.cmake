# SPDX-License-Identifier: Apache-2.0
# Finds hwloc 2 or later, which ships no CMake package on Debian 12. Defines hwloc::hwloc.
find_path(hwloc_INCLUDE_DIR hwloc.h)
find_library(hwloc_LIBRARY hwloc)
mark_as_advanced(hwloc_INCLUDE_DIR hwloc_LIBRARY)
if(hwloc_INCLUDE_DIR)
  file(STRINGS "${hwloc_INCLUDE_DIR}/hwloc.h" hwloc_version_line REGEX "define HWLOC_API_VERSION 0x")
  string(REGEX REPLACE ".*0x000([0-9a-f])0?([0-9a-f]+)00.*" "\\1.\\2" hwloc_VERSION "${hwloc_version_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwloc
  REQUIRED_VARS hwloc_LIBRARY hwloc_INCLUDE_DIR VERSION_VAR hwloc_VERSION)

if(hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(hwloc::hwloc PROPERTIES
    IMPORTED_LOCATION "${hwloc_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${hwloc_INCLUDE_DIR}")
endif()
