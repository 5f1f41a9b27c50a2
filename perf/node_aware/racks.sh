#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: perf/node_aware/racks.sh ROUNDS RATE CSV PROGRAM: four nodes in two racks, the second and third of the list in
# another rack than the first and fourth, for perf/node_aware.sh.
set -euo pipefail
rounds=$1 rate=$2 csv=$3 program=$(realpath "$4")
. "$(dirname "${BASH_SOURCE[0]}")/../ranks/two_racks.sh"
trap remove_racks EXIT
make_racks
throttle_between_racks "$rate"
echo "round,placement,seconds" >"$csv"
# The links are measured by each run: about ten messages of 256 KiB between each two nodes.
export HPL_DEVICES=cpu:0 HPL_CACHE=off
for round in $(seq "$rounds"); do
  for placement in auto off; do
    seconds=$(on_racks 1 -x HPL_DEVICES -x HPL_CACHE -x HPL_PLACEMENT=$placement "$program" "${SIDE:-48}" 30 placed)
    echo "$round,$placement,$seconds" >>"$csv"
  done
done
python3 - "$csv" <<'PY'
import csv, statistics, sys
seconds = {}
for row in csv.DictReader(open(sys.argv[1], encoding="utf-8")):
    seconds.setdefault(row["placement"], []).append(float(row["seconds"]))
best = statistics.median(seconds["auto"])
for placement, values in seconds.items():
    median = statistics.median(values)
    print(f"HPL_PLACEMENT={placement:5}{1e3 * median:9.2f} ms {median / best:6.2f}")
PY
