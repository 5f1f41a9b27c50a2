#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what perf/epsilod.sh measured and modelled, in the style of EPSILOD's evaluation.

    plot_epsilod.py MEASURED.csv DRY.csv FOLDER        strong.svg and weak.svg (Figs 7, 8), "... by hand.svg"
                                                       (Figs 9, 10), uneven.svg (Fig. 11)
    plot_epsilod.py --table MEASURED.csv DRY.csv       GFLOPS of the weak scaling (Table 2), and ours against
                                                       the twin (Figs 9, 10); needs no matplotlib

Times of a point are the least of its repetitions, as in the paper's first study."""
import collections
import csv
import pathlib
import sys

PAPER_TABLE_2 = {"generic": [821.59, 1640.67, 3142.45, 6219.52, 12333.38, 24800.17, 36968.81],
                 "specific": [1282.60, 2557.95, 4684.85, 9302.92, 18478.60, 37114.85, 55087.86]}
PAPER_DEVICES = [1, 2, 4, 8, 16, 32, 48]


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
    """The shape of Table 2: GFLOPS of 2d9, weak scaling; efficiency against one device."""
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
    for (experiment, stencil, kernel), line in sorted(here.items()):
        if kernel == "twin":
            ours = here.get((experiment, stencil, "specific"), {})
            print(f"{experiment}, {stencil}: " + ", ".join(
                f"{devices}: {ours[devices][1] / speed:.2f} of the twin's {speed:.2f} GFLOPS"
                for devices, (_, speed) in sorted(line.items()) if devices in ours))
        if experiment.startswith("uneven"):
            print(f"{experiment}, {stencil}: {max(speed for _, speed in line.values()):.2f} GFLOPS")


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
