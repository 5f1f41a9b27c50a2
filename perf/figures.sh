#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Table II and Figures 10, 11, 13, 14 and 15 of the stencil paper, for the programs in
# perf/evaluation and the kernels in perf/templates.
# Usage: perf/figures.sh [--plots-only | --templates-only | --applications-only] [FOLDER]
# Measures (some ten minutes), writes CSV files into FOLDER (default: perf/results/latest), and draws
# them as SVG and PNG where Python has matplotlib (Debian: python3-matplotlib). With --plots-only it
# draws the CSV files that are there, with --templates-only it measures Figures 10 and 14 alone (three
# minutes), with --applications-only Figures 11, 13 and 15 (four).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

measure=all
case "${1:-}" in
  --plots-only) measure=nothing; shift ;;
  --templates-only) measure=templates; shift ;;
  --applications-only) measure=applications; shift ;;
  --*) sed -n 's/^# \(Usage.*\)/\1/p' "$0" >&2; exit 2 ;;
esac
out=${1:-perf/results/latest}
mkdir -p "$out"

table2() {
  local files=() application file
  for application in canny gauss jacobi3d life shwa; do
    for file in perf/evaluation/"$application"/host_*.cpp samples/"$application"/*.cpp \
      perf/evaluation/row_parts.h; do
      files+=("$application=$file")
    done
  done
  files+=("canny=perf/evaluation/canny/row_views.h")
  python3 perf/sloc.py --csv --reduction annotations/subarrays --reduction sync/subarrays \
    --reduction sync/annotations --reduction auto/subarrays "${files[@]}"
}

# Figure 10 counts kernels: with local memory by hand, through the in-kernel templates, as plain
# kernels of the library, and as point functions of launch-level stencils.
kernels() {
  local files=() application
  for application in canny gauss jacobi3d life shwa; do
    files+=("$application=perf/templates/$application.h")
    [ "$application" = life ] ||
      files+=("$application=perf/evaluation/$application/kernels.h")
  done
  files+=(canny=samples/canny/{values.h,points.h} gauss=samples/gauss/mean.h
    jacobi3d=samples/jacobi3d/solve.cpp shwa=samples/shwa/kernels.h)
  for application in canny gauss life; do files+=("$application=perf/templates/by_hand.h"); done
  python3 perf/sloc.py --csv --styles byhand,template,point,plain "${files[@]}"
}

build() { cmake --build --preset release -j "$(nproc)" --target "$@" >/dev/null; }

[ "$measure" = nothing ] || cmake --preset release >/dev/null
if [ "$measure" = all ] || [ "$measure" = templates ]; then
  kernels >"$out/kernels.csv"
  build hpl_template_bench
  build/release/perf/hpl_template_bench --csv "$out/templates.csv"
fi
if [ "$measure" = all ] || [ "$measure" = applications ]; then
  [ "$measure" = applications ] || table2 >"$out/table2.csv"
  build hpl_evaluation_bench
  perf/evaluation.py --bench build/release/perf/hpl_evaluation_bench \
    --out "$out/applications.csv"
fi
has() { [ -f "$out/applications.csv" ] && grep -q "^$1," "$out/applications.csv"; }
for figure in figure11 figure13; do
  has $figure || continue
  echo "$figure: syncGhosts against ghosts updated by hand, both with annotations"
  perf/plot.py --numbers --base annotations $figure "$out/applications.csv" |
    grep -E '^(series|syncGhosts)'
done
if has figure15; then
  echo "figure15: the best width of the ghosts"
  perf/plot.py --best figure15 "$out/applications.csv" | tee "$out/best_widths.csv"
fi

if ! python3 -c 'import matplotlib' 2>/dev/null; then
  echo "no plots: Python has no matplotlib (Debian: apt-get install python3-matplotlib)" >&2
  exit 0
fi
draw() {  # CSV FIGURE...
  local csv=$out/$1 figure
  shift
  [ -f "$csv" ] || { echo "no plots of $*: there is no $csv" >&2; return; }
  for figure in "$@"; do perf/plot.py "$figure" "$csv" "$out/$figure.svg" "$out/$figure.png"; done
}
draw kernels.csv figure10
draw templates.csv figure14
draw applications.csv figure11 figure13 figure15
