# SPDX-License-Identifier: Apache-2.0
# Runs every sample as a test, and once more at a small size under the OpenCL simulator oclgrind,
# which finds data races, accesses out of bounds and diverging barriers.

# Arguments of the tests; a sample without an entry runs without arguments.
set(life_args --pattern r-pentomino --size 256 -n 200 --check --no-progress)
set(mandelbrot_args --width 300 --height 200)

# The simulator runs less than a million work-items per second, each a hundred times slower.
set(life_simulator_args --pattern glider --size 24 -n 3 --check --no-progress)
set(mandelbrot_simulator_args --width 48 --height 32 -n 50)
set(matmul_simulator_args 32)
set(reduction_simulator_args 512)
set(saxpy_simulator_args 1000)

find_program(HPL_OCLGRIND oclgrind DOC "OpenCL device simulator")

get_property(samples GLOBAL PROPERTY HPL_SAMPLES)
foreach(name IN LISTS samples)
  add_test(NAME sample_${name} COMMAND sample_${name} ${${name}_args}
           WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  hpl_test_properties(sample_${name} samples)

  # A sanitizer's runtime and the simulator's preloaded library exclude each other.
  if(HPL_OCLGRIND AND NOT HPL_SANITIZE)
    add_test(NAME simulator_${name}
      COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/simulator/run.sh" "${HPL_OCLGRIND}"
              "$<TARGET_FILE:sample_${name}>" ${${name}_simulator_args}
      WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    hpl_test_properties(simulator_${name} simulator)
  endif()
endforeach()
