#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark and writes CSV files. Usage: perf/run.sh [FOLDER] (default: perf/results/latest)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-perf/results/latest}
mkdir -p "$out"
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)" >/dev/null
for program in build/release/perf/hpl_*_bench; do
  name=$(basename "$program")
  echo "== $name"
  if [[ $name == hpl_stencil_bench ]]; then
    "$program" --csv "$out/stencils.csv"
    continue
  fi
  if [[ $name == hpl_time_tile_bench ]]; then
    "$program" --csv "$out/time_tiles.csv"
    continue
  fi
  "$program" --benchmark_out="$out/${name#hpl_}.csv" --benchmark_out_format=csv
done
perf/compile_time.sh | tee "$out/compile_time.csv"
{ date -u +%F; uname -m; grep -m1 'model name' /proc/cpuinfo; nproc; } >"$out/machine.txt"
