#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what perf/node_aware.sh wrote to a folder: node_methods.svg (Fig. 12a), node_weak.svg and node_strong.svg (Figs 12b
and 13: bytes between nodes by scheme). Needs matplotlib."""
import collections
import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def methods(folder):
    groups = collections.defaultdict(dict)
    for row in rows(folder / "node_exchange.csv"):
        groups[f"{row['label']}\n{row['devices']}"][row["method"]] = float(row["milliseconds"])
    names = list(next(iter(groups.values())))
    figure, axes = plt.subplots(figsize=(10, 4))
    for number, name in enumerate(names):
        places = [place + (number - len(names) / 2 + 0.5) * 0.16 for place in range(len(groups))]
        axes.bar(places, [group[name] for group in groups.values()], 0.16, label=name)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel("ms of an exchange")
    axes.legend()
    figure.tight_layout()
    figure.savefig(folder / "node_methods.svg")


def scaling(folder, figure_name, file):
    lines = collections.defaultdict(list)
    for row in rows(folder / "node_aware.csv"):
        if row["figure"] == figure_name and float(row["bytes_between"]) > 0:
            lines[row["scheme"]].append((int(row["nodes"]), float(row["bytes_between"]) / 1e6))
    figure, axes = plt.subplots(figsize=(5, 4))
    for scheme, points in lines.items():
        axes.loglog(*zip(*points), marker="o", base=2, label=scheme)
    axes.set_xlabel("nodes of six devices")
    axes.set_ylabel("MB between nodes in an exchange")
    axes.legend()
    figure.tight_layout()
    figure.savefig(folder / file)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    methods(folder)
    scaling(folder, "12b", "node_weak.svg")
    scaling(folder, "13", "node_strong.svg")


if __name__ == "__main__":
    main()
