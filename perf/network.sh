#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How much of a slow network a step hides: two ranks in network namespaces of this machine, joined by a throttled link.
#
# Usage: perf/network.sh [RATE [STEPS [PROGRAM]]]   (default: 1gbit, 40 steps, build/release/perf/hpl_rank_bench)
#
# Needs root, iproute2 and Open MPI. Each step exchanges a row of 2 MiB in either direction (16.8 ms at 1 Gbit/s) beside an
# interior, which is about as long with 48 rows and longer with more (ROWS=96 perf/network.sh). Shown are milliseconds a step
# with the link open, then throttled, with the interior's launch behind the exchange (HPL_OVERLAP=off) and beside it (on),
# the last as a multiple of max(interior, wire), and by the stamps of its timeline (network.json) how much of the messages
# went on beside kernels. Each node's PoCL has half of this machine's cores (POCL_MAX_PTHREAD_COUNT), on which the courier
# and the kernel's network code run, too. That takes processor time, which an interior on all cores cannot hide.
# Only ratios within one run count.
set -eu
rate=${1:-1gbit} steps=${2:-40} rows=${ROWS:-48}
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${3:-$root/build/release/perf/hpl_rank_bench}")
. "$root/perf/ranks/two_nodes.sh"
trap remove_nodes EXIT
make_nodes
cores=$(nproc)
export POCL_MAX_PTHREAD_COUNT=${POCL_MAX_PTHREAD_COUNT:-$((cores > 1 ? cores / 2 : 1))}

# Seconds a step with the given value of HPL_OVERLAP, and more options of mpirun; and those of the courier's processor time.
step() {
  local overlap=$1
  shift
  HPL_OVERLAP=$overlap HPL_DEVICES=${HPL_DEVICES:-cpu:0} RANK_BENCH_ROWS=$rows \
    on_nodes 1 -x HPL_OVERLAP -x HPL_DEVICES -x RANK_BENCH_ROWS "$@" "$program" wide "$steps" | cut -d' ' -f1,4
}

read -r open _ < <(step on)
throttle "$rate"
read -r off _ < <(step off)
read -r on courier < <(step on -x HPL_TRACE=network.json)
awk -v open="$open" -v off="$off" -v on="$on" -v courier="$courier" -v rate="$rate" 'BEGIN {
  bits = rate + 0
  if (rate ~ /gbit/) bits *= 1e9; else if (rate ~ /mbit/) bits *= 1e6
  wire = 2097152 * 8 / bits
  most = wire > open ? wire : open
  hidden = (off - on) / wire
  printf "link open           %8.1f ms\n", open * 1e3
  printf "wire alone          %8.1f ms\n", wire * 1e3
  printf "%s, overlap off  %8.1f ms\n", rate, off * 1e3
  printf "%s, overlap on   %8.1f ms: %.2f x max(interior, wire), %.0f %% of the wire hidden\n", rate, on * 1e3, on / most, hidden * 100
  printf "courier, processor  %8.1f ms\n", courier * 1e3
}'
"$root/perf/ranks/hidden.py" network.json
