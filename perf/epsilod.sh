#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The experiments of EPSILOD (de Castro et al. 2023, section 5) with samples/epsilod: strong and weak scaling over
# ranks with generic and specific kernels (Figs 7 and 8, Table 2), the same against MPI and OpenCL by hand under mpirun
# (Figs 9 and 10, where the paper has Celerity), devices of different speeds (Fig. 11, Table 5), and a dry run of the
# paper's cluster up to its 48 devices, and on to 10,000, at the paper's sizes.
# Usage: perf/epsilod.sh [FOLDER] (default: perf/results/latest). Writes epsilod.csv, epsilod_dry.csv and, with
# matplotlib, pictures. In the environment: SIDE (cells of a side, default 2048), ITERATIONS (default 200),
# REPETITIONS (default 7; the paper has 15 and 1000 iterations), STENCILS, DRY_DEVICES (0: no dry run).
#
# One machine can show whether ranks cost anything: P ranks of one core each against one rank of one
# core. It cannot show a network, nor more ranks than cores (the line of 2 P ranks is there to show
# what that costs). The dry run models the paper's 48 GPUs: its times are a model's, its messages
# and bytes are exact. The table says for each figure what is measured here and what is not, with
# the paper's figures beside it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-perf/results/latest}
mkdir -p "$out"
out=$(realpath "$out")
program=${EPSILOD:-build/release/bin/epsilod}
if [ ! -x "$program" ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$(nproc)" --target sample_epsilod >/dev/null
  # There is none without MPI.
  cmake --build --preset release -j "$(nproc)" --target hpl_epsilod_twin >/dev/null 2>&1 || true
fi
twin=${EPSILOD_TWIN:-build/release/perf/hpl_epsilod_twin}
side=${SIDE:-2048}
iterations=${ITERATIONS:-200}
repetitions=${REPETITIONS:-7}
stencils=${STENCILS:-2d4 2d9 2d9nc 2d5}
cores=$(nproc)
csv=$out/epsilod.csv
echo "experiment,repetition,stencil,kernel,rows,columns,iterations,ranks,devices,seconds,gflops" >"$csv"
line=$(mktemp)
trap 'rm -f "$line"; [ -z "${competitor:-}" ] || kill "$competitor" 2>/dev/null || true' EXIT

# Round, experiment, then the program's arguments. Only rank 0 writes the line.
measure() {
  local round=$1 experiment=$2
  shift 2
  : >"$line"
  "$program" --no-progress -n "$iterations" --csv "$line" "$@" >/dev/null
  sed "s/^/$experiment,$round,/" "$line" >>"$csv"
}

# All by turns: machines drift. One core for each rank as far as there are cores.
scaling() { # ROUND STENCIL
  local round=$1 stencil=$2
  for kernel in specific generic; do
    with=(--stencil "$stencil" --kernel "$kernel")
    for ranks in 1 "$cores" $((2 * cores)); do
      case $ranks in
        1) devices="cpu:0/$cores" only=(--devices 1) ;;
        "$cores") devices="cpu:0/$cores" only=() ;;
        *) devices="cpu:0*$ranks" only=() ;;
      esac
      [ "$cores" -gt 1 ] || devices="cpu:0*$ranks"
      HPL_RANKS=$ranks HPL_DEVICES=$devices measure "$round" strong "${with[@]}" "${only[@]}" --size "$side"
      HPL_RANKS=$ranks HPL_DEVICES=$devices measure "$round" weak "${with[@]}" "${only[@]}" \
        --size "${side}x$((side * ranks))"
    done
  done
}
for ((round = 1; round <= repetitions; ++round)); do
  for stencil in $stencils; do scaling "$round" "$stencil"; done
done

# By turns with the twin.
if [ -x "$twin" ] && command -v mpirun >/dev/null; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  for ((round = 1; round <= repetitions; ++round)); do
    for stencil in $stencils; do
      for ranks in 1 "$cores"; do
        only=()
        [ "$ranks" -gt 1 ] || only=(--devices 1)
        for experiment in strong weak; do
          rows=$side
          [ "$experiment" = strong ] || rows=$((side * ranks))
          : >"$line"
          TWIN_PARTS=$cores mpirun --oversubscribe -n "$ranks" "$twin" "$stencil" "$rows" "$side" "$iterations" "$line" \
            >/dev/null
          HPL_DEVICES="cpu:0/$cores" mpirun --oversubscribe -n "$ranks" "$program" --no-progress -n "$iterations" \
            --stencil "$stencil" --size "${side}x$rows" "${only[@]}" --csv "$line" >/dev/null
          sed "s/^/$experiment by hand,$round,/" "$line" >>"$csv"
        done
      done
    done
  done
fi

# Two devices of which the first loses half of its core to another program (perf/uneven.sh says more).
if [ "$cores" -gt 1 ]; then
  exec 3< <(exec perf/competitor.py --core 0 --share 0.5)
  competitor=$!
  read -r _ <&3
  for ((round = 1; round <= repetitions; ++round)); do
    for stencil in $stencils; do
      for weights in 1,1 1,2 measured; do
        POCL_AFFINITY=1 HPL_DEVICES="cpu:0/$cores" measure "$round" "uneven ${weights//,/:}" --stencil "$stencil" \
          --size "$side" --devices 2 --weights "$weights"
      done
    done
  done
  kill "$competitor" 2>/dev/null || true
  competitor=
fi

# The paper's cluster, four V100 of 16 GB on each node, at its sizes.
dry=$out/epsilod_dry.csv
echo "experiment,stencil,kernel,rows,columns,devices,seconds_per_iteration,efficiency,network_bytes,gflops" >"$dry"
for devices in ${DRY_DEVICES:-1 2 4 8 16 32 48 192 768 3072 10000}; do
  [ "$devices" != 0 ] || continue
  for stencil in $stencils; do
    for kernel in specific generic; do
      perf/epsilod_dry.py "$program" "$devices" "$stencil" "$kernel" >>"$dry"
    done
  done
done
perf/plot_epsilod.py --table "$csv" "$dry"
if python3 -c 'import matplotlib' 2>/dev/null; then
  perf/plot_epsilod.py "$csv" "$dry" "$out"
else
  echo "no pictures: python3-matplotlib is not installed"
fi
