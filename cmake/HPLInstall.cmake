# SPDX-License-Identifier: Apache-2.0
# Installs the library, its headers, the CMake package `HPL` and the pkg-config file `hpl.pc`.
include(CMakePackageConfigHelpers)

set(hpl_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/HPL")

install(TARGETS hpl EXPORT HPLTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT HPLTargets NAMESPACE hpl:: DESTINATION "${hpl_cmake_dir}")

set(hpl_public_headers hpl/hpl.h hpl/HPL.h)
if(HPL_BUILD_IO)
  list(APPEND hpl_public_headers hpl/io.h)
endif()
if(HPL_HAS_MPI)
  list(APPEND hpl_public_headers hpl/mpi.h)
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/stencil_templates/stencil_templates.h")
  list(APPEND hpl_public_headers stencil_templates/stencil_templates.h)
endif()
install(CODE "
  set(HPL_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")
  set(HPL_PUBLIC_HEADERS \"${hpl_public_headers}\")
  set(HPL_INCLUDE_DIR \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/HPLInstallHeaders.cmake")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/HPLConfig.cmake.in" "${PROJECT_BINARY_DIR}/HPLConfig.cmake"
  INSTALL_DESTINATION "${hpl_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/HPLConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/HPLConfig.cmake"
  "${PROJECT_BINARY_DIR}/HPLConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findhwloc.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findscotch.cmake"
  DESTINATION "${hpl_cmake_dir}")

# A static library hands its own dependencies to programs that link it; a shared one carries them. The
# paths are relative to the file's own place, so the prefix can be chosen or moved at install time.
set(HPL_PC_LIBS "-lspdlog -lfmt -lxxhash -lOpenCL -pthread -ldl")
if(hwloc_FOUND)
  string(APPEND HPL_PC_LIBS " -lhwloc")
endif()
if(scotch_FOUND)
  string(APPEND HPL_PC_LIBS " -lscotch -lscotcherr")
endif()
if(BUILD_SHARED_LIBS)
  set(HPL_PC_LIBS "")
endif()
file(RELATIVE_PATH HPL_PC_INCLUDEDIR
  "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/hpl.pc.in" "${PROJECT_BINARY_DIR}/hpl.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/hpl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
