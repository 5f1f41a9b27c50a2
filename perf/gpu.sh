#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail

usage() {
  cat <<'TEXT'
Usage: perf/gpu.sh pack [FOLDER]     on the machine that builds
       ./gpu.sh run [OPTIONS]        on the machine with the GPU, in the unpacked folder

pack  Builds tests, samples and benchmarks in release mode and collects what a bare Linux machine
      (x86-64, bash, coreutils, awk, a GPU driver with OpenCL) needs to run them: stripped programs,
      their libraries, an OpenCL loader and clinfo. Leaves FOLDER (default: build/gpu/hpl-gpu) and
      FOLDER.tar.xz. Nothing is installed there.
run   Finds the driver's OpenCL and runs all suites, samples, benchmarks and sweeps of tiles. Each
      step ends within its own limit; what a run has no time for, the next one begins with.
      Leaves CSV files and report.md in the folder of results.
  --minutes M    ends after so many minutes (default: 10)
  --steps GLOB   only the steps whose names match, e.g. 'tests.*' (see --list)
  --list         prints the steps, with their limits in seconds
  --out FOLDER   results (default: results)
  --devices D    as HPL_DEVICES (default: gpu); cpu for a trial without a GPU
  --jobs N       tests and samples run N at a time (default: half the processors); benchmarks and
                 sweeps always run alone
  --again        forgets what earlier runs have done
TEXT
}

die() { echo "gpu.sh: $*" >&2; exit 1; }

# ---------------------------------------------------------------------------------------- pack

# libraries PROGRAM...: the files of the shared libraries that these need, the C library's apart.
libraries() {
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so\.[0-9]+$'
}

pack() {
  cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
  local folder=${1:-build/gpu/hpl-gpu}
  # Twins for OpenMP run on the other machine's processor: any x86-64 with AVX2 will do.
  cmake --preset release -B build/portable -DHPL_BUILD_TESTS=ON -DHPL_BUILD_SAMPLES=ON \
    -DHPL_BUILD_PERF=ON -DHPL_PERF_ARCH=x86-64-v3 >/dev/null || die "configuring failed"
  cmake --build build/portable -j "$(nproc)" -- --quiet || die "building failed"
  rm -rf "$folder" "$folder.tar.xz"
  mkdir -p "$folder"/{bin,lib,libc,samples} || die "cannot write $folder"
  cp build/portable/tests/hpl_tests_* build/portable/perf/hpl_*_bench "$folder/bin/"
  # Tests that preload a library over the driver's belong to the machine that built them, as does MPI.
  rm -f "$folder"/bin/hpl_tests_faults "$folder"/bin/hpl_tests_mpi
  local sample
  for sample in build/portable/bin/*; do
    [ ! -f "$sample" ] || cp "$sample" "$folder/bin/sample_$(basename "$sample")"
  done
  local clinfo
  clinfo=$(command -v clinfo) || die "clinfo is missing; install it: apt-get install clinfo"
  cp "$clinfo" "$folder/bin/"
  strip "$folder"/bin/*
  # shellcheck disable=SC2046
  cp -L $(libraries "$folder"/bin/*) "$folder/lib/" || die "libraries could not be copied"
  # For machines whose C library is older than ours.
  local loader
  loader=$(ldd "$folder/bin/clinfo" | awk '/ld-linux/ { print $1 }')
  cp -L "$loader" "$folder/libc/"
  ldd "$folder"/bin/* | awk '$2 == "=>" { print $3 }' | sort -u |
    grep -E '/(libc|libm|libdl|librt|libpthread|libresolv)\.so\.[0-9]+$' |
    while read -r file; do cp -L "$file" "$folder/libc/"; done
  cp perf/gpu.sh "$folder/gpu.sh"
  cp -r samples/life samples/patterns "$folder/samples/"
  find "$folder/samples" \( -name '*.cpp' -o -name '*.h' \) -delete
  git describe --always --dirty >"$folder/version"
  # The library is in every program: a dictionary that holds all of them keeps it once.
  tar -C "$(dirname "$folder")" -cf - "$(basename "$folder")" |
    xz --x86 --lzma2=preset=1,dict=480MiB,mf=hc4,nice=128 -T1 -c >"$folder.tar.xz"
  du -h "$folder.tar.xz"
  echo "On the machine with the GPU: tar xJf $(basename "$folder").tar.xz && $(basename "$folder")/gpu.sh run"
}

# ----------------------------------------------------------------------------------------- run

# Sets `prefix`: what comes before a program so that it finds our libraries.
choose_loader() {
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  prefix=()
  if ! "$here/bin/hpl_tests_geometry" --count >/dev/null 2>&1; then
    local loader=("$here"/libc/ld-linux*)
    export LD_LIBRARY_PATH=$here/libc:$LD_LIBRARY_PATH
    prefix=("${loader[0]}")
    "${prefix[@]}" "$here/bin/hpl_tests_geometry" --count >/dev/null ||
      die "our programs do not start here; is this x86-64 Linux?"
  fi
}

# Points the OpenCL loader at the drivers of this machine: those that are registered and have a
# device, or the libraries of GPU drivers, which containers have without their registration.
find_driver() {
  if [ -n "${OCL_ICD_VENDORS:-}" ]; then return; fi
  if "${prefix[@]}" "$here/bin/clinfo" -l 2>/dev/null | grep -q 'Device #0'; then return; fi
  local name found=() file
  for name in libnvidia-opencl.so.1 libamdocl64.so libigdrcl.so librusticl.so.1 libpocl.so.2; do
    for file in $(ldconfig -p 2>/dev/null | awk -v n="$name" '$1 == n { print $NF }') \
      /usr/lib/x86_64-linux-gnu/"$name" /usr/lib64/"$name" /usr/local/nvidia/lib64/"$name" \
      /usr/lib/wsl/lib/"$name" /opt/rocm*/lib/"$name" /usr/lib/x86_64-linux-gnu/intel-opencl/"$name"; do
      [ -e "$file" ] && { found+=("$file"); break; }
    done
  done
  [ ${#found[@]} -gt 0 ] || die "no OpenCL driver found: /etc/OpenCL/vendors is empty, and no library of" \
    "a GPU driver is where they usually are; set OCL_ICD_VENDORS to a folder of .icd files"
  mkdir -p "$out/vendors"
  rm -f "$out"/vendors/*.icd
  for file in "${found[@]}"; do echo "$file" >"$out/vendors/$(basename "$file").icd"; done
  export OCL_ICD_VENDORS=$out/vendors/
}

# The steps: name, limit in seconds, command. Names before the dot are their kinds.
steps() {
  local bin=$here/bin test sample program
  local tiled=('Jacobi 2-D 5' Poisson Gradient 'Jacobi 3-D 7' Electromagnetics Rician TV 'Jacobi 3-D 13'
    'Jacobi 1-D 3' 'Jacobi 1-D 5' 'Jacobi 1-D 7')
  echo "machine.clinfo 60 $bin/clinfo"
  for test in "$bin"/hpl_tests_*; do
    test=${test##*/hpl_tests_}
    echo "tests.$test 150 $bin/hpl_tests_$test --duration=true"
  done
  for test in "$bin"/hpl_tests_*; do
    test=${test##*/hpl_tests_}
    echo "tests_on_three.$test 150 $bin/hpl_tests_$test --duration=true"
  done
  local -A arguments=(
    [canny]="--size 2048x2048 --check --no-progress" [fdtd2d]="--size 1024 --check"
    [heat2d]="--size 1024 -n 500 --check" [gauss]="--size 2048x2048 -n 4 --check --no-progress"
    [jacobi3d]="--size 128 -n 100 --check --no-progress"
    [life]="--pattern $here/samples/life/patterns/r-pentomino.rle --size 1024 -n 500 --check --no-progress"
    [shwa]="--size 300x300 -n 300 --check --no-progress"
    [pattern_kernel]="$here/samples/patterns/star4.pattern")
  for sample in "$bin"/sample_*; do
    sample=${sample##*/sample_}
    echo "samples.$sample 60 $bin/sample_$sample ${arguments[$sample]:-}"
  done
  echo "benchmarks.forms 60 $bin/hpl_gpu_forms_bench --csv $out/forms.csv"
  echo "benchmarks.sweeps_tuned 60 $bin/hpl_sweeps_tune_bench"
  # Domains that no GPU's cache holds.
  local plane='' cube='' line=''
  [[ $HPL_DEVICES != gpu* ]] || { plane='--size 8192'; cube='--size 512'; line="--size $((1 << 26))"; }
  local size
  for program in jacobi5 jacobi3d7 life gauss jacobi9 jacobi3d27 canny shwa; do
    size=$plane
    [[ $program != jacobi3d* ]] || size=$cube
    echo "benchmarks.stencils_$program 100 $bin/hpl_stencil_bench --workload $program $size" \
      "--csv $out/stencils_$program.csv"
  done
  echo "benchmarks.templates 120 $bin/hpl_template_bench --csv $out/templates.csv"
  for program in launch kernels pointwise reduce pattern access first_launch; do
    echo "benchmarks.$program 120 $bin/hpl_${program}_bench --benchmark_out=$out/${program}_bench.csv" \
      "--benchmark_out_format=csv"
  done
  for program in "${tiled[@]}"; do
    size=$plane
    [[ $program != *1-D* ]] || size=$line
    [[ $program != *3-D* ]] || size=$cube
    echo "benchmarks.time_tiles_${program//[ .-]/} 100 $bin/hpl_time_tile_bench $size --most-pairs 15" \
      "--program ${program// /?} --without-openmp --csv $out/time_tiles_${program//[ .-]/}.csv"
  done
  for program in cpu_free cpu_free_on_two; do
    echo "benchmarks.$program 120 $bin/hpl_cpu_free_bench --rounds 7 --milliseconds 10 --csv $out/cpu_free.csv"
  done
  echo "sweeps.tuning 240 $bin/hpl_tuning_bench --seconds 5"
  for program in "${tiled[@]}"; do
    echo "sweeps.tiles_${program//[ .-]/} 200 $bin/hpl_time_tile_bench" \
      "--program ${program// /?} --sweep $out/sweep_${program//[ .-]/}.csv --tune 5"
  done
}

# perform NAME LIMIT GRANTED COMMAND...: runs a step, for GRANTED seconds at most; notes its outcome
# and seconds in the file steps/NAME, unless it was cut off before its own limit.
perform() {
  local name=$1 limit=$2 granted=$3 start=$SECONDS outcome=passed code
  shift 3
  # A question mark stands for a blank in an argument.
  local words=("${@//\?/ }")
  local floats=default
  [[ $name != tests* ]] || floats=strict
  # A test that does not end has said how far it got.
  local lines=()
  if [ ${#prefix[@]} -eq 0 ] && command -v stdbuf >/dev/null; then lines=(stdbuf -oL); fi
  # One device standing for three: cuts, exchanges and moves on a real driver.
  local devices=$HPL_DEVICES kind=${HPL_DEVICES%%[:*]*}
  case $name in
    tests_on_three.*) devices="$kind:0*3" ;;
    *_on_two) devices="$kind:0*2" ;;
  esac
  # The outer braces take what the shell says of a program that a signal ends.
  {
    (cd "$here" && HPL_FP=$floats HPL_DEVICES=$devices TEST_DEVICE_TYPE=$kind \
      exec timeout -k 10 "$granted" "${lines[@]}" "${prefix[@]}" "${words[@]}") \
      >"$out/logs/$name.txt" 2>&1 </dev/null
    code=$?
  } 2>/dev/null
  [ $code -eq 0 ] || outcome="failed ($code)"
  [ $code -ne 124 ] || outcome="cut off after $granted s"
  printf '%-28s %s\n' "$name" "$outcome, $((SECONDS - start)) s"
  if [ $code -eq 124 ] && [ "$granted" -lt "$limit" ]; then return; fi
  [[ $name != sweeps.tuning ]] || cp "$out/logs/$name.txt" "$out/tuning_bench.csv"
  echo "$name,$outcome,$((SECONDS - start))" >"$out/steps/$name"
}

run() {
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  [ -d "$here/bin" ] || die "run works in the folder that pack has made"
  local minutes=10 pattern='*' list=false again=false jobs=$((($(nproc) + 1) / 2))
  out=$here/results
  export HPL_DEVICES=gpu
  while [ $# -gt 0 ]; do
    case $1 in
      --minutes | --steps | --out | --devices | --jobs) [ $# -gt 1 ] || die "$1 needs a value" ;;&
      --minutes | --jobs)
        [[ $2 =~ ^[1-9][0-9]*$ ]] || die "$1 $2: expected a whole number above 0" ;;&
      --minutes) minutes=$2; shift ;;
      --jobs) jobs=$2; shift ;;
      --steps) pattern=$2; shift ;;
      --out) out=$2; shift ;;
      --devices) HPL_DEVICES=$2; shift ;;
      --list) list=true ;;
      --again) again=true ;;
      --help | -h) usage; exit 0 ;;
      *) usage >&2; exit 2 ;;
    esac
    shift
  done
  if $list; then steps | awk '{ printf "%-28s %s\n", $1, $2 }'; exit 0; fi
  mkdir -p "$out/logs" "$out/cache" "$out/steps" || die "cannot write $out"
  out=$(cd "$out" && pwd)
  [ -e "$out/cpu_free.csv" ] ||
    echo "devices,domain,way,us_per_step,low,high,rounds" >"$out/cpu_free.csv"
  # Kernels and findings of this machine alone.
  export HPL_CACHE_DIR=$out/cache
  if $again; then rm -f "$out"/steps/*; fi
  choose_loader
  find_driver
  local devices
  devices=$("${prefix[@]}" "$here/bin/sample_heat2d" --device list 2>&1) ||
    die "no device can be used: $devices"
  echo "$devices" | tee "$out/devices.txt"
  local end=$((SECONDS + minutes * 60 - 10)) name limit words remaining
  while read -r name limit words; do
    # shellcheck disable=SC2254
    case $name in $pattern) ;; *) continue ;; esac
    if [ -e "$out/steps/$name" ]; then continue; fi
    local at_once=1
    [[ $name != tests* && $name != samples* ]] || at_once=$jobs
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
    remaining=$((end - SECONDS))
    if [ $remaining -lt $((limit < 20 ? limit : 20)) ]; then continue; fi
    # shellcheck disable=SC2086
    perform "$name" "$limit" $((limit < remaining ? limit : remaining)) $words &
    [ "$at_once" -gt 1 ] || wait
  done < <(steps)
  wait
  local left=0
  while read -r name words; do
    # shellcheck disable=SC2254
    case $name in $pattern) [ -e "$out/steps/$name" ] || left=$((left + 1)) ;; esac
  done < <(steps)
  report >"$out/report.md"
  echo "$out/report.md"
  [ $left -eq 0 ] || echo "$left steps are left: run it again"
}

# -------------------------------------------------------------------------------------- report

# table TITLE HEADER...: the beginning of a table.
table() {
  printf '\n## %s\n\n' "$1"
  shift
  local head='' rule='' column
  for column in "$@"; do head+="| $column "; rule+='|---'; done
  printf '%s|\n%s|\n' "$head" "$rule"
}

report() {
  echo "# HPL $(cat "$here/version"), HPL_DEVICES=$HPL_DEVICES"
  echo
  sed 's/^ */- /' "$out/devices.txt"
  awk '/Device Name|Driver Version|Device Version|Global memory size|Max compute units|Max clock/ {
    sub(/^ +/, ""); gsub(/  +/, ": "); if (!seen[$0]++) print "- " $0 }' "$out/logs/machine.clinfo.txt" 2>/dev/null
  grep -m1 'model name' /proc/cpuinfo | sed 's/.*: /- host: /'
  table "Steps" step outcome seconds
  cat "$out"/steps/* 2>/dev/null | awk -F, '{ print "| " $1 " | " $2 " | " $3 " |" }'
  table "Test cases" suite cases passed failed
  local log
  for log in "$out"/logs/tests*.txt; do
    [ -e "$log" ] || continue
    awk -v n="$(basename "$log" .txt)" '/test cases:/ { gsub(/[^0-9|]/, ""); split($0, f, "|")
      print "| " n " | " f[1] " | " f[2] " | " f[3] " |" }' "$log" | tail -1
  done
  if compgen -G "$out/stencils_*.csv" >/dev/null; then
    table "Stencils: bytes per second by those of a copy (bound: 0.90)" workload size \
      "the library" "of a copy" bound
    awk -F, 'FNR > 1 && ($5 == "plain kernel" || $5 == "stencil") {
      printf "| %s | %s x %s x %s | %s | %.2f | %s |\n", $1, $2, $3, $4, $5, $8 / 100,
             ($8 >= 90 ? "met" : "missed") }' "$out"/stencils_*.csv
  fi
  if compgen -G "$out/time_tiles_*.csv" >/dev/null; then
    table "Time tiles by one step after another (bound in two dimensions: 1.5)" program cells \
      speedup "95 of 100 runs"
    awk -F, 'FNR > 1 { printf "| %s | %s | %.2f | %.2f to %.2f |\n", $1, $2, $7, $8, $9 }' \
      "$out"/time_tiles_*.csv
  fi
  if [ -s "$out/cpu_free.csv" ]; then
    table "Iterations of small domains (us per step)" devices domain way "us per step"
    awk -F, 'FNR > 1 { printf "| %s | %s | %s | %.2f |\n", $1, $2, $3, $4 }' "$out/cpu_free.csv"
  fi
  if [ -s "$out/launch_bench.csv" ]; then
    table "Launches: ours, the hand-written twin (us), ratio" benchmark ours twin ratio
    awk -F, '{ gsub(/"/, "") }
      $1 == "name" { for (i = 1; i <= NF; ++i) column[$i] = i; next }
      column["ratio"] && $column["ratio"] != "" { printf "| %s | %.2f | %.2f | %.2f |\n", $1,
        $column["ours_us"], $column["twin_us"], $column["ratio"] }' "$out/launch_bench.csv"
  fi
}

case ${1:-} in
  pack) shift; pack "$@" ;;
  run) shift; run "$@" ;;
  --help | -h) usage ;;
  *) usage >&2; exit 2 ;;
esac
