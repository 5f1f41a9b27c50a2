#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs samples on virtual CPU devices and as dry runs for as many, and compares bytes and launches.

Usage: compare_samples.py BIN [EVALUATION]. BIN: the folder of the samples; EVALUATION: hpl_evaluation_bench. Prints one line per run; exits with 1 where counters differ.
"""

import json
import os
import subprocess
import sys
import tempfile

RUNS = [["life", "--size", "256", "-n", "12", "--devices", "all", "--no-progress"],
        ["shwa", "--size", "40x50", "-n", "5", "--devices", "all", "--no-progress"],
        ["heat2d", "--size", "200", "-n", "20", "--time-tile", "4"]]

# Plain kernels that the library distributes, and annotated ones.
EVALUATION = [["--check", "--application", "life", "--styles", "auto"],
              ["--check", "--application", "life", "--styles", "sync"],
              ["--check", "--application", "shwa", "--styles", "auto"]]

MACHINE = """{"nodes": [{"devices": [{"count": %d, "kind": "cpu", "memory_GiB": 4, "gflops": 100,
 "bandwidth_GBs": 50, "launch_us": 5, "compute_units": %d, "float_lanes": %d}]}],
 "links": {"host": {"bandwidth_GBs": 10, "latency_us": 5}, "node": {"bandwidth_GBs": 10, "latency_us": 5}}}"""


def float_lanes():
    """Floats in a vector of this machine: reductions leave a partial result for each lane of each unit."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = set(next((line for line in file if line.startswith("flags")), "").split())
    return 16 if "avx512f" in flags else 8 if "avx" in flags else 4


def run(command, settings):
    environment = {**os.environ, "HPL_TUNE": "off", "HPL_ZERO_COPY": "off", **settings}
    subprocess.run(command, env=environment, check=True, capture_output=True)


def counted_on_devices(trace):
    events = json.load(open(trace, encoding="utf-8"))
    events = events["traceEvents"] if isinstance(events, dict) else events
    spans = [e["args"] for e in events if e.get("ph") == "X" and "bytes" in e.get("args", {})]
    launches = [a for a in spans if "strategy" in a]
    return sum(a["bytes"] for a in spans if "strategy" not in a), len(launches)


def counted_dry(report):
    r = json.load(open(report, encoding="utf-8"))
    directions = ("host_to_device", "device_to_host", "device_to_device")
    return sum(r["bytes_" + direction] for direction in directions), r["launches"]


def main(folder, evaluation=None):
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        machine, trace, report = (os.path.join(scratch, n) for n in ("m.json", "t.json", "r.json"))
        for devices in (2, 3):
            with open(machine, "w", encoding="utf-8") as file:
                file.write(MACHINE % (devices, os.cpu_count(), float_lanes()))
            commands = [[os.path.join(folder, name), *arguments] for name, *arguments in RUNS]
            if evaluation:
                commands += [[evaluation, *arguments] for arguments in EVALUATION]
            for command in commands:
                if command[0].endswith("heat2d"):
                    command += ["--devices", str(devices)]
                run(command, {"HPL_DEVICES": f"cpu:0*{devices}", "HPL_TRACE": trace})
                run(command, {"HPL_DRY_RUN": machine, "HPL_DRY_RUN_REPORT": report})
                real, dry = counted_on_devices(trace), counted_dry(report)
                print(f"{' '.join([os.path.basename(command[0]), *command[1:]])}, {devices} devices: {real} bytes and launches, "
                      f"dry {dry}", flush=True)
                failures += real != dry
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
