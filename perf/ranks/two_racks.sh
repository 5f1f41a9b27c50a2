# SPDX-License-Identifier: Apache-2.0
# Four network namespaces that stand for nodes, two on each of two bridges that stand for racks; the link between the
# bridges can be throttled. To be sourced; needs root, iproute2 and Open MPI. Sets nodes, their names: the first and the
# last are in one rack, the others in the other one.
[ "$(id -u)" = 0 ] || { echo "network namespaces need root" >&2; exit 1; }
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
    name=${nodes[$i]}
    ip netns add "$name"
    ip link add "v$name" type veth peer name eth0 netns "$name"
    ip link set "v$name" master "${racks[${rack_of[$i]}]}" up
    ip -n "$name" addr add "10.77.0.$((10 + i))/24" dev eth0
    ip -n "$name" link set eth0 up
    ip -n "$name" link set lo up
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
  local ranks=$1 root hosts
  shift
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  hosts=$(printf "%s:$ranks," "${nodes[@]}")
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --bind-to none --mca mpi_yield_when_idle 1 --mca plm_rsh_agent "$root/perf/ranks/netns_node.sh" \
    --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
    --host "${hosts%,}" -n $((4 * ranks)) "$@"
}
