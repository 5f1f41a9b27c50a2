#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every source of a build tree without making code: the compiler's warnings at half the cost.

Usage: scripts/check_syntax.py BUILD_FOLDER [--jobs N] [--alone] [--share]
Reads BUILD_FOLDER/compile_commands.json. Sources that need generated files find them there once the
tree is configured. Ends with 1 when a compilation fails; its words stand on standard error.

Sources of the libraries are seen alone, since the build joins them. With --share they have precompiled
headers of the standard library, which takes half of the time and does not see which of them a source
forgets. Sources of users of the library (tests, samples, benchmarks) are compiled alone by the build;
here, those with the same options share a precompiled hpl/hpl.h. What fails with precompiled headers is
seen alone. With --alone all sources do without.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

LIBRARIES = ("hpl", "stencil_templates")
FEWEST_SHARERS = 8
STANDARD = ("algorithm", "array", "atomic", "chrono", "cmath", "condition_variable", "cstddef", "cstdint",
            "cstring", "deque", "exception", "functional", "map", "memory", "mutex", "optional", "set", "span",
            "sstream", "string", "string_view", "thread", "tuple", "unordered_map", "unordered_set", "utility",
            "variant", "vector", "fmt/format.h")


def without_output(entry):
    """The words of a compile command, but for its output and a launcher before the compiler."""
    words = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(words) if "++" in os.path.basename(word))
    words = words[compiler:]
    at = words.index("-o")
    return words[:at] + words[at + 2:]


def options_of(entry):
    """What two commands must have in common to share a precompiled header."""
    return tuple(word for word in without_output(entry)
                 if not word.startswith("-I") and word not in ("-c", entry["file"]))


def of_a_library(entry, root):
    file = pathlib.Path(entry["file"])
    return file.is_relative_to(root) and file.relative_to(root).parts[0] in LIBRARIES


def common_headers(entries, root):
    """What most of these sources include."""
    if of_a_library(entries[0], root):
        return "".join(f"#include <{header}>\n" for header in STANDARD)
    texts = [pathlib.Path(entry["file"]).read_text(encoding="utf-8") for entry in entries]
    tests = sum("doctest/doctest.h" in text for text in texts) * 2 > len(texts)
    return '#include "hpl/hpl.h"\n' + "#include <doctest/doctest.h>\n" * tests


def precompile(entries, root, folder):
    """The options with which these entries begin with headers that most of them include."""
    header = folder / "begin.h"
    header.write_text(common_headers(entries, root), encoding="utf-8")
    output = header.with_suffix(".pch")
    words = [word for word in without_output(entries[0]) if word not in ("-c", entries[0]["file"])]
    words += ["-fpch-instantiate-templates", "-x", "c++-header", str(header), "-o", str(output)]
    done = subprocess.run(words, cwd=entries[0]["directory"], capture_output=True, check=False)
    return ["-include-pch", str(output)] if done.returncode == 0 else []


def sharers_of(entry, root):
    """Which sources share precompiled headers with this one."""
    return of_a_library(entry, root), options_of(entry)


def shared_headers(entries, root, folder, pool):
    """For each group of sources that share headers: what to add to their options."""
    groups = collections.defaultdict(list)
    for entry in entries:
        groups[sharers_of(entry, root)].append(entry)
    groups = {key: group for key, group in groups.items() if len(group) >= FEWEST_SHARERS}
    folders = [folder / str(number) for number in range(len(groups))]
    for each in folders:
        each.mkdir()
    roots = [root] * len(groups)
    return dict(zip(groups, pool.map(precompile, groups.values(), roots, folders)))


def check(entry, begin):
    """The compiler's exit code and words for one source."""
    done = subprocess.run([*without_output(entry), "-fsyntax-only", *begin], cwd=entry["directory"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 and begin:
        # The macros of hpl/hpl.h are not for sources that do not include it.
        return check(entry, [])
    return entry["file"], done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--alone", action="store_true", help="no precompiled headers")
    parser.add_argument("--share", action="store_true", help="some for the libraries, too")
    options = parser.parse_args()
    entries = json.loads((options.build / "compile_commands.json").read_text(encoding="utf-8"))
    root = pathlib.Path(__file__).resolve().parent.parent
    failed = 0
    with (concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
          tempfile.TemporaryDirectory() as folder):
        sharers = [] if options.alone else [entry for entry in entries
                                            if options.share or not of_a_library(entry, root)]
        shared = shared_headers(sharers, root, pathlib.Path(folder), pool)
        begins = [shared.get(sharers_of(entry, root), []) for entry in entries]
        for file, code, words in pool.map(check, entries, begins):
            if words:
                sys.stderr.write(words)
            if code != 0:
                sys.stderr.write(f"check_syntax: {file} failed\n")
                failed += 1
    print(f"check_syntax: {len(entries)} sources, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
