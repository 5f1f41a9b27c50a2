#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that whatever the library throws is an hpl::Error, so that programs that catch those see all of it.

Usage: thrown_scan.py ROOT. Prints one line per violation; exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

FOLDERS = ["hpl", "stencil_templates"]
SOURCES = (".h", ".cpp", ".def")
BASE = "Error"
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')
CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)(?:\s+final)?\s*:\s*(?:public\s+)?([\w:]+)")
THROW = re.compile(r"\bthrow\b\s*([^;]{0,80})")
# Makes what is thrown: a function with the type in front, or a lambda that returns it.
FUNCTION = re.compile(r"\b(\w+)\s+(\w+)\s*\(")
LAMBDA = re.compile(r"\bauto\s+(\w+)\s*=\s*\[[^\]]*\]\s*\([^)]*\)\s*\{\s*return\s+(\w+)\s*[({]")
THROWN = re.compile(r"((?:\w+::)*\w+)\s*[({]")


def code_of(text):
    """The text with comments and literals blanked out, its lines where they were."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    return COMMENT.sub(blank, LITERAL.sub(lambda m: '"' + " " * (len(m.group(0)) - 2) + '"', text))


def errors_among(classes):
    """The names of classes, given with their bases, that derive from Error."""
    errors = {BASE}
    while True:
        more = {name for name, base in classes if base.split("::")[-1] in errors and base[:5] != "std::"} - errors
        if not more:
            return errors
        errors |= more


def makers_in(code, errors):
    """The functions and lambdas of a file that return an Error."""
    makers = {name for kind, name in FUNCTION.findall(code) if kind in errors}
    return makers | {name for name, kind in LAMBDA.findall(code) if kind in errors}


def violations_in(sources):
    """`sources`: code by name."""
    classes = [pair for code in sources.values() for pair in CLASS.findall(code)]
    errors = errors_among(classes)
    found = []
    for name, code in sources.items():
        known = errors | makers_in(code, errors)
        for match in THROW.finditer(code):
            expression = match.group(1).strip()
            if not expression:
                continue  # passes on what was caught
            thrown = THROWN.match(expression)
            if thrown is None or thrown.group(1).startswith("std::") or thrown.group(1).split("::")[-1] not in known:
                line = code.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: throws {expression.splitlines()[0]}, which is no hpl::Error")
    return found


def main(root):
    sources = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in SOURCES:
                sources[path.relative_to(root).as_posix()] = code_of(path.read_text(encoding="utf-8"))
    found = violations_in(sources)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
