# SPDX-License-Identifier: Apache-2.0
# Four network namespaces that stand for nodes, two on each of two bridges that stand for racks; the link between the
# bridges can be throttled. To be sourced; needs root, iproute2 and Open MPI. Sets nodes, their names: the first and the
# last are in one rack, the others in the other one.
. "$(dirname "${BASH_SOURCE[0]}")/namespaces.sh"
racks=("hplra$$" "hplrb$$")
nodes=("hplw$$" "hplx$$" "hply$$" "hplz$$")
rack_of=(0 1 1 0)

remove_racks() {
  local name
  for name in "${nodes[@]}"; do ip netns del "$name" 2>/dev/null || true; done
  ip link del "up$$" 2>/dev/null || true
  for name in "${racks[@]}"; do ip link del "$name" 2>/dev/null || true; done
}

make_racks() {
  local i name
  for name in "${racks[@]}"; do
    ip link add "$name" type bridge
    ip link set "$name" up
  done
  ip addr add 10.77.0.1/24 dev "${racks[0]}"
  ip link add "up$$" type veth peer name "down$$"
  ip link set "up$$" master "${racks[0]}" up
  ip link set "down$$" master "${racks[1]}" up
  for i in 0 1 2 3; do
    add_node "${nodes[$i]}" "${racks[${rack_of[$i]}]}" $((10 + i))
  done
}

throttle_between_racks() { # RATE
  local end
  for end in "up$$" "down$$"; do
    tc qdisc replace dev "$end" root tbf rate "$1" burst 256kb latency 400ms
  done
}

# RANKS ranks on each node; the other words are mpirun's, then the command.
on_racks() { # RANKS WORDS...
  local ranks=$1 hosts
  shift
  hosts=$(printf "%s:$ranks," "${nodes[@]}")
  run_on $((4 * ranks)) "${hosts%,}" "$@"
}
