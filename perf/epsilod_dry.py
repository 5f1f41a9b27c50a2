#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models EPSILOD's strong and weak scaling on its cluster, CTE-POWER, by dry runs of samples/epsilod.

    epsilod_dry.py PROGRAM DEVICES STENCIL KERNEL      prints one line of CSV for each experiment

The machine: nodes of four V100 of 16 GB with NVLink, InfiniBand EDR between nodes. Strong: 44,000 x 44,000 cells. Weak:
as many rows more as there are devices, while two arrays fit into the addresses of a process. Times come from the model
of docs/dry-run.md, messages and bytes are exact."""
import json
import os
import subprocess
import sys
import tempfile

SIDE = 44000
# Cells of 4 bytes of an array, of which a program has two.
MOST_CELLS = 1 << 43
NEIGHBOURS = {"2d4": 4, "2d9": 9, "2d9nc": 9, "2d5": 5}
FEW, ITERATIONS = 4, 16


def machine(devices):
    whole, rest = divmod(devices, 4)
    gpu = {"kind": "gpu", "name": "V100 of 16 GB", "memory_GiB": 16, "gflops": 14000, "bandwidth_GBs": 900,
           "launch_us": 5, "compute_units": 80, "local_memory_KiB": 48}
    nodes = [{"count": whole, "devices": [{"count": 4, **gpu}]}] if whole else []
    if rest:
        nodes.append({"count": 1, "devices": [{"count": rest, **gpu}]})
    return {"name": f"CTE-POWER, {devices} GPUs", "nodes": nodes,
            "links": {"host": {"bandwidth_GBs": 30, "latency_us": 8}, "node": {"bandwidth_GBs": 60, "latency_us": 5},
                      "network": {"bandwidth_GBs": 12, "latency_us": 3}}}


def report_of(program, devices, stencil, kernel, rows, iterations):
    with tempfile.TemporaryDirectory() as folder:
        described, report = os.path.join(folder, "machine.json"), os.path.join(folder, "report.json")
        with open(described, "w", encoding="utf-8") as file:
            json.dump(machine(devices), file)
        environment = dict(os.environ, HPL_DRY_RUN=described, HPL_DRY_RUN_REPORT=report)
        subprocess.run([program, "--no-progress", "-n", str(iterations), "--stencil", stencil, "--kernel", kernel,
                        "--size", f"{SIDE}x{rows}"], check=True, env=environment, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def main():
    if len(sys.argv) != 5 or sys.argv[3] not in NEIGHBOURS:
        sys.exit(__doc__)
    program, stencil, kernel = sys.argv[1], sys.argv[3], sys.argv[4]
    devices = int(sys.argv[2])
    for experiment, rows in (("strong", SIDE), ("weak", SIDE * devices)):
        if rows * SIDE > MOST_CELLS:
            continue
        # Seconds of further iterations: without the first ones and the initial values.
        few, many = (report_of(program, devices, stencil, kernel, rows, n) for n in (FEW, FEW + ITERATIONS))
        seconds = (many["time_s"] - few["time_s"]) / ITERATIONS
        network = [report["links"].get("network", {}).get("bytes", 0) for report in (few, many)]
        flops = (2 * NEIGHBOURS[stencil] + 1) * rows * SIDE
        print(f"{experiment},{stencil},{kernel},{rows},{SIDE},{devices},{seconds:.9f},"
              f"{many['step']['efficiency']:.4f},{(network[1] - network[0]) // ITERATIONS},{1e-9 * flops / seconds:.2f}")


if __name__ == "__main__":
    main()
