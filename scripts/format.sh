#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/format.sh [--check | --fix] [FILE...]
Checks (the default) or fixes the format of the C++ files of the repository with clang-format 16;
other versions format differently. CLANG_FORMAT names the program.
TEXT
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
arguments=(--dry-run --Werror)
case ${1:-} in
  --check) shift ;;
  --fix) arguments=(-i); shift ;;
  --help | -h) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac

tool=${CLANG_FORMAT:-clang-format-16}
command -v "$tool" >/dev/null || {
  echo "format: $tool is not here; install it with scripts/setup.sh --ci" >&2
  exit 1
}
if [ $# -eq 0 ]; then
  mapfile -t files < <(find hpl stencil_templates samples tests perf -name '*.h' -o -name '*.cpp' \
    2>/dev/null | sort)
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 8 -P "$(nproc)" "$tool" --style=file "${arguments[@]}"
