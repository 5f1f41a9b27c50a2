#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs of mistakes.txt, each with one mistake, and checks what compilers say.

    check_mistakes.py --root REPOSITORY --out FOLDER [--only WORDS] [--show] COMPILER...

Every program must be refused, with the sentence of the library that mistakes.txt names among the
first FIRST_LINES lines and no more than ALL_LINES lines in all. Compilers that are not installed are
left out; there must be one. Prints what is wrong, or all output with --show."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

FIRST_LINES = 8
ALL_LINES = 12
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-fdiagnostics-color=never"]
# Programs reach the library from their own first line, these from that of a precompiled header.
PRECOMPILED = re.compile(r"In file included from mistake_\d+\.cpp:1:$")
ALLOWED = re.compile(r" \((\d+) lines\)$")
RIGHT = "(right)"
NO_USING = '// compiled without "using namespace hpl;"'


class Mistake:
    def __init__(self, title, sentence, source):
        self.title, self.source = title, source
        allowed = ALLOWED.search(sentence or "")
        self.lines = int(allowed[1]) if allowed else ALL_LINES
        self.sentence = ALLOWED.sub("", sentence or "")

    @property
    def is_right(self):
        return self.title.endswith(RIGHT)

    def program(self):
        using = "" if NO_USING in self.source else "using namespace hpl;\n"
        return using + self.source


def parse(text):
    """The programs of a table; sys.exit for one without a sentence."""
    mistakes = []
    for section in text.split("\n== ")[1:]:
        title, _, source = section.partition("\n")
        sentence = None
        if not title.endswith(RIGHT):
            sentence, _, source = source.partition("\n")
            if not sentence.startswith("HPL: "):
                sys.exit(f"{title}: the line behind the title must be its sentence, HPL: ...")
        mistakes.append(Mistake(title, sentence, source.strip() + "\n"))
    return mistakes


def verdict(mistake, status, output):
    """What is wrong with a compiler's answer; None when all is well."""
    lines = [line for line in output.splitlines() if not PRECOMPILED.match(line)]
    if mistake.is_right:
        return None if status == 0 else "is right, but was refused"
    if status == 0:
        return "was not refused"
    found = [number for number, line in enumerate(lines, 1) if mistake.sentence in line]
    if not found:
        return f'the sentence "{mistake.sentence}" is missing'
    if found[0] > FIRST_LINES:
        return f"the sentence stands in line {found[0]}, not among the first {FIRST_LINES}"
    if len(lines) > mistake.lines:
        return f"{len(lines)} lines of output, which should be at most {mistake.lines}"
    return None


class Compiler:
    """A compiler with the headers of prologue.h read once."""

    def __init__(self, command, root, folder):
        self.command = command
        self.folder = folder / pathlib.Path(command).name
        self.folder.mkdir(parents=True, exist_ok=True)
        here = pathlib.Path(__file__).resolve().parent
        header = self.folder / "prologue.h"
        shutil.copy(here / header.name, header)
        self.flags = [*FLAGS, f"-I{root}"]
        # g++ finds prologue.h.gch beside prologue.h; clang takes prologue.h.pch.
        suffix = ".pch" if "clang" in self.folder.name else ".gch"
        subprocess.run([command, *self.flags, "-x", "c++-header", header.name, "-o", header.name + suffix],
                       cwd=self.folder, check=True)

    def compile(self, number, mistake):
        name = f"mistake_{number}.cpp"
        (self.folder / name).write_text(mistake.program())
        done = subprocess.run(
            [self.command, *self.flags, "-fsyntax-only", "-include", "prologue.h", name],
            cwd=self.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr


def check(compilers, mistakes, show):
    """Prints and counts what is wrong."""
    jobs = [(c, n, m) for c in compilers for n, m in enumerate(mistakes)]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda job: job[0].compile(job[1], job[2]), jobs)
        for (compiler, _, mistake), (status, output) in zip(jobs, answers):
            problem = verdict(mistake, status, output)
            wrong += problem is not None
            if problem or show:
                print(f"{compiler.command}: {mistake.title}: {problem or 'well'}\n{output}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="titles that hold these words")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("compilers", nargs="+")
    args = parser.parse_args()
    table = pathlib.Path(__file__).with_name("mistakes.txt").read_text(encoding="utf-8")
    mistakes = [m for m in parse(table) if args.only in m.title]
    found = [c for c in args.compilers if shutil.which(c)]
    if not found or not mistakes:
        sys.exit("nothing to check: no such compiler, or no such title")
    compilers = [Compiler(c, args.root.resolve(), args.out) for c in found]
    wrong = check(compilers, mistakes, args.show)
    print(f"{len(mistakes)} programs, {', '.join(found)}: {wrong} answers are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
