#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first start of sample programs, with no compiled kernel on the disk, and the second: medians
# of seconds of whole processes, a first and a second one by turns.
# Usage: perf/cold_start.sh [PAIRS] [FOLDER OF PROGRAMS] (default: 7, build/release/bin)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pairs=${1:-7}
programs=$(realpath "${2:-build/release/bin}")
if [[ $# -lt 2 ]]; then
  cmake --preset release >/dev/null
  cmake --build --preset release --target canny acoustic life cg shwa -j "$(nproc)" >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The drivers' caches: of PoCL, Mesa, NVIDIA.
export HPL_CACHE_DIR=$work/ours POCL_CACHE_DIR=$work/pocl
export MESA_SHADER_CACHE_DIR=$work/mesa CUDA_CACHE_PATH=$work/cuda

seconds() {
  local begin end
  begin=$(date +%s.%N)
  "$@" >"$work/output" 2>&1 || { cat "$work/output" >&2; exit 1; }
  end=$(date +%s.%N)
  awk "BEGIN {print $end - $begin}"
}
median() { sort -n "$1" | awk '{v[NR] = $1} END {printf "%.2f", v[int((NR + 1) / 2)]}'; }

# Few steps: the time to the first result, not the work.
echo "program,first_s,second_s"
for command in "canny" "acoustic --steps 8" "life --generations 8" "cg --iterations 8" \
  "shwa --iterations 8"; do
  read -ra words <<<"$command"
  rm -f first second
  for _ in $(seq "$pairs"); do
    rm -rf ours pocl mesa cuda
    mkdir ours pocl mesa cuda
    seconds "$programs/${words[0]}" "${words[@]:1}" >>first
    seconds "$programs/${words[0]}" "${words[@]:1}" >>second
  done
  echo "$command,$(median first),$(median second)"
done
