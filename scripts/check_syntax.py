#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every source of a build tree without making code: the compiler's warnings at half the cost.

Usage: scripts/check_syntax.py BUILD_FOLDER [--jobs N]
Reads BUILD_FOLDER/compile_commands.json. Sources that need generated files find them there once the
tree is configured. Ends with 1 when a compilation fails; its words stand on standard error.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys


def without_output(command):
    """The words of a compile command, but for its output and a launcher before the compiler."""
    words = shlex.split(command)
    compiler = next(i for i, word in enumerate(words) if "++" in os.path.basename(word))
    words = words[compiler:]
    at = words.index("-o")
    return words[:at] + words[at + 2:]


def check(entry):
    """The compiler's exit code and words for one source."""
    command = without_output(entry["command"]) + ["-fsyntax-only"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return entry["file"], done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    entries = json.loads((options.build / "compile_commands.json").read_text(encoding="utf-8"))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for file, code, words in pool.map(check, entries):
            if words:
                sys.stderr.write(words)
            if code != 0:
                sys.stderr.write(f"check_syntax: {file} failed\n")
                failed += 1
    print(f"check_syntax: {len(entries)} sources, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
