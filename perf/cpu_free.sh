#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The time loop inside the kernel, on one device: Jacobi in one to three dimensions on small domains, launched step by
# step with and without waiting, in time tiles, as a persistent kernel, and as the library chooses.
# Usage: perf/cpu_free.sh [FOLDER] (default: perf/results/latest). Takes some minutes; writes cpu_free.csv.
# ROUNDS and MILLISECONDS (of a measurement) may be set in the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-perf/results/latest}
mkdir -p "$out"
program=${CPU_FREE_BENCH:-build/release/perf/hpl_cpu_free_bench}
if [ ! -x "$program" ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" --target hpl_cpu_free_bench >/dev/null
fi
"$program" --csv "$out/cpu_free.csv" --rounds "${ROUNDS:-9}" --milliseconds "${MILLISECONDS:-20}"
