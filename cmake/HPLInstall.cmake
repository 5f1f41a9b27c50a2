# SPDX-License-Identifier: Apache-2.0
# Installs the library, its headers, the CMake package `HPL` and the pkg-config file `hpl.pc`.
include(CMakePackageConfigHelpers)

set(hpl_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/HPL")

install(TARGETS hpl EXPORT HPLTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT HPLTargets NAMESPACE hpl:: DESTINATION "${hpl_cmake_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/hpl" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "mpi" EXCLUDE)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/HPLConfig.cmake.in" "${PROJECT_BINARY_DIR}/HPLConfig.cmake"
  INSTALL_DESTINATION "${hpl_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/HPLConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/HPLConfig.cmake"
  "${PROJECT_BINARY_DIR}/HPLConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake"
  DESTINATION "${hpl_cmake_dir}")

# A static library hands its own dependencies to whoever links it; a shared one carries them. The
# paths are relative to the file's own place, so the prefix can be chosen or moved at install time.
set(HPL_PC_LIBS "-lspdlog -lfmt -lxxhash -lOpenCL -pthread -ldl")
if(BUILD_SHARED_LIBS)
  set(HPL_PC_LIBS "")
endif()
file(RELATIVE_PATH HPL_PC_INCLUDEDIR
  "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/hpl.pc.in" "${PROJECT_BINARY_DIR}/hpl.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/hpl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
