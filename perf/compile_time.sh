#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compile time of samples/saxpy.cpp against a file that only includes CL/opencl.hpp: medians of
# interleaved pairs. Usage: perf/compile_time.sh [PAIRS]; CXX chooses the compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pairs=${1:-7}
cxx=${CXX:-g++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <CL/opencl.hpp>\nint main() {}\n' >"$work/twin.cpp"

seconds() {
  local begin end
  begin=$(date +%s.%N)
  "$cxx" -std=c++20 -O2 -I. -DCL_HPP_TARGET_OPENCL_VERSION=120 -DCL_TARGET_OPENCL_VERSION=120 \
    -DCL_HPP_MINIMUM_OPENCL_VERSION=120 -DHPL_SAMPLES_DIR='"samples"' -c "$1" -o "$work/out.o"
  end=$(date +%s.%N)
  awk "BEGIN {print $end - $begin}"
}
for _ in $(seq "$pairs"); do
  seconds samples/saxpy.cpp >>"$work/ours"
  seconds "$work/twin.cpp" >>"$work/twins"
done
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
ours=$(median "$work/ours")
twin=$(median "$work/twins")
echo "name,ours_s,twin_s,ratio"
echo "compile/saxpy.cpp,$ours,$twin,$(awk "BEGIN {printf \"%.3f\", $ours / $twin}")"
