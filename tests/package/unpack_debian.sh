#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian package of a build tree and unpacks it into FOLDER/root. Fails when it lacks a
# field, or names a package that no Debian package here is or provides.
# Usage: unpack_debian.sh CPACK BUILD_FOLDER FOLDER
set -euo pipefail
cpack=$1 build=$2 folder=$3

mkdir -p "$folder"
cd "$build"
# Packed in a second: the compression is not what is tested.
"$cpack" -G DEB -B "$folder" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip
files=("$folder"/libhpl-dev_*.deb)
[ ${#files[@]} -eq 1 ] || { echo "expected one package, found ${files[*]}" >&2; exit 1; }
dpkg-deb --info "${files[0]}"
dpkg-deb -x "${files[0]}" "$folder/root"

for field in Package Version Architecture Maintainer Description Depends; do
  [ -n "$(dpkg-deb -f "${files[0]}" "$field")" ] || { echo "no field $field" >&2; exit 1; }
done
dpkg-deb -f "${files[0]}" Depends | tr ',' '\n' | while read -r name rest; do
  dpkg-query -W -f '${Package}\n' "$name" >/dev/null ||
    { echo "the package depends on $name $rest, which is not installed here" >&2; exit 1; }
done
