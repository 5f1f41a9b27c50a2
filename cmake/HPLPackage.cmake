# SPDX-License-Identifier: Apache-2.0
# `cpack -G DEB` in a build tree makes the Debian package libhpl-dev: libraries, headers, the CMake
# package and the pkg-config files.
set(CPACK_PACKAGE_NAME libhpl-dev)
set(CPACK_PACKAGE_VENDOR "HPL")
set(CPACK_PACKAGE_CONTACT "the developers of HPL <hpl@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# What find_package(HPL) and hpl.pc ask for: a static library hands on what it was made with. What
# programs need to run comes with these packages; g++ and an OpenCL driver are the user's choice.
set(hpl_depends "")
if(NOT BUILD_SHARED_LIBS)
  set(hpl_depends libfmt-dev libspdlog-dev libxxhash-dev ocl-icd-opencl-dev)
  if(HPL_BUILD_IO)
    list(APPEND hpl_depends libpng-dev libgif-dev)
    if(HPL_HDF5_LIBRARY)
      list(APPEND hpl_depends libhdf5-dev)
    endif()
  endif()
  if(HPL_HAS_MPI)
    list(APPEND hpl_depends "libopenmpi-dev | libmpich-dev")
  endif()
endif()
list(JOIN hpl_depends ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, pocl-opencl-icd | opencl-icd")
# Those of shared libraries, by the libraries that they ask for.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ${BUILD_SHARED_LIBS})
include(CPack)
