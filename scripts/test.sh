#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/test.sh [STAGE...]
Installs what is missing, builds HPL and runs its tests. Without a stage: --gcc. Several stages run
one after another; all run even if one fails.
  --quick      g++ build of the tests, without samples, package and simulator tests
  --gcc        g++ build of everything, warnings are errors, every test
  --simulator  the samples at small sizes on a simulated device (races, bounds); part of --gcc
  --format     clang-format 16 finds nothing to change
  --clang      clang 16 accepts everything, warnings are errors (no code is made)
  --tidy       clang-tidy 16 on hpl/, some rooms without the checks of performance
  --asan       the tests under AddressSanitizer and UndefinedBehaviorSanitizer
  --tsan       the tests under ThreadSanitizer
  --coverage   the tests again, counting lines: at least 90 % of hpl/ (report in build/coverage)
  --all        all of these
Each stage builds in build/<preset>. JOBS: parallel jobs (default: the number of cores).
JOIN=ROOMS: joins more sources, where the library is built once (docs/building.md), and lets clang
share headers of the standard library.
TEXT
}

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
jobs=${JOBS:-$(nproc)}
minimum_coverage=90
# The rooms of hpl/ in which clang-tidy's checks of performance find nothing.
quick_rooms=(array coherence geometry ghosts ir launch layout topology trace)

# Lets fresh clones share what the compiler cache holds.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# build PRESET TARGET [CMAKE OPTION...]: prints the compiler's words only when there are any.
build() {
  local preset=$1 target=$2
  shift 2
  cmake --preset "$preset" ${JOIN:+-DHPL_JOIN_SOURCES="$JOIN"} "$@" >"build/$preset.log" 2>&1 || { cat "build/$preset.log"; return 1; }
  cmake --build --preset "$preset" --target "$target" -j "$jobs" -- --quiet
}

# suite PRESET [CTEST OPTION...]: runs tests of a build tree, keeping the output for the summary.
suite() {
  local preset=$1
  shift
  ctest --preset "$preset" -j "$jobs" --no-tests=error "$@" 2>&1 | tee "build/$preset.ctest.log"
}

stage_quick() { build ci all && suite ci -LE 'samples|package|simulator'; }
stage_gcc() { build ci all && suite ci; }
stage_simulator() { build ci all && suite ci -L simulator; }
stage_format() { scripts/format.sh --check; }
# Each source alone: those that forget a header are found here.
stage_clang() {
  cmake --preset clang >build/clang.log 2>&1 || { cat build/clang.log; return 1; }
  scripts/check_syntax.py build/clang --jobs "$jobs" ${JOIN:+--share}
}
# sanitized PRESET: a suite with PoCL as the only vendor. Mesa's drivers leak memory in modules that
# are gone when the report is written, so that no suppression finds them. Without OpenCV, whose
# libraries take their own locks in several orders.
sanitized() (
  [ ! -f /etc/OpenCL/vendors/pocl.icd ] || export OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd
  build "$1" all -DHPL_BUILD_PERF=OFF && suite "$1" -LE 'package|architecture|opencv' -E two_vendors
)
stage_asan() { sanitized asan-ubsan; }
stage_tsan() { sanitized tsan; }

# Sources as HPLJoinSources.cmake joins them for those who want no tests: most of the time goes to
# what headers declare.
stage_tidy() {
  cmake --preset clang -B build/tidy -DHPL_JOIN_SOURCES=ROOMS -DHPL_BUILD_TESTS=OFF >/dev/null || return
  local rooms source checks
  rooms=$(IFS='|' && echo "${quick_rooms[*]}")
  for source in build/tidy/hpl/CMakeFiles/hpl.dir/Unity/*.cxx; do
    checks=-bugprone-suspicious-include
    grep -qE "^#include \"$PWD/hpl/($rooms)/" "$source" || checks+=',-performance-*'
    printf '%s\0' "--checks=$checks" "$source"
  done |
    xargs -0 -n 2 -P "$jobs" clang-tidy-16 -p build/tidy --quiet --warnings-as-errors='*' 2>&1 |
    grep -v 'warnings generated'
  [ "${PIPESTATUS[1]}" -eq 0 ]
}

stage_coverage() {
  build coverage all -DHPL_BUILD_PERF=OFF || return
  find build/coverage -name '*.gcda' -delete
  suite coverage -LE 'package|architecture|simulator' || return
  local outcome=0
  gcovr --root . --filter hpl/ --object-directory build/coverage -j "$jobs" \
    --exclude-unreachable-branches --exclude-throw-branches \
    --html-details build/coverage/report.html --txt build/coverage/report.txt \
    --json-summary build/coverage/summary.json \
    --fail-under-line "$minimum_coverage" --print-summary build/coverage || outcome=$?
  scripts/coverage_by_room.py build/coverage/summary.json "$minimum_coverage"
  return "$outcome"
}

stages=()
for argument in "$@"; do
  case $argument in
    --quick | --gcc | --simulator | --format | --clang | --tidy | --asan | --tsan | --coverage)
      stages+=("${argument#--}") ;;
    --all) stages+=(format gcc clang tidy asan tsan coverage) ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
[ ${#stages[@]} -gt 0 ] || stages=(gcc)

setup=()
case " ${stages[*]} " in
  *" format "* | *" clang "* | *" tidy"* | *" coverage "*) setup=(--ci) ;;
esac
scripts/setup.sh "${setup[@]}" || exit 1
mkdir -p build

failed=0
summary=()
for stage in "${stages[@]}"; do
  printf '\n=== %s ===\n' "$stage"
  start=$SECONDS
  if "stage_$stage"; then outcome=passed; else outcome=FAILED failed=1; fi
  summary+=("$(printf '%-10s %s after %d s' "$stage" "$outcome" $((SECONDS - start)))")
  echo "=== ${summary[-1]} ==="
done

printf '\nStages:\n'
printf '  %s\n' "${summary[@]}"
# The end of the full suite, once more, where it is seen.
case " ${stages[*]} " in
  *" gcc "*) grep -E 'tests passed|^Total Test time' build/ci.ctest.log ;;
esac
exit "$failed"
