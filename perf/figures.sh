#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Table II and Figures 11, 13 and 15 of the stencil paper, for the samples of this repository.
# Usage: perf/figures.sh [--plots-only] [FOLDER] (default: perf/results/latest)
# Measures (some ten minutes), writes CSV files, and draws them as SVG and PNG where Python has
# matplotlib (Debian: python3-matplotlib). With --plots-only it draws the CSV files that are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

measure=1
if [ "${1:-}" = --plots-only ]; then measure=0; shift; fi
out=${1:-perf/results/latest}
mkdir -p "$out"

table2() {
  local files=() application file
  for application in canny gauss jacobi3d life shwa; do
    for file in samples/"$application"/host_*.cpp samples/common/row_parts.h; do
      files+=("$application=$file")
    done
  done
  files+=("canny=samples/canny/row_views.h")
  python3 perf/sloc.py --csv --reduction annotations/subarrays --reduction sync/subarrays \
    --reduction sync/annotations --reduction auto/subarrays "${files[@]}"
}

if [ "$measure" = 1 ]; then
  table2 >"$out/table2.csv"
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" >/dev/null
  perf/applications.py --bin build/release/bin --out "$out/applications.csv"
fi

if ! python3 -c 'import matplotlib' 2>/dev/null; then
  echo "no plots: Python has no matplotlib (Debian: apt-get install python3-matplotlib)" >&2
  exit 0
fi
for figure in figure11 figure13 figure15; do
  perf/plot.py "$figure" "$out/applications.csv" "$out/$figure.svg" "$out/$figure.png"
done
