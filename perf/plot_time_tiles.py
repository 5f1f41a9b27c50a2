#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what hpl_time_tile_bench measured, in the style of the overlapped tiling paper.

    plot_time_tiles.py programs RESULTS.csv OUT...   its figure 6: one by one, tiled, OpenMP
    plot_time_tiles.py sweep RESULTS.csv OUT...      its figure 7: speed over steps per pass
"""
import collections
import csv
import pathlib
import sys

COLUMNS = {"programs": ["program", "cells", "steps", "untiled", "tiled", "openmp"],
           "sweep": ["program", "depth", "height", "width", "speed"]}


def read(kind, path):
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or reader.fieldnames[:len(COLUMNS[kind])] != COLUMNS[kind]:
            sys.exit(f"plot_time_tiles.py: {path} has the columns {reader.fieldnames}, "
                     f"not {COLUMNS[kind]}")
        rows = list(reader)
    if not rows:
        sys.exit(f"plot_time_tiles.py: {path} has no lines")
    return rows


def draw_programs(axes, rows):
    names = [row["program"] for row in rows]
    for k, (column, label) in enumerate([("openmp", "OpenMP"), ("untiled", "one by one"),
                                         ("tiled", "tiled")]):
        axes.bar([i + 0.27 * (k - 1) for i in range(len(names))],
                 [float(row[column]) for row in rows], 0.27, label=label)
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axes.set_ylabel("10$^9$ cells per second")
    axes.set_title("Stencil programs, with and without time tiling")


def draw_sweep(axes, rows):
    lines = collections.defaultdict(list)
    for row in rows:
        if int(row["depth"]) == 0:
            axes.axhline(float(row["speed"]), color="#333333", linewidth=1,
                         label="the library's choice")
            continue
        lines[int(row["height"]), int(row["width"])].append(
            (int(row["depth"]), float(row["speed"])))
    for (height, width), points in sorted(lines.items()):
        points.sort()
        axes.plot(*zip(*points), marker="o", markersize=3, label=f"{height} x {width}")
    axes.set_xlabel("steps per pass")
    axes.set_ylabel("10$^9$ cells per second")
    axes.set_title(f"{rows[0]['program']}: steps per pass, by tile")


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in COLUMNS:
        sys.exit(__doc__)
    kind, results, *outputs = sys.argv[1:]
    for output in outputs:
        if pathlib.Path(output).suffix not in (".svg", ".png", ".pdf"):
            sys.exit(f"plot_time_tiles.py: {output}: files end in .svg, .png or .pdf")
    rows = read(kind, results)
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot_time_tiles.py: drawing needs matplotlib: apt-get install python3-matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "hpl"  # the same file for the same numbers
    from matplotlib import pyplot
    canvas, axes = pyplot.subplots(figsize=(8.0, 4.4), layout="constrained")
    (draw_programs if kind == "programs" else draw_sweep)(axes, rows)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    for output in outputs:
        canvas.savefig(output, dpi=150,
                       metadata={"Date": None} if output.endswith(".svg") else None)


if __name__ == "__main__":
    main()
