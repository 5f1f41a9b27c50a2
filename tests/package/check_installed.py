#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares an installed tree with the public headers of the sources.

Usage: check_installed.py SOURCES PREFIX [PUBLIC_HEADER...]
The headers below PREFIX/include are the public ones and what they include, no more and no fewer, each
as it is in SOURCES. Without debug information the tree has at most 30 MB.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST_BYTES = 30_000_000
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def closure(root, headers):
    """The headers and all that they include with quotation marks, relative to `root`."""
    pending, found = [pathlib.Path(header) for header in headers], set()
    while pending:
        header = pending.pop()
        if header in found:
            continue
        found.add(header)
        for name in INCLUDE.findall((root / header).read_text(encoding="utf-8")):
            beside = pathlib.Path(os.path.normpath(header.parent / name))
            pending.append(pathlib.Path(name) if (root / name).exists() else beside)
    return found


def stripped_bytes(path):
    """The size of a file without debug information."""
    if path.suffix != ".a" and ".so" not in path.name or path.is_symlink():
        return path.lstat().st_size
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        subprocess.run(["strip", "--strip-debug", copy], check=True)
        return os.path.getsize(copy)


def problems(sources, prefix, headers):
    """A sentence for each thing that is wrong."""
    include = prefix / "include"
    wanted = closure(sources, headers)
    installed = {path.relative_to(include) for path in include.rglob("*") if path.is_file()}
    for header in sorted(wanted - installed):
        yield f"{header} is included by public headers, but not installed"
    for header in sorted(installed - wanted):
        yield f"{header} is installed, but no public header includes it"
    for header in sorted(installed & wanted):
        if (include / header).read_bytes() != (sources / header).read_bytes():
            yield f"{header} differs from the sources"
    size = sum(stripped_bytes(path) for path in prefix.rglob("*") if not path.is_dir())
    print(f"{len(installed)} headers, {size / 1e6:.1f} MB without debug information")
    if size > MOST_BYTES:
        yield f"{size} bytes without debug information are installed, {MOST_BYTES} are allowed"


def main():
    found = list(problems(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
