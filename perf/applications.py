#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the five applications of the stencil paper in its host styles.

    applications.py --bin FOLDER --out RESULTS.csv [--figures figure11,figure13,figure15] [--pairs N]

FOLDER holds the sample programs (build/release/bin). Every pair runs all styles (or ghost widths)
of an application one after the other, in alternating order; the seconds, to a tenth of a
millisecond, are those that the program prints for its host loop. The devices are virtual ones: one
CPU opened several times, each with a context of its own, so that every exchange passes through the
host's memory. plot.py draws the results: figure11 and figure13 compare annotations with and without
syncGhosts with explicit subarrays on two and three devices, figure15 sweeps the width of the
ghosts.
"""
import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys

# Sizes and iterations that take a second or two on two cores, against which the tenths of a second in
# which a process starts and loads its kernels, and its scheduling, count for little.
APPLICATIONS = {
    "canny": ["--size", "1024", "--iterations", "15"],
    "gauss": ["--size", "1024", "--iterations", "400"],
    "jacobi3d": ["--size", "96", "--iterations", "3000"],
    "life": ["--pattern", "r-pentomino", "--size", "1024", "--edges", "dead", "-n", "4000"],
    "shwa": ["--size", "400", "--iterations", "120"],
}
STYLES = {"subarrays": "subarrays", "annotations": "annotations", "sync": "syncGhosts"}
# The paper sweeps 1 to 32 rows; an application whose stencil reaches further starts there.
WIDTHS = {
    "gauss": [5, 10, 20],
    "jacobi3d": [1, 2, 4, 8, 16],
    "life": [1, 2, 4, 8, 16, 32],
    "shwa": [1, 2, 4, 8, 16, 32],
}
DEVICES = {"figure11": 2, "figure13": 3, "figure15": 2}
SECONDS = re.compile(r"style \S+, \d+ devices?, ([0-9.]+) s")


def seconds_of(folder, application, devices, style, ghost_width):
    """Runs one program; the seconds that it prints."""
    command = [str(folder / application), *APPLICATIONS[application], "--no-progress",
               "--style", style]
    if ghost_width:
        command += ["--ghost-width", str(ghost_width)]
    environment = dict(os.environ, HPL_DEVICES=f"cpu:0*{devices}")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = SECONDS.search(done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return float(found.group(1))


def runs_of(figure):
    """(application, style, ghost width) of each run that a figure compares, by application."""
    if figure == "figure15":
        return {app: [(app, "sync", width) for width in widths] for app, widths in WIDTHS.items()}
    return {app: [(app, style, 0) for style in STYLES] for app in APPLICATIONS}


def measure(figure, folder, pairs, write):
    devices = DEVICES[figure]
    for application, runs in runs_of(figure).items():
        for run in runs:  # compiles the kernels
            seconds_of(folder, run[0], devices, run[1], run[2])
        for pair in range(pairs):
            order = runs if pair % 2 == 0 else runs[::-1]
            for app, style, width in order:
                seconds = seconds_of(folder, app, devices, style, width)
                write([figure, app, devices, STYLES[style], width, f"{app}-{pair}", seconds])
        print(f"{figure} {application} done", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--figures", default="figure11,figure13,figure15")
    parser.add_argument("--pairs", type=int, default=7)
    arguments = parser.parse_args()
    figures = arguments.figures.split(",")
    for figure in figures:
        if figure not in DEVICES:
            parser.error(f"{figure}: expected {', '.join(DEVICES)}")
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["figure", "application", "devices", "style", "ghost_width", "pair",
                         "seconds"])
        for figure in figures:
            measure(figure, arguments.bin, arguments.pairs, writer.writerow)


if __name__ == "__main__":
    main()
