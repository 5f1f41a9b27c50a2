#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the five applications of the stencil paper in its host styles.

    evaluation.py --bench PROGRAM --out RESULTS.csv [--figures figure11,figure13,figure15]

PROGRAM is hpl_evaluation_bench, which runs an application in one process again and again, in
rounds of one run of each style (or ghost width); each application of a figure is a process. The
devices are virtual ones: one CPU opened several times, each with a context of its own, so that
every exchange passes through the host's memory. plot.py draws the results: figure11 and figure13
compare annotations with and without syncGhosts with explicit subarrays on two and three devices,
figure15 sweeps the width of the ghosts.
"""
import argparse
import os
import pathlib
import subprocess
import sys

APPLICATIONS = ["canny", "gauss", "jacobi3d", "life", "shwa"]
# The paper sweeps 1 to 32 rows; an application whose stencil reaches further starts there.
WIDTHS = {
    "gauss": [5, 10, 20, 30],
    "jacobi3d": [1, 2, 4, 8, 16, 32],
    "life": [1, 2, 4, 8, 16, 32],
    "shwa": [1, 2, 4, 8, 16, 32],
}
DEVICES = {"figure11": 2, "figure13": 3, "figure15": 2}
HEADER = "figure,application,devices,style,ghost_width,pair,seconds\n"


def runs_of(figure):
    """(application, what else the program is told) of each process that a figure takes."""
    if figure == "figure15":
        return [(name, ["--styles", "sync", "--widths", ",".join(map(str, widths))])
                for name, widths in WIDTHS.items()]
    return [(name, ["--styles", "subarrays,annotations,sync"]) for name in APPLICATIONS]


def measure(figure, arguments, file):
    environment = dict(os.environ, HPL_DEVICES=f"cpu:0*{DEVICES[figure]}")
    for name, options in runs_of(figure):
        command = [str(arguments.bench), "--application", name, "--figure", figure,
                   "--rounds", str(arguments.rounds), *options]
        if arguments.realtime:
            command = ["chrt", "--fifo", "1", *command]
        if arguments.processor_time:
            command.append("--processor-time")
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        file.write(done.stdout)
        file.flush()
        print(f"{figure} {name} done", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--figures", default="figure11,figure13,figure15")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--processor-time", action="store_true",
                        help="of all threads; for busy machines; leaves out what is waited")
    parser.add_argument("--realtime", action="store_true",
                        help="with real-time priority (root), for busy machines: others wait")
    arguments = parser.parse_args()
    figures = arguments.figures.split(",")
    for figure in figures:
        if figure not in DEVICES:
            parser.error(f"{figure}: expected {', '.join(DEVICES)}")
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        file.write(HEADER)
        for figure in figures:
            measure(figure, arguments, file)


if __name__ == "__main__":
    main()
