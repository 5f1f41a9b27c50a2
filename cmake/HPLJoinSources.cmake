# SPDX-License-Identifier: Apache-2.0
# Most of what a source of HPL costs the compiler is reading headers and instantiating the standard
# library's templates. Sources of one folder are therefore compiled a few at a time, as one ("unity"
# build): a quarter of the processor time. clang-tidy and the syntax check of scripts/test.sh see
# every source alone, so that none lives on the includes of another.
option(HPL_JOIN_SOURCES "Compile several sources of a folder as one" ON)

# hpl_join_sources(TARGET [MOST]): joins the target's sources folder by folder, at most MOST
# (default 10) at once. A source with SKIP_UNITY_BUILD_INCLUSION stays alone. To be called in the
# folder that made the target, after its last source was added.
function(hpl_join_sources target)
  if(NOT HPL_JOIN_SOURCES)
    return()
  endif()
  set(most 10)
  if(ARGC GREATER 1)
    set(most ${ARGV1})
  endif()
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(folders "")
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cpp$")
      get_filename_component(folder "${source}" DIRECTORY)
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
      set_source_files_properties(${part} PROPERTIES UNITY_GROUP ${number})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A joined source is a header to GCC, where anonymous namespaces would be a mistake.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
