#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what perf/peers.sh measured as a table. Usage: table.py FILE.csv

The file has a line for each contender of a row: row, goal, contender, microseconds. The first contender of a row is
the library; its time is divided by that of the best of the others.
"""
import csv
import sys


def main():
    rows = {}
    with open(sys.argv[1], newline="") as file:
        for line in csv.DictReader(file):
            goal, contenders = rows.setdefault(line["row"], (float(line["goal"]), []))
            contenders.append((line["contender"], float(line["microseconds"])))
    lines = [("what", "HPL", "best of the others", "HPL by that", "goal", "")]
    for name, (goal, contenders) in rows.items():
        ours = contenders[0][1]
        best = min(contenders[1:], key=lambda contender: contender[1])
        ratio = ours / best[1]
        lines.append((name, f"{ours:.0f} us", f"{best[0]}, {best[1]:.0f} us", f"{ratio:.2f}", f"{goal:.2f}",
                      "" if ratio <= goal else "missed"))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


if __name__ == "__main__":
    main()
