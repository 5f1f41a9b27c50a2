#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints a table: the library's time by that of the best of the others, row by row.
# Usage: perf/peers.sh [--csv FILE] [ARGUMENT...]; the arguments are hpl_peers_bench's (--row, --rounds).
# PEERS_BENCH names the program, to measure one that has been built already.
#
# Contenders in Python (perf/peers/*.py) that are not installed are named and skipped. They run after
# the others, not in turns with them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
csv=
if [[ ${1:-} == --csv ]]; then
  csv=$2
  shift 2
fi
program=${PEERS_BENCH:-build/release/perf/hpl_peers_bench}
if [[ -z ${PEERS_BENCH:-} ]]; then
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" --target hpl_peers_bench >/dev/null
fi
measured=$(mktemp)
trap 'rm -f "$measured"' EXIT
OMP_WAIT_POLICY=passive "$program" "$@" >"$measured"
for script in perf/peers/*_peer.py; do
  [[ -e $script ]] || continue
  status=0
  python3 "$script" "$measured" || status=$?
  if ((status == 77)); then
    echo "skipped: $(basename "$script" _peer.py), which is not installed"
  elif ((status != 0)); then
    exit "$status"
  fi
done
[[ -z $csv ]] || cp "$measured" "$csv"
python3 perf/peers/table.py "$measured"
