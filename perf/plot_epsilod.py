#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what perf/epsilod.sh measured and modelled, in the style of EPSILOD's evaluation.

    plot_epsilod.py MEASURED.csv DRY.csv FOLDER        strong.svg and weak.svg (Figs 7, 8), "... by hand.svg"
                                                       (Figs 9, 10), uneven.svg (Fig. 11)
    plot_epsilod.py --table MEASURED.csv DRY.csv       the same and Tables 2 to 5 as text, the paper's figures
                                                       beside ours; needs no matplotlib

Times of a point are the least of its repetitions, as in the paper's first study."""
import collections
import csv
import pathlib
import sys

PAPER_TABLE_2 = {"generic": [821.59, 1640.67, 3142.45, 6219.52, 12333.38, 24800.17, 36968.81],
                 "specific": [1282.60, 2557.95, 4684.85, 9302.92, 18478.60, 37114.85, 55087.86]}
PAPER_DEVICES = [1, 2, 4, 8, 16, 32, 48]
# Weak scaling on 1 to 32 GPUs, GFLOPS of Celerity and of EPSILOD. The last two columns of Table 4 are the same in
# both of its rows, which is a misprint: they are left out.
PAPER_TABLES_3_4 = {"2d9": [(1238.37, 1426.74), (2341.60, 2830.06), (4238.52, 4953.20), (8417.58, 9785.37),
                            (15777.26, 17965.59), (30940.34, 35145.91)],
                    "2d4": [(817.36, 774.52), (1520.13, 1536.50), (2712.66, 2681.57), (5361.13, 5287.03),
                            (10020.10, 9773.10)]}
# Two V100 and two WX 9100, 2d9: equal shares, and weights of 1 and 0.46.
PAPER_TABLE_5 = (2216.63, 3657.75)


def rows_of(path, columns):
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or not set(columns) <= set(reader.fieldnames):
            sys.exit(f"plot_epsilod.py: {path} has the columns {reader.fieldnames}, and lacks some of {columns}")
        return list(reader)


def measured(path):
    """(experiment, stencil, kernel) -> devices -> (seconds of an iteration, GFLOPS), the fastest repetition."""
    best = collections.defaultdict(dict)
    for row in rows_of(path, ["experiment", "stencil", "kernel", "devices", "ranks", "iterations", "seconds", "gflops"]):
        point = best[row["experiment"], row["stencil"], row["kernel"]]
        value = (float(row["seconds"]) / max(1, int(row["iterations"])), float(row["gflops"]))
        devices = int(row["devices"])
        point[devices] = min(point.get(devices, value), value)
    return best


def modelled(path):
    points = collections.defaultdict(dict)
    for row in rows_of(path, ["experiment", "stencil", "kernel", "devices", "seconds_per_iteration", "gflops"]):
        points[row["experiment"], row["stencil"], row["kernel"]][int(row["devices"])] = (
            float(row["seconds_per_iteration"]), float(row["gflops"]))
    return points


def print_table(here, model):
    """All figures and tables as text, the paper's beside ours."""
    print_scaling(here, model)
    print_table_2(here, model)
    print_pairs(here)
    print_uneven(here)


def print_scaling(here, model):
    """Figs 7 and 8: efficiency against one device, of the time of an iteration."""
    print("Figs 7 and 8. Here: that ranks cost little while each has a core. Not here: a network, more devices than cores; "
          "the dry run models those. The paper: strong above 90 % up to 48 GPUs.")
    for name, points in (("measured here", here), ("modelled", model)):
        for (experiment, stencil, kernel), line in sorted(points.items()):
            if experiment not in ("strong", "weak") or min(line) != 1:
                continue
            ideal = {n: line[1][0] / (n if experiment == "strong" else 1) for n in line}
            print(f"{experiment}, {stencil}, {kernel} kernel, {name}: " + ", ".join(
                f"{n}: {1e3 * line[n][0]:.3g} ms ({ideal[n] / line[n][0]:.0%})" for n in sorted(line)))


def print_table_2(here, model):
    """GFLOPS of 2d9, weak scaling; efficiency against one device."""
    print("\nTable 2. Here: the shape, on cores of one machine. Not here: a GPU's memory, which makes the paper's figures.")
    for name, points in (("measured here", here), ("modelled", model)):
        for kernel in ("generic", "specific"):
            line = points.get(("weak", "2d9", kernel), {})
            if not line:
                continue
            first = min(line)
            print(f"2d9 weak, {kernel} kernel, {name}: " + ", ".join(
                f"{devices}: {speed:.2f} GFLOPS ({speed / line[first][1] * first / devices:.0%})"
                for devices, (_, speed) in sorted(line.items())))
    for kernel, speeds in PAPER_TABLE_2.items():
        print(f"2d9 weak, {kernel} kernel, the paper: " + ", ".join(
            f"{devices}: {speed:.2f} GFLOPS ({speed / speeds[0] / devices:.0%})"
            for devices, speed in zip(PAPER_DEVICES, speeds)))


def print_pairs(here):
    """Figs 9 and 10, Tables 3 and 4."""
    print("\nFigs 9 and 10, Tables 3 and 4. Here: the skeleton by the twin in MPI and OpenCL by hand. Not here: Celerity, to "
          "which the paper's ratios are.")
    for (experiment, stencil, kernel), line in sorted(here.items()):
        if kernel == "twin":
            ours = here.get((experiment, stencil, "specific"), {})
            print(f"{experiment}, {stencil}: " + ", ".join(
                f"{devices}: {ours[devices][1] / speed:.2f} of the twin's {speed:.2f} GFLOPS"
                for devices, (_, speed) in sorted(line.items()) if devices in ours))
    for stencil, pairs in PAPER_TABLES_3_4.items():
        print(f"weak, {stencil}, the paper's by Celerity: " + ", ".join(
            f"{devices}: {ours / theirs:.2f}" for devices, (theirs, ours) in zip(PAPER_DEVICES, pairs)))


def print_uneven(here):
    """Fig. 11 and Table 5."""
    print("\nFig. 11, Table 5. Here: two cores, of which another program takes half of one; weights given or measured. Not "
          "here: GPUs of two vendors.")
    for (experiment, stencil, _), line in sorted(here.items()):
        if experiment.startswith("uneven"):
            speed = max(speed for _, speed in line.values())
            equal = here.get(("uneven 1:1", stencil, "specific"), {})
            gain = speed / max((each for _, each in equal.values()), default=speed)
            print(f"{experiment}, {stencil}: {speed:.2f} GFLOPS, x {gain:.2f} of equal shares")
    even, weighted = PAPER_TABLE_5
    print(f"2d9, the paper, four GPUs of two kinds: {even:.2f} GFLOPS, {weighted:.2f} with weights, x {weighted / even:.2f}")


def draw_scaling(pyplot, experiment, here, model, out):
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 7), sharex="row", sharey="row")
    for row, (source, points) in enumerate((("this machine", here), ("dry run of CTE-POWER", model))):
        for column, kernel in enumerate(("generic", "specific")):
            plot = axes[row][column]
            for (kind, stencil, which), line in sorted(points.items()):
                if (kind, which) == (experiment, kernel):
                    plot.plot(sorted(line), [1e3 * line[n][0] for n in sorted(line)], marker="o", markersize=3,
                              label=stencil)
            plot.set_xscale("log", base=2)
            if experiment == "strong":
                plot.set_yscale("log")
            else:
                plot.set_ylim(bottom=0)
            plot.set_title(f"{kernel} kernel, {source}", fontsize=9)
            plot.set_xlabel("devices")
            plot.set_ylabel("ms per iteration")
            if plot.get_legend_handles_labels()[0]:
                plot.legend(fontsize=7)
    figure.suptitle(f"{experiment} scaling")
    figure.tight_layout()
    figure.savefig(pathlib.Path(out) / f"{experiment}.svg")


def draw_pairs(pyplot, experiment, here, out):
    stencils = sorted({stencil for kind, stencil, kernel in here if (kind, kernel) == (experiment, "twin")})
    if not stencils:
        return
    figure, axes = pyplot.subplots(1, len(stencils), figsize=(3 * len(stencils), 3), squeeze=False)
    for plot, stencil in zip(axes[0], stencils):
        for kernel, label in (("specific", "skeleton"), ("twin", "by hand")):
            line = here.get((experiment, stencil, kernel), {})
            plot.plot(sorted(line), [1e3 * line[n][0] for n in sorted(line)], marker="o", markersize=3, label=label)
        plot.set_ylim(bottom=0)
        plot.set_title(stencil, fontsize=9)
        plot.set_xlabel("ranks")
        plot.set_ylabel("ms per iteration")
        plot.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(pathlib.Path(out) / f"{experiment}.svg")


def draw_uneven(pyplot, here, out):
    ways = sorted({kind for kind, _, _ in here if kind.startswith("uneven")})
    stencils = sorted({stencil for kind, stencil, _ in here if kind in ways})
    if not ways:
        return
    figure, plot = pyplot.subplots(figsize=(6, 4))
    for k, way in enumerate(ways):
        speeds = [max((v for _, v in here.get((way, s, "specific"), {}).values()), default=0) for s in stencils]
        plot.bar([i + 0.27 * (k - 1) for i in range(len(stencils))], speeds, 0.27, label=way)
    plot.set_xticks(range(len(stencils)), stencils)
    plot.set_ylabel("GFLOPS")
    plot.set_title("Two devices, one at half of its speed")
    plot.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(pathlib.Path(out) / "uneven.svg")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if sys.argv[1] == "--table":
        print_table(measured(sys.argv[2]), modelled(sys.argv[3]))
        return
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    here, model = measured(sys.argv[1]), modelled(sys.argv[2])
    for experiment in ("strong", "weak"):
        draw_scaling(pyplot, experiment, here, model, sys.argv[3])
        draw_pairs(pyplot, f"{experiment} by hand", here, sys.argv[3])
    draw_uneven(pyplot, here, sys.argv[3])


if __name__ == "__main__":
    main()
