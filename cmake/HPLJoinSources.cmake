# SPDX-License-Identifier: Apache-2.0
# Most of what a source of HPL costs the compiler is reading headers and instantiating the standard
# library's templates. Sources of one folder are therefore compiled a few at a time, as one ("unity"
# build): a quarter of the processor time. The syntax check of scripts/test.sh sees
# every source alone, so that none lives on the includes of another; clang-tidy sees them joined.
#
# FEW: ten of a folder, for those who change them: a change is compiled soon. ROOMS: up to forty of a
# folder and its detail/, for those who build once: two thirds of the time of FEW. Tests, too, are then
# joined: each of their files is a namespace.
if(HPL_BUILD_TESTS)
  set(default FEW)
else()
  set(default ROOMS)
endif()
set(HPL_JOIN_SOURCES ${default} CACHE STRING "Sources compiled as one: OFF, FEW or ROOMS")
set_property(CACHE HPL_JOIN_SOURCES PROPERTY STRINGS OFF FEW ROOMS)

# HPL_PRECOMPILE, for those who build once, lets joined sources share what they read of other
# libraries.
option(HPL_PRECOMPILE "Precompile headers of other libraries (ccache keeps nothing then)" OFF)

# hpl_precompile_headers(TARGET HEADER...): these, the standard library's and fmt's. None of HPL's
# rooms: sources see no more of them than they include.
function(hpl_precompile_headers target)
  if(HPL_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque>
      <filesystem> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string>
      <string_view> <thread> <tuple> <unordered_map> <unordered_set> <utility> <variant> <vector>
      <fmt/format.h> ${ARGN})
  endif()
endfunction()

# hpl_join_sources(TARGET [MOST]): joins the target's sources folder by folder, MOST of them or fewer
# at a time. A source with SKIP_UNITY_BUILD_INCLUSION stays alone. To be called in the folder that made
# the target, after its last source was added.
function(hpl_join_sources target)
  if(NOT HPL_JOIN_SOURCES)
    return()
  endif()
  set(most 10)
  if(HPL_JOIN_SOURCES STREQUAL "ROOMS")
    set(most 40)
  endif()
  if(ARGC GREATER 1)
    set(most ${ARGV1})
  endif()
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(folders "")
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cpp$")
      get_filename_component(folder "${source}" DIRECTORY)
      if(HPL_JOIN_SOURCES STREQUAL "ROOMS")
        string(REGEX REPLACE "/?detail$" "" folder "${folder}")
      endif()
      string(MAKE_C_IDENTIFIER "in_${folder}" id)
      list(APPEND folders ${id})
      list(APPEND sources_of_${id} "${source}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(number 0)
  foreach(id IN LISTS folders)
    # Groups of about one size: the largest decides how long the build takes.
    list(LENGTH sources_of_${id} count)
    math(EXPR groups "(${count} + ${most} - 1) / ${most}")
    math(EXPR size "(${count} + ${groups} - 1) / ${groups}")
    math(EXPR last "${count} - 1")
    foreach(begin RANGE 0 ${last} ${size})
      list(SUBLIST sources_of_${id} ${begin} ${size} part)
      math(EXPR number "${number} + 1")
      set_source_files_properties(${part} PROPERTIES UNITY_GROUP ${target}_${number})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A joined source is a header to GCC, where anonymous namespaces would be a mistake.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
