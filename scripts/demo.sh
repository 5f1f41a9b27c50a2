#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/demo.sh [ARGUMENT...]
Installs what is missing, builds the sample `life` and runs it: the Game of Life of a pattern file
on an OpenCL device of this machine. Shows the last generation in the terminal and leaves a PNG and
an animated GIF in build/demo. Arguments go to `life` instead of the demo's own;
`scripts/demo.sh --help` prints this, then what `life` understands.
TEXT
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
  usage
  if [ -x build/demo/bin/life ]; then build/demo/bin/life --help; fi
  exit 0
fi

scripts/setup.sh
mkdir -p build/demo
log=build/demo/build.log
echo "demo: building (the first time takes a minute or two; log: $log)"
if ! { cmake --preset demo && cmake --build --preset demo --target sample_life; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "demo: the build failed; the whole log is in $log" >&2
  exit 1
fi

life=build/demo/bin/life
if [ $# -gt 0 ]; then
  exec "$life" "$@"
fi

"$life" --pattern gosper-glider-gun --width 160 --height 96 -n 600 --every 3 --show \
  --png build/demo/life.png --gif build/demo/life.gif
echo "demo: the last generation: $PWD/build/demo/life.png"
echo "demo: the animation:       $PWD/build/demo/life.gif"
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open >/dev/null; then
  xdg-open build/demo/life.gif >/dev/null 2>&1 || true
fi
