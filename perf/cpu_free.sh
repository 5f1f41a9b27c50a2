#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The time loop inside the kernel, on one device, on two parts of one (they share a context) and on two copies of one
# (they do not), and on two ranks, processes that share memory: Jacobi in one to three dimensions on small domains, launched step by step with and without waiting, in
# time tiles, as a persistent kernel with and without looks at the residual, and as the library chooses.
# Usage: perf/cpu_free.sh [FOLDER] (default: perf/results/latest). Takes some minutes; writes cpu_free.csv.
# ROUNDS and MILLISECONDS (of a measurement) may be set in the environment, and DEVICES, a list of HPL_DEVICES and "ranks".
set -euo pipefail
set -f  # devices are named with stars
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-perf/results/latest}
mkdir -p "$out"
program=${CPU_FREE_BENCH:-build/release/perf/hpl_cpu_free_bench}
if [ ! -x "$program" ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" --target hpl_cpu_free_bench >/dev/null
fi
echo "devices,domain,way,us_per_step,low,high,rounds" >"$out/cpu_free.csv"
for devices in ${DEVICES:-cpu:0 cpu:0/2 cpu:0*2 ranks}; do
  echo "$devices"
  case $devices in
    ranks) setting="HPL_RANKS=2 HPL_DEVICES=cpu:0" ;;
    *) setting=HPL_DEVICES=$devices ;;
  esac
  env $setting "$program" --csv "$out/cpu_free.csv" --rounds "${ROUNDS:-9}" --milliseconds "${MILLISECONDS:-20}"
done
