#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Persistent kernels whose groups are on two nodes, network namespaces of this machine with one group each, beside launches
# and time tiles: what perf/cpu_free.sh measures in one process.
#
# Usage: perf/cpu_free_nodes.sh [DIMS [PROGRAM]]   (default: 2, build/release/perf/hpl_cpu_free_bench)
#
# Needs root, iproute2 and Open MPI. HPL_RANKS_WAIT says how the couriers wait. The groups take as many cores as there are
# nodes: where the machine has no others, an exchange lasts as long as the turns that its system gives.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${2:-$root/build/release/perf/hpl_cpu_free_bench}")
. "$root/perf/ranks/two_nodes.sh"
trap remove_nodes EXIT
make_nodes
export HPL_DEVICES=cpu:0 HPL_UNITS=own POCL_MAX_PTHREAD_COUNT=1 HPL_RANKS_WAIT=${HPL_RANKS_WAIT:-sleep}
on_nodes 1 -x HPL_DEVICES -x HPL_UNITS -x POCL_MAX_PTHREAD_COUNT -x HPL_RANKS_WAIT "$program" --rounds "${ROUNDS:-5}" --only "${1:-2}"
