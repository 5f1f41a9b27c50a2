#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 12a of the node-aware paper on the devices of this machine: an exchange of four single-precision quantities,
radius 3, 26 neighbours in a periodic domain, with the ways that cells may take switched on one by one.

Usage: perf/node_aware/methods.py [--rounds N] [--side N] [--times N] [--csv FILE] [--only LABEL] [PROGRAM]

Labels are the paper's: 1n/2r/6g/96 is one node, two ranks, six devices, 96^3 cells on each. Methods run by turns; the table
has medians of the rounds and how many times longer than the library's own choice each takes.
  +remote   through the hosts' memory, and by messages between ranks: each array and pair of devices by itself
  +inplace  and messages that leave from and arrive in the memory of devices (the paper's +ca, for CPUs)
  +colo     and memory that the ranks of a node share
  +peer     and copies between devices of one context
  +kernel   and copies within a device
  joined    and all arrays and devices of two ranks in one message: the library's choice
The paper's +remote passes cells between the GPUs of one rank by MPI, too; here they pass through the rank's memory.
"""
import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ALONE = {"HPL_MESSAGES": "fields", "HPL_PACK": "off"}
METHODS = {"+remote": ALONE | {"HPL_TRANSPORT": "-self,-direct,-window,-inplace"},
           "+inplace": ALONE | {"HPL_TRANSPORT": "-self,-direct,-window"}, "+colo": ALONE | {"HPL_TRANSPORT": "-self,-direct"},
           "+peer": ALONE | {"HPL_TRANSPORT": "-self"}, "+kernel": ALONE, "joined": {}}
# (ranks, devices of the node, HPL_DEVICES)
NODES = [(1, 1, "cpu:0"), (1, 2, "cpu:0/2"), (2, 2, "cpu:0/2"), (1, 2, "cpu:0*2"), (2, 2, "cpu:0*2"), (1, 6, "cpu:0*6"),
         (2, 6, "cpu:0*6"), (6, 6, "cpu:0*6")]


def run(program, side, times, ranks, devices, settings):
    env = os.environ | settings | {"HPL_RANKS": str(ranks), "HPL_DEVICES": devices}
    done = subprocess.run([program, str(side), str(times)], env=env, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{program}: exit code {done.returncode}\n{done.stderr}")
    return float(done.stdout)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--side", type=int, default=96)
    options.add_argument("--times", type=int, default=30)
    options.add_argument("--csv", type=Path)
    options.add_argument("--only")
    options.add_argument("program", nargs="?", type=Path, default=ROOT / "build/release/perf/hpl_node_exchange")
    given = options.parse_args()
    lines = ["label,devices,method,milliseconds,by_joined"]
    print(f"{'':16}{'':10}" + "".join(f"{name:>18}" for name in METHODS))
    for ranks, count, devices in NODES:
        label = f"1n/{ranks}r/{count}g/{given.side}"
        if given.only and given.only != label:
            continue
        seconds = {name: [] for name in METHODS}
        for _ in range(given.rounds):
            for name, settings in METHODS.items():
                seconds[name].append(run(given.program, given.side, given.times, ranks, devices, settings))
        median = {name: statistics.median(values) for name, values in seconds.items()}
        text = "".join(f"{1e3 * value:9.2f} ms {value / median['joined']:5.2f}" for value in median.values())
        print(f"{label:16}{devices:10}{text}", flush=True)
        lines += [f"{label},{devices},{name},{1e3 * value:.4f},{value / median['joined']:.3f}"
                  for name, value in median.items()]
    if given.csv:
        given.csv.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
