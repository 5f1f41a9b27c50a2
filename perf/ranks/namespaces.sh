# SPDX-License-Identifier: Apache-2.0
# Network namespaces that stand for nodes, on bridges that stand for switches. To be sourced, by two_nodes.sh and
# two_racks.sh; needs root, iproute2 and Open MPI.
[ "$(id -u)" = 0 ] || { echo "network namespaces need root" >&2; exit 1; }

# A node at 10.77.0.NUMBER.
add_node() { # NAME BRIDGE NUMBER
  ip netns add "$1"
  ip link add "v$1" type veth peer name eth0 netns "$1"
  ip link set "v$1" master "$2" up
  ip -n "$1" addr add "10.77.0.$3/24" dev eth0
  ip -n "$1" link set eth0 up
  ip -n "$1" link set lo up
}

# RANKS ranks in all, on HOSTS (name:ranks,...); the other words are mpirun's, then the command.
run_on() { # RANKS HOSTS WORDS...
  local ranks=$1 hosts=$2 root
  shift 2
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --bind-to none --mca mpi_yield_when_idle 1 --mca plm_rsh_agent "$root/perf/ranks/netns_node.sh" \
    --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
    --host "$hosts" -n "$ranks" "$@"
}
