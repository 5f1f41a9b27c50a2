#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Time tiling: the overlapped tiling paper's figures 6 and 7 with our numbers.
# Usage: perf/time_tiles.sh [--plots-only] [FOLDER] (default: perf/results/latest)
# Measures (ten minutes to half an hour), writes CSV files, and draws them where Python has matplotlib.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

measure=1
if [ "${1:-}" = --plots-only ]; then measure=0; shift; fi
out=${1:-perf/results/latest}
mkdir -p "$out"

if [ "$measure" = 1 ]; then
  # Tiles that were tuned on this machine before do not count.
  HPL_CACHE_DIR=$(mktemp -d)
  export HPL_CACHE_DIR
  trap 'rm -rf "$HPL_CACHE_DIR"' EXIT
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" --target hpl_time_tile_bench >/dev/null
  build/release/perf/hpl_time_tile_bench --csv "$out/time_tiles.csv"
  build/release/perf/hpl_time_tile_bench --program "2-D 5" --sweep "$out/time_tiles_sweep.csv" --tune 60
fi

if ! python3 -c 'import matplotlib' 2>/dev/null; then
  echo "no plots: Python has no matplotlib (Debian: apt-get install python3-matplotlib)" >&2
  exit 0
fi
perf/plot_time_tiles.py programs "$out/time_tiles.csv" "$out/time_tiles.svg"
perf/plot_time_tiles.py sweep "$out/time_tiles_sweep.csv" "$out/time_tiles_sweep.svg"
