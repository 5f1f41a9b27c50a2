#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two devices of which one has half a core: how much of the sum of what they do alone do they reach
# together, with equal shares and with measured weights?
# Usage: perf/uneven.sh [ROUNDS] (default: 9). Prints CSV.
#
# The devices are the halves of a CPU with two cores, PoCL pins the threads of each to its own core
# (POCL_AFFINITY), and a competitor takes half of the first core while everything is measured.
# Where that is allowed (root), all of it runs with real-time priority, so that what else the
# machine does hardly matters; else the machine has to be idle.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${SHARES_BENCH:-build/release/perf/hpl_shares_bench}
if [ ! -x "$program" ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" --target hpl_shares_bench >/dev/null
fi
realtime=(chrt --fifo 1)
"${realtime[@]}" true 2>/dev/null || realtime=()
exec 3< <(exec perf/competitor.py --core 0 --share 0.5)
competitor=$!
trap 'kill "$competitor" 2>/dev/null || true' EXIT
read -r _ <&3
POCL_AFFINITY=1 HPL_DEVICES="cpu:0/2" "${realtime[@]}" "$program" --uneven "${1:-9}"
