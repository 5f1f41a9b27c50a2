# SPDX-License-Identifier: Apache-2.0
# Finds Scotch 7 or later, whose Debian 12 package has no CMake files. Defines scotch::scotch.
find_path(scotch_INCLUDE_DIR scotch/scotch.h)
find_library(scotch_LIBRARY scotch)
find_library(scotch_ERROR_LIBRARY scotcherr)
mark_as_advanced(scotch_INCLUDE_DIR scotch_LIBRARY scotch_ERROR_LIBRARY)
if(scotch_INCLUDE_DIR)
  file(STRINGS "${scotch_INCLUDE_DIR}/scotch/scotch.h" scotch_version_lines
    REGEX "define SCOTCH_(VERSION|RELEASE|PATCHLEVEL) ")
  string(REGEX REPLACE "[^0-9;]" "" scotch_VERSION "${scotch_version_lines}")
  list(JOIN scotch_VERSION "." scotch_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(scotch
  REQUIRED_VARS scotch_LIBRARY scotch_ERROR_LIBRARY scotch_INCLUDE_DIR VERSION_VAR scotch_VERSION)

if(scotch_FOUND AND NOT TARGET scotch::scotch)
  add_library(scotch::scotch UNKNOWN IMPORTED)
  set_target_properties(scotch::scotch PROPERTIES
    IMPORTED_LOCATION "${scotch_LIBRARY}"
    INTERFACE_LINK_LIBRARIES "${scotch_ERROR_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${scotch_INCLUDE_DIR}")
endif()
