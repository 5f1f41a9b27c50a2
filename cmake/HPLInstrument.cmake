# SPDX-License-Identifier: Apache-2.0
# Sanitizers and coverage, chosen by a preset. -O1 keeps the sanitized programs fast enough to run
# the whole suite, and keeps readable stacks.
set(HPL_SANITIZE "" CACHE STRING "Sanitizers for every target: 'address,undefined' or 'thread'")
option(HPL_COVERAGE "Count executed lines (gcov)" OFF)

if(HPL_SANITIZE)
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer -fsanitize=${HPL_SANITIZE})
  add_link_options(-fsanitize=${HPL_SANITIZE})
  if(HPL_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
if(HPL_COVERAGE)
  # Tests run in parallel and a program with threads counts from several: both need atomic updates.
  add_compile_options(--coverage -fprofile-update=atomic -fprofile-abs-path)
  add_link_options(--coverage)
endif()
