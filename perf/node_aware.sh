#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The experiments of the node-aware paper (Pearson et al. 2020, section IV), in the library's names.
# Usage: perf/node_aware.sh [FOLDER] (default: perf/results/latest). Writes node_aware.csv, node_exchange.csv,
# node_links.csv, node_racks.csv and, with matplotlib, pictures. In the environment: ROUNDS (default 7), RATE (default 1gbit),
# MOST_NODES (default 256).
#
#   Fig. 11        placement of six blocks on a node of Summit: seconds on its links, by the paper's cost
#   Fig. 12a       an exchange within this machine, with the ways of cells switched on one by one: measured
#   Figs 12b, 13   weak and strong scaling to 256 nodes of six devices: bytes of plans and of dry runs, and their model
#   links          six ranks on two namespaces with a throttled link between them: best, listed and worst order of the
#                  blocks, and where the library puts them: measured, as root only
#
#   racks          four nodes in two racks with a throttled link between them, which placement can and cannot use:
#                  measured, as root only; and placements on up to 256 nodes by two methods
#
# One machine shows what the library's own work costs, and what a slow link costs. It cannot show links between GPUs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-perf/results/latest}
mkdir -p "$out"
rounds=${ROUNDS:-7}
bin=build/release/perf
if [ ! -x $bin/hpl_node_exchange ] || [ ! -x $bin/hpl_node_aware ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" --target hpl_node_exchange hpl_node_aware >/dev/null
fi

echo "Figs 11, 12b and 13: plans and dry runs"
perf/node_aware.py --most "${MOST_NODES:-256}" --csv "$out/node_aware.csv" $bin/hpl_node_aware

printf '\nFig. 12a: measured on this machine (the paper: +remote takes 6 times as long as all methods)\n'
perf/node_aware/methods.py --rounds "$rounds" --csv "$out/node_exchange.csv" $bin/hpl_node_exchange

printf '\nSix ranks on two nodes, a link of %s between them: ms of a step\n' "${RATE:-1gbit}"
if [ "$(id -u)" = 0 ] && command -v ip >/dev/null && command -v mpirun >/dev/null; then
  perf/node_aware/links.sh "$rounds" "${RATE:-1gbit}" "$out/node_links.csv" $bin/hpl_node_exchange
  printf '\nFour nodes in two racks, a link of %s between them: ms of a step\n' "${RATE:-1gbit}"
  perf/node_aware/racks.sh "$rounds" "${RATE:-1gbit}" "$out/node_racks.csv" $bin/hpl_node_exchange
else
  echo "left out: it needs root, iproute2 and Open MPI"
fi
if python3 -c 'import matplotlib' 2>/dev/null; then
  perf/plot_node_aware.py "$out"
else
  echo "no pictures: Python has no matplotlib"
fi
