# SPDX-License-Identifier: Apache-2.0
# Two network namespaces that stand for nodes, joined by a bridge whose links can be throttled. To be sourced; needs
# root, iproute2 and Open MPI. Sets first and second, their names.
[ "$(id -u)" = 0 ] || { echo "network namespaces need root" >&2; exit 1; }
bridge=hplbr$$ first=hpla$$ second=hplb$$

remove_nodes() {
  ip netns del "$first" 2>/dev/null || true
  ip netns del "$second" 2>/dev/null || true
  ip link del "$bridge" 2>/dev/null || true
}

make_nodes() {
  ip link add "$bridge" type bridge
  ip addr add 10.77.0.1/24 dev "$bridge"
  ip link set "$bridge" up
  local number=10 name
  for name in "$first" "$second"; do
    ip netns add "$name"
    ip link add "v$name" type veth peer name eth0 netns "$name"
    ip link set "v$name" master "$bridge" up
    ip -n "$name" addr add "10.77.0.$number/24" dev eth0
    ip -n "$name" link set eth0 up
    ip -n "$name" link set lo up
    number=$((number + 1))
  done
}

throttle() { # RATE
  for name in "$first" "$second"; do
    ip netns exec "$name" tc qdisc replace dev eth0 root tbf rate "$1" burst 256kb latency 400ms
  done
}

# RANKS ranks on each node; the other words are mpirun's, then the command.
on_nodes() { # RANKS WORDS...
  local ranks=$1 root
  shift
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --bind-to none --mca mpi_yield_when_idle 1 --mca plm_rsh_agent "$root/perf/ranks/netns_node.sh" \
    --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
    --host "$first:$ranks,$second:$ranks" -n $((2 * ranks)) "$@"
}
