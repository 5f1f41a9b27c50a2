#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The node-aware paper's figures 11, 12b/c and 13, as far as plans and dry runs tell them.

Usage: perf/node_aware.py [--csv FILE] [--most NODES] [PROGRAM]   (default: 256 nodes, build/release/perf/hpl_node_aware)

Four single-precision quantities, radius 3, 26 neighbours, nodes of six GPUs, as in the paper; the domain does not wrap
around. For each number of nodes the bytes that pass between nodes and within them in one exchange: as the paper divides the
domain, as a grid of devices that knows no nodes, and as the library does. Then the program itself in a dry run on as many
nodes: what its plans send between nodes must be what the partition says. The time is the dry run's model of a step (links
as on Summit: 25 GB/s between nodes, 50 GB/s within), not a measurement: no GPU takes part.
"""
import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STEPS = 30
# With up to this many devices the library looks at all grids, and at messages and strided rows
# besides bytes.
FEW_DEVICES = 64
# The paper's measurements, "+kernel" beside "+remote" (figure 12b), and its text on figure 11.
PAPER = {"placement": 1.20, 256: 1.16}


def machine(nodes):
    gpu = {"count": 6, "kind": "gpu", "name": "V100", "memory_GiB": 16, "gflops": 14000, "bandwidth_GBs": 830, "launch_us": 5}
    return {"name": f"{nodes} nodes of Summit", "nodes": [{"count": nodes, "devices": [gpu]}],
            "links": {"host": {"bandwidth_GBs": 50, "latency_us": 8}, "node": {"bandwidth_GBs": 50, "latency_us": 4},
                      "network": {"bandwidth_GBs": 25, "latency_us": 3}}}


def run(command, env=None):
    done = subprocess.run([str(word) for word in command], env=os.environ | (env or {}), capture_output=True, text=True,
                          timeout=1800)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def dry_run(program, side, nodes):
    """Bytes between nodes and modelled seconds of one exchange, as planned and executed."""
    with tempfile.TemporaryDirectory() as folder:
        file, report = Path(folder) / "machine.json", Path(folder) / "report.json"
        file.write_text(json.dumps(machine(nodes)))
        run([program, "exchange", side, STEPS],
            {"HPL_DRY_RUN": str(file), "HPL_DRY_RUN_REPORT": str(report), "HPL_STRATEGY": "direct"})
        told = json.loads(report.read_text())
    between = told["links"].get("network", {}).get("bytes", 0)
    # The first step exchanges nothing: all devices begin with the same cells.
    return between / (STEPS - 1), told["step"]["time_s"]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--csv", type=Path)
    options.add_argument("--most", type=int, default=256)
    options.add_argument("program", nargs="?", type=Path, default=ROOT / "build/release/perf/hpl_node_aware")
    given = options.parse_args()
    if not given.program.exists():
        for command in (["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release", "--target", "hpl_node_aware"]):
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    lines = ["figure,nodes,side,scheme,bytes_between,bytes_within,most_out_of_a_node,seconds"]
    placed = next(csv.DictReader(io.StringIO(run([given.program, "placement"]))))
    best, identity, worst = (float(placed[key]) for key in ("best", "identity", "worst"))
    print(f"Fig. 11: seconds on links, best placement {best:.3g}, linear {identity:.3g} ({identity / best:.2f} times), worst "
          f"{worst:.3g} ({worst / best:.2f}); the paper measured {PAPER['placement']:.2f} for linear against its placement")
    lines += [f"11,1,1440x1452x700,{name},,,,{value:.6g}" for name, value in
              (("best", best), ("linear", identity), ("worst", worst))]
    print("\nBlocks on nodes of racks: cost of a placement by that in order (and milliseconds to find it)")
    nodes = 16
    while nodes <= given.most:
        ways = list(csv.DictReader(io.StringIO(run([given.program, "racks", nodes]))))
        in_order = float(ways[0]["cost"])
        print(f"{nodes:6}  " + ", ".join(f"{way['method']} {float(way['cost']) / in_order:.3f} ({1e3 * float(way['seconds']):.1f})"
                                         for way in ways[1:]), flush=True)
        lines += [f"racks,{nodes},,{way['method']},,,,{float(way['cost']):.6g}" for way in ways]
        nodes *= 2
    for figure, kind in (("12b", "weak"), ("13", "strong")):
        print(f"\nFig. {figure} ({kind}): MB between nodes and within in one exchange; modelled ms of a step")
        print(f"{'nodes':>6}{'side':>7}{'paper':>18}{'flat':>18}{'ours':>18}{'planned':>12}{'ms':>9}")
        nodes = 1
        while nodes <= given.most:
            rows = list(csv.reader(io.StringIO(run([given.program, "partitions", kind, nodes]))))
            bytes_of = {row[2]: (int(row[3]), int(row[4]), int(row[5])) for row in rows}
            side = int(rows[0][1])
            planned, seconds = dry_run(given.program, side, nodes)
            if max(round(planned), bytes_of["ours"][0]) > bytes_of["paper"][0]:
                sys.exit(f"{nodes} nodes: more passes between nodes than with the paper's partition")
            if 6 * nodes > FEW_DEVICES and round(planned) != bytes_of["ours"][0]:
                sys.exit(f"{nodes} nodes: the plans send {planned:.0f} bytes between nodes, the partition says "
                         f"{bytes_of['ours'][0]}")
            text = "".join(f"{bytes_of[scheme][0] / 1e6:10.1f} +{bytes_of[scheme][1] / 1e6:6.1f}"
                           for scheme in ("paper", "flat", "ours"))
            print(f"{nodes:6}{side:7}{text}{planned / 1e6:12.1f}{1e3 * seconds:9.2f}", flush=True)
            for scheme, (between, within, most) in bytes_of.items():
                lines.append(f"{figure},{nodes},{side},{scheme},{between},{within},{most},"
                             f"{f'{seconds:.6g}' if scheme == 'ours' else ''}")
            nodes *= 2
    if given.csv:
        given.csv.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
