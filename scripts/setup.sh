#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/setup.sh [--ci] [--list]
Installs the Debian packages that HPL needs (scripts/packages.txt) and that are missing; prints them
first. Says nothing when all are there.
  --ci     also those of the further test stages: clang 16, gcovr, a second OpenCL vendor
  --list   print the missing packages and install nothing
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sections="build"
list_only=false
for argument in "$@"; do
  case $argument in
    --ci) sections="build ci" ;;
    --list) list_only=true ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

# packages SECTION...: the packages of these sections.
packages() {
  awk -v wanted=" $* " '
    /^#/ || /^$/ { next }
    /^\[/ { section = substr($0, 2, length($0) - 2); next }
    index(wanted, " " section " ") { print }' "$here/packages.txt"
}

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian system; nothing installed. What Debian 12 calls these packages is"
  echo "setup: needed:" $(packages $sections)
  exit 0
fi

missing=()
for package in $(packages $sections); do
  installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "setup: these Debian packages are missing:"
printf '  %s\n' "${missing[@]}"
if $list_only; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: installing them needs root or sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "setup: installing them with apt-get"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}"
