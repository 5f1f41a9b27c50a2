#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark and writes CSV files. Usage: perf/run.sh [FOLDER] (default: perf/results/latest)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-perf/results/latest}
mkdir -p "$out"
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)" >/dev/null
measure() { "$1" --benchmark_out="$out/$2.csv" --benchmark_out_format=csv; }
for program in build/release/perf/hpl_*_bench; do
  name=$(basename "$program")
  [[ $name == hpl_evaluation_bench ]] && continue  # figures.sh
  echo "== $name"
  if [[ $name == hpl_peers_bench ]]; then
    OMP_WAIT_POLICY=passive "$program" >"$out/peers.csv"
    continue
  fi
  if [[ $name == hpl_stencil_bench ]]; then
    "$program" --csv "$out/stencils.csv"
    continue
  fi
  if [[ $name == hpl_time_tile_bench ]]; then
    "$program" --csv "$out/time_tiles.csv"
  elif [[ $name == hpl_template_bench ]]; then
    "$program" --csv "$out/templates.csv"
  elif [[ $name == hpl_tuning_bench ]]; then
    "$program" >"$out/tuning_bench.csv"
  elif [[ $name == hpl_distributed_bench ]]; then
    HPL_DEVICES="cpu:0/2" measure "$program" distributed_bench_2_subdevices
    HPL_DEVICES="cpu:0*2" measure "$program" distributed_bench_2_virtual
    HPL_DEVICES="cpu:0*3" measure "$program" distributed_bench_3_virtual
  elif [[ $name == hpl_exchange_bench ]]; then
    HPL_DEVICES="cpu:0/2" measure "$program" exchange_bench_2_subdevices
    HPL_DEVICES="cpu:0*2" measure "$program" exchange_bench_2_virtual
  elif [[ $name == hpl_shares_bench ]]; then
    HPL_DEVICES="cpu:0,cpu:0/2" measure "$program" shares_bench_1_and_1_units
    # PoCL runs three units on whatever cores there are.
    POCL_MAX_PTHREAD_COUNT=3 HPL_DEVICES="cpu:0,cpu:0/2" \
      measure "$program" shares_bench_2_and_1_units
  else
    measure "$program" "${name#hpl_}"
  fi
done
perf/compile_time.sh | tee "$out/compile_time.csv"
perf/cold_start.sh | tee "$out/cold_start.csv"
{ date -u +%F; uname -m; grep -m1 'model name' /proc/cpuinfo; nproc; } >"$out/machine.txt"
