#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes follow the dependency rules of hpl/README.md.

Usage: include_scan.py ROOT. Prints one line per violation; exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

# Rooms by level: a room may include its own level and those below it, never one above.
LEVELS = [
    ["error.h"],
    ["geometry"],
    ["coherence", "dry_run", "ir", "ranks", "runtime", "topology", "trace", "tune"],
    ["memory", "codegen", "strategies", "lang", "array"],
    ["layout"],
    ["launch", "ghosts"],
    ["algorithms"],
    ["mpi", "io"],
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}

# These rooms are tested without a device, so not even indirectly may they need one.
DEVICE_FREE = ["geometry", "coherence", "dry_run", "ir", "codegen", "strategies", "tune"]
DEVICE_HEADER = re.compile(r"^(CL/|OpenCL/|mpi\.h$|mpi/)")

# Rooms reach each other through open headers. These includes of another room's detail/ are left;
# the list may only shrink: an entry that no file needs any longer is an error, too.
DOORS_STILL_OPEN = {
    ("hpl/algorithms/detail/fold_request.h", "hpl/array/detail/ordered_fold.h"),
    ("hpl/mpi/session.cpp", "hpl/ranks/detail/launcher.h"),
    ("hpl/strategies/detail/source.h", "hpl/ir/detail/index_value.h"),
}

# The header from which a user's program starts.
UMBRELLA = "hpl/hpl.h"
PUBLIC_HEADERS = [UMBRELLA, "hpl/HPL.h", "hpl/io.h", "hpl/mpi.h"]
STENCILS = "stencil_templates/"
STANDARD_HEADER = re.compile(r"^[a-z_0-9]+$")
# Standard headers that cost every user program noticeable compile time.
SLOW_HEADERS = ["iostream", "regex", "functional", "ranges", "algorithm"]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = (".h", ".cpp", ".def")
FOLDERS = ["hpl", "stencil_templates", "samples"]


def includes_of(path):
    """The included names of a file, each with True if written with quotes."""
    text = path.read_text(encoding="utf-8")
    return [(name, mark == '"') for mark, name in INCLUDE.findall(text)]


def room_of(name):
    """The room of a file below hpl/, or the file itself if it lies in no room."""
    return name.split("/")[1]


def home_of(name):
    """The folder whose detail/ a file may use: its room, or the library that has no rooms."""
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "hpl" else parts[0]


def is_foreign_detail(name, included):
    # The umbrellas are made of whatever a user's program needs.
    if name in PUBLIC_HEADERS or "/detail/" not in included:
        return False
    return included.startswith(("hpl/", STENCILS)) and home_of(name) != home_of(included)


class Scan:
    def __init__(self, root, doors_still_open=frozenset(DOORS_STILL_OPEN)):
        self.violations = []
        self.doors_still_open = doors_still_open
        self.includes = {}
        files = [p for folder in FOLDERS for p in sorted((root / folder).rglob("*"))]
        for path in files:
            if path.is_file() and path.suffix in SOURCES:
                self.includes[path.relative_to(root).as_posix()] = includes_of(path)

    def report(self, name, included, reason):
        self.violations.append(f"{name}: includes {included}: {reason}")

    def run(self):
        for name, includes in self.includes.items():
            for included, quoted in includes:
                self.check_spelling(name, included, quoted)
                self.check_arrow(name, included)
        for name in self.includes:
            if name.startswith("hpl/") and room_of(name) in DEVICE_FREE:
                self.check_device_free(name)
        for header in PUBLIC_HEADERS:
            self.check_public(header)
        self.check_doors()
        return self.violations

    def check_spelling(self, name, included, quoted):
        own = included.split("/")[0] in FOLDERS
        if quoted and included not in self.includes:
            self.report(name, included, "no such file of this repository; write the path from its "
                        "root in quotes, and other libraries' headers in <>")
        elif own and not quoted:
            self.report(name, included, "write headers of this repository in quotes")

    def check_arrow(self, name, included):
        if name.startswith("hpl/"):
            self.check_arrow_of_room(name, included)
        elif name.startswith(STENCILS) and included.startswith("samples/"):
            self.report(name, included, "stencil_templates is below samples")
        elif name.startswith("samples/") and included not in PUBLIC_HEADERS:
            if included.startswith("hpl/"):
                self.report(name, included, f"samples reach the library through {UMBRELLA} only")

    def check_arrow_of_room(self, name, included):
        if included.startswith((STENCILS, "samples/")):
            self.report(name, included, "the library includes nothing that stands on it")
            return
        room = room_of(name)
        if not included.startswith("hpl/") or name in PUBLIC_HEADERS:
            return
        if room not in LEVEL_OF:
            self.report(name, included, f"room '{room}' has no level in include_scan.py")
        elif included in PUBLIC_HEADERS:
            self.report(name, included, "the umbrella is for users; include the header you need")
        elif LEVEL_OF.get(room_of(included), len(LEVELS)) > LEVEL_OF[room]:
            self.report(name, included, f"'{room_of(included)}' is above '{room}'")

    def check_doors(self):
        unused = {d for d in self.doors_still_open if d[0] in self.includes}
        for name, includes in self.includes.items():
            for included, _ in includes:
                if not is_foreign_detail(name, included):
                    continue
                unused.discard((name, included))
                if (name, included) not in self.doors_still_open:
                    self.report(name, included, "detail/ belongs to its room alone; include an open "
                                "header of that room, or open one")
        for name, included in sorted(unused):
            self.report(name, included, "is no longer so: take it off DOORS_STILL_OPEN")

    def closure(self, start):
        """Every file that `start` includes, with the file that does so: {file: includer}."""
        seen = {start: None}
        todo = [start]
        while todo:
            name = todo.pop()
            for included, _ in self.includes.get(name, []):
                if included not in seen:
                    seen[included] = name
                    todo.append(included)
        return seen

    def check_device_free(self, name):
        for included, includer in self.closure(name).items():
            if DEVICE_HEADER.match(included):
                self.report(name, included, f"'{room_of(name)}' is free of device headers "
                            f"(reached through {includer})")

    def check_public(self, header):
        for included, includer in self.closure(header).items():
            if included in self.includes or included == header:
                continue
            if not STANDARD_HEADER.match(included):
                self.report(includer, included, f"a user reaches this file from {header}, which "
                            "needs no header of other libraries")
            elif included in SLOW_HEADERS:
                self.report(includer, included, f"a user reaches this file from {header}, which "
                            "avoids slow standard headers")


def scan(root, doors_still_open=frozenset(DOORS_STILL_OPEN)):
    return Scan(Path(root), doors_still_open).run()


def main():
    violations = scan(sys.argv[1])
    for violation in sorted(set(violations)):
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
