# SPDX-License-Identifier: Apache-2.0
# Two network namespaces that stand for nodes, joined by a bridge whose links can be throttled. To be sourced; needs
# root, iproute2 and Open MPI. Sets first and second, their names.
. "$(dirname "${BASH_SOURCE[0]}")/namespaces.sh"
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
  add_node "$first" "$bridge" 10
  add_node "$second" "$bridge" 11
}

throttle() { # RATE
  for name in "$first" "$second"; do
    ip netns exec "$name" tc qdisc replace dev eth0 root tbf rate "$1" burst 256kb latency 400ms
  done
}

# RANKS ranks on each node; the other words are mpirun's, then the command.
on_nodes() { # RANKS WORDS...
  local ranks=$1
  shift
  run_on $((2 * ranks)) "$first:$ranks,$second:$ranks" "$@"
}
