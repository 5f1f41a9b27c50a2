#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How much of a slow network a step hides: two ranks in network namespaces of this machine, joined by a throttled link.
#
# Usage: perf/network.sh [RATE [STEPS [PROGRAM]]]   (default: 1gbit, 40 steps, build/release/perf/hpl_rank_bench)
#
# Needs root, iproute2 and Open MPI. Each step exchanges a row of 2 MiB in either direction (16.8 ms at 1 Gbit/s) beside an
# interior of about as long or longer. Shown are milliseconds a step with the link open, then throttled, with the interior's
# launch behind the exchange (HPL_OVERLAP=off) and beside it (on), and the last as a multiple of max(interior, wire). The
# timeline of the last run is in network.json. Both ranks share this machine's cores: only ratios within one run count.
set -eu
rate=${1:-1gbit} steps=${2:-40}
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${3:-$root/build/release/perf/hpl_rank_bench}")
[ "$(id -u)" = 0 ] || { echo "perf/network.sh needs root: it makes network namespaces" >&2; exit 1; }
bridge=hplbr$$ first=hpla$$ second=hplb$$

clean() {
  ip netns del "$first" 2>/dev/null || true
  ip netns del "$second" 2>/dev/null || true
  ip link del "$bridge" 2>/dev/null || true
}
trap clean EXIT

ip link add "$bridge" type bridge
ip addr add 10.77.0.1/24 dev "$bridge"
ip link set "$bridge" up
number=10
for name in "$first" "$second"; do
  ip netns add "$name"
  ip link add "v$name" type veth peer name eth0 netns "$name"
  ip link set "v$name" master "$bridge" up
  ip -n "$name" addr add "10.77.0.$number/24" dev eth0
  ip -n "$name" link set eth0 up
  ip -n "$name" link set lo up
  number=$((number + 1))
done

throttle() {
  for name in "$first" "$second"; do
    ip netns exec "$name" tc qdisc replace dev eth0 root tbf rate "$rate" burst 256kb latency 400ms
  done
}

# Seconds a step with the given value of HPL_OVERLAP, and more options of mpirun.
step() {
  local overlap=$1
  shift
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HPL_OVERLAP=$overlap HPL_DEVICES=${HPL_DEVICES:-cpu:0} \
    mpirun --bind-to none --mca mpi_yield_when_idle 1 --mca plm_rsh_agent "$root/perf/ranks/netns_node.sh" \
    --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
    -x HPL_OVERLAP -x HPL_DEVICES "$@" --host "$first:1,$second:1" -n 2 "$program" wide "$steps" | cut -d' ' -f1
}

open=$(step on)
throttle
off=$(step off)
on=$(step on -x HPL_TRACE=network.json)
awk -v open="$open" -v off="$off" -v on="$on" -v rate="$rate" 'BEGIN {
  bits = rate + 0
  if (rate ~ /gbit/) bits *= 1e9; else if (rate ~ /mbit/) bits *= 1e6
  wire = 2097152 * 8 / bits
  most = wire > open ? wire : open
  hidden = (off - on) / wire
  printf "link open           %8.1f ms\n", open * 1e3
  printf "wire alone          %8.1f ms\n", wire * 1e3
  printf "%s, overlap off  %8.1f ms\n", rate, off * 1e3
  printf "%s, overlap on   %8.1f ms: %.2f x max(interior, wire), %.0f %% of the wire hidden\n", rate, on * 1e3, on / most, hidden * 100
}'
