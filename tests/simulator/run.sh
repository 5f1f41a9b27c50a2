#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: run.sh OCLGRIND PROGRAM [ARGUMENT...]
# Runs a program on the simulated device. The simulator exits with the program's status even when it
# found errors, so what decides is its log: it must be empty.
set -eu

oclgrind=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT

status=0
"$oclgrind" --data-races --uniform-writes --check-api --log "$log" "$@" || status=$?
if [ -s "$log" ]; then
  echo "the simulator reports:"
  cat "$log"
  exit 1
fi
exit "$status"
