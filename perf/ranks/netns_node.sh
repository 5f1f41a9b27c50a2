#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What mpirun calls in place of ssh for perf/network.sh: HOST COMMAND... Runs the command in the
# network namespace HOST, under that host name.
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
