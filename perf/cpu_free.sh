#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The time loop inside the kernel, on one device, on two parts of one (they share a context), on two copies of one (they
# do not), and on two ranks, processes that share memory.
#  - cpu_free.csv: Jacobi in one to three dimensions on small domains, launched step by step with and without waiting, in
#    time tiles, as a persistent kernel whose groups wait for their neighbours or for all, with looks at the residual, and
#    as the library chooses. On several devices the one of one dimension exchanges single elements, and the square in
#    columns strided borders (the thesis's Figure 6.3).
#  - cpu_free_contenders.csv: the contenders of the thesis on CPU-free execution, by hand, with and without arithmetic, and
#    the library, at the thesis's sizes (its Figures 2.2, 6.1 and 6.2); two pictures, where matplotlib is installed.
# Usage: perf/cpu_free.sh [FOLDER] (default: perf/results/latest). Takes about ten minutes.
# ROUNDS and MILLISECONDS (of a measurement) may be set in the environment, and DEVICES, a list of HPL_DEVICES and "ranks".
set -euo pipefail
set -f  # devices are named with stars
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-perf/results/latest}
mkdir -p "$out"
bench=${CPU_FREE_BENCH:-build/release/perf/hpl_cpu_free_bench}
contenders=${CPU_FREE_CONTENDERS:-build/release/perf/hpl_cpu_free_contenders}
if [ ! -x "$bench" ] || [ ! -x "$contenders" ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" --target hpl_cpu_free_bench hpl_cpu_free_contenders >/dev/null
fi
how=(--rounds "${ROUNDS:-9}" --milliseconds "${MILLISECONDS:-20}")
echo "devices,domain,way,us_per_step,low,high,rounds" >"$out/cpu_free.csv"
echo "devices,domain,count,computes,contender,us_per_step,low,high,rounds" >"$out/cpu_free_contenders.csv"
for devices in ${DEVICES:-cpu:0 cpu:0/2 cpu:0*2 ranks}; do
  echo "$devices"
  setting=(HPL_DEVICES="$devices")
  [ "$devices" != ranks ] || setting=(HPL_RANKS=2 HPL_DEVICES=cpu:0)
  env "${setting[@]}" "$bench" --csv "$out/cpu_free.csv" "${how[@]}"
  case $devices in
    *[/*]*) env "${setting[@]}" "$contenders" --csv "$out/cpu_free_contenders.csv" "${how[@]}" ;;
  esac
done
perf/plot_cpu_free.py "$out/cpu_free_contenders.csv" "$out/cpu_free.svg" || true
