#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: perf/node_aware/links.sh ROUNDS RATE CSV PROGRAM: six ranks on two namespaces, for perf/node_aware.sh.
set -euo pipefail
rounds=$1 rate=$2 csv=$3 program=$(realpath "$4")
. "$(dirname "${BASH_SOURCE[0]}")/../ranks/two_nodes.sh"
trap remove_nodes EXIT
make_nodes
throttle "$rate"
echo "round,order,seconds" >"$csv"
export HPL_DEVICES=cpu:0
for round in $(seq "$rounds"); do
  for order in placed best list worst; do
    echo "$round,$order,$(on_nodes 3 -x HPL_DEVICES "$program" "${SIDE:-48}" 30 $order)" >>"$csv"
  done
  # The exchange of methods.py: what shares a message.
  for messages in ranks nodes fields; do
    seconds=$(on_nodes 3 -x HPL_DEVICES -x HPL_MESSAGES=$messages "$program" "${SIDE:-48}" 30)
    echo "$round,HPL_MESSAGES=$messages,$seconds" >>"$csv"
  done
done
python3 - "$csv" <<'PY'
import csv, statistics, sys
seconds = {}
for row in csv.DictReader(open(sys.argv[1], encoding="utf-8")):
    seconds.setdefault(row["order"], []).append(float(row["seconds"]))
for order, values in seconds.items():
    median = statistics.median(values)
    reference = "HPL_MESSAGES=ranks" if "=" in order else "best"
    print(f"{order:22}{1e3 * median:9.2f} ms {median / statistics.median(seconds[reference]):6.2f} of {reference}")
PY
