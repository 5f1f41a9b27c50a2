# SPDX-License-Identifier: Apache-2.0
# Runs every sample as a test, and once more at a small size under the OpenCL simulator oclgrind,
# which finds data races, accesses out of bounds and diverging barriers.

# Arguments of the tests; a sample without an entry runs without arguments.
set(acoustic_args --size 150 -n 200 --drift 0.1 --check)
set(canny_args --size 301x203 --check --no-progress)
set(epsilod_args --size 60x47 --stencil 2d9nc -n 20 --check --no-progress)
set(fdtd2d_args --size 200 -n 90 --check)
set(heat2d_args --size 300 -n 70 --check)
set(gauss_args --size 150x110 -n 4 --check --no-progress)
set(jacobi3d_args --size 24 -n 150 --points 27 --check --no-progress)
set(life_args --pattern r-pentomino --size 256 -n 200 --check --no-progress)
set(shwa_args --size 66x50 -n 200 --check --no-progress)
set(mandelbrot_args --width 300 --height 200)
set(cg_args --size 100 --ring --check --no-progress)
set(grayscott_args --size 96 -n 300 --check --no-progress)
set(ising_args --size 64 -n 60 --hot --check --no-progress)
set(kmeans_args --size 120 --check --no-progress)
set(lbm_args --size 40 -n 300 --check --no-progress)
set(multigrid_args --size 128 --check --no-progress)
set(nbody_args --bodies 512 -n 40 --check --no-progress)

set(pattern_kernel_args "${PROJECT_SOURCE_DIR}/samples/patterns/star4.pattern")

# The simulator runs less than a million work-items per second, each a hundred times slower.
# More than one tile of the hysteresis in both directions.
set(acoustic_simulator_args --size 64 -n 2 --drift 1 --check)
set(canny_simulator_args --size 262x36 --low 5 --high 60 --check --no-progress)
set(epsilod_simulator_args --size 16x12 --kernel native -n 3 --check --no-progress)
set(fdtd2d_simulator_args --size 20 -n 5 --time-tile 3 --check)
set(heat2d_simulator_args --size 20 -n 6 --time-tile 3 --check)
set(gauss_simulator_args --size 24x16 -n 2 --check --no-progress)
set(jacobi3d_simulator_args --size 8 -n 2 --every 1 --check --no-progress)
set(life_simulator_args --pattern glider --size 24 -n 3 --check --no-progress)
set(mandelbrot_simulator_args --width 48 --height 32 -n 50)
set(matmul_simulator_args 32)
set(pattern_kernel_simulator_args "${PROJECT_SOURCE_DIR}/samples/patterns/upwind5.pattern")
set(cg_simulator_args --size 12 --ring --tolerance 1e-3 --check --no-progress)
set(grayscott_simulator_args --size 20 -n 6 --check --no-progress)
set(ising_simulator_args --size 16 -n 4 --hot --check --no-progress)
set(kmeans_simulator_args --size 16 -n 2 --check --no-progress)
set(lbm_simulator_args --size 16 -n 4 --check --no-progress)
set(multigrid_simulator_args --size 16 -n 2 --check --no-progress)
set(nbody_simulator_args --bodies 64 -n 3 --check --no-progress)
set(reduction_simulator_args 512)
set(saxpy_simulator_args 1000)
set(shwa_simulator_args --size 14x11 -n 2 --check --no-progress)

find_program(HPL_OCLGRIND oclgrind DOC "OpenCL device simulator")

get_property(samples GLOBAL PROPERTY HPL_SAMPLES)
foreach(name IN LISTS samples)
  add_test(NAME sample_${name} COMMAND sample_${name} ${${name}_args}
           WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  hpl_test_properties(sample_${name} samples)

  # A sanitizer's runtime and the simulator's preloaded library exclude each other.
  if(HPL_OCLGRIND AND NOT HPL_SANITIZE)
    set(strategies direct)
    if(name MATCHES "^(canny|gauss|jacobi3d|life)$")
      list(APPEND strategies rows tile stream)
    endif()
    # Time tiles of one work-item, in vectors, and of groups.
    if(name MATCHES "^(acoustic|fdtd2d|heat2d)$")
      set(strategies auto tile)
    endif()
    if(name STREQUAL "canny")
      # The simulator (oclgrind 21.10) widens vectors of truth values with their sign, so that 1
      # becomes 255 in a vector of uchar, on which this sample's directions depend.
      list(REMOVE_ITEM strategies rows)
    endif()
    foreach(strategy IN LISTS strategies)
      add_test(NAME simulator_${name}_${strategy}
        COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/simulator/run.sh" "${HPL_OCLGRIND}"
                "$<TARGET_FILE:sample_${name}>" ${${name}_simulator_args}
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
      hpl_test_properties(simulator_${name}_${strategy} simulator)
      set_property(TEST simulator_${name}_${strategy} APPEND PROPERTY
        ENVIRONMENT "HPL_STRATEGY=${strategy}")
    endforeach()
  endif()
endforeach()

# The skeleton's ranks and blocks, each rank with its own cells to check.
foreach(kind IN ITEMS "specific 2d5 1x1 1" "generic 2d9nc 1x3 3" "native 2d4 1x1 2" "specific 2d9 2x2 4")
  separate_arguments(kind)
  list(GET kind 0 kernel)
  list(GET kind 1 stencil)
  list(GET kind 2 blocks)
  list(GET kind 3 ranks)
  set(blocks_args)
  if(NOT blocks STREQUAL "1x1")
    set(blocks_args --blocks ${blocks})
  endif()
  add_test(NAME sample_epsilod_${kernel}_${ranks}
    COMMAND sample_epsilod --size 50x41 --stencil ${stencil} --kernel ${kernel} ${blocks_args} -n 9
            --check --no-progress
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  hpl_test_properties(sample_epsilod_${kernel}_${ranks} samples)
  set_property(TEST sample_epsilod_${kernel}_${ranks} APPEND PROPERTY
    ENVIRONMENT "HPL_RANKS=${ranks}")
endforeach()

# Arguments that make no sense, and files that are none.
add_test(NAME samples_hostile_arguments
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/samples/hostile_arguments.py"
          "${PROJECT_BINARY_DIR}/bin"
  WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
hpl_test_properties(samples_hostile_arguments samples)

# The same output and pictures on several ranks as in one process; where Mesa's rusticl is installed, also
# with a rank on a device of either vendor.
function(hpl_add_ranks_test name)
  add_test(NAME samples_${name}
    COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/samples/check_ranks.py"
            "${PROJECT_BINARY_DIR}/bin" ${ARGN}
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  hpl_test_properties(samples_${name} samples)
endfunction()
hpl_add_ranks_test(ranks)
if(TARGET hpl_evaluation_bench)
  hpl_add_ranks_test(ranks_evaluation --evaluation $<TARGET_FILE:hpl_evaluation_bench>)
endif()
# The loop over the steps in the kernel, on the ranks of a node.
hpl_add_ranks_test(ranks_persistent heat2d fdtd2d)
set(persistent_tests samples_ranks_persistent)
if(HPL_HAS_MPI)
  hpl_add_ranks_test(ranks_persistent_mpirun --mpirun "${MPIEXEC_EXECUTABLE}" heat2d)
  list(APPEND persistent_tests samples_ranks_persistent_mpirun)
  set_property(TEST samples_ranks_persistent_mpirun APPEND PROPERTY LABELS mpi)
endif()
set_property(TEST ${persistent_tests} APPEND PROPERTY ENVIRONMENT "HPL_STRATEGY=persistent")
if(HPL_RUSTICL)
  hpl_add_ranks_test(ranks_two_vendors --vendors)
  if(HPL_HAS_MPI)
    hpl_add_ranks_test(ranks_two_vendors_mpirun --vendors --mpirun "${MPIEXEC_EXECUTABLE}" life jacobi3d)
    set_property(TEST samples_ranks_two_vendors_mpirun APPEND PROPERTY LABELS mpi)
  endif()
endif()

# Parts and copies of a CPU on ranks, with the cores that each has asked for.
add_test(NAME samples_one_launch
  COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/samples/check_one_launch.py"
          "${PROJECT_BINARY_DIR}/bin"
  WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
hpl_test_properties(samples_one_launch samples)

# Borders first: the time stamps of an exchange and of the interior.
add_test(NAME samples_borders_first
  COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/samples/check_borders_first.py"
          "${PROJECT_BINARY_DIR}/bin"
  WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
hpl_test_properties(samples_borders_first samples)
