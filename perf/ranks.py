#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ranks cost: the same program in one process and on two ranks, and with and without a Session.

Usage: perf/ranks.py [--rounds N] [--csv FILE] [PROGRAM] (default: 9 rounds, build/release/perf/hpl_rank_bench, which is
built if it is not there). Contenders run by turns; the table shows ratios of medians. Where the contenders are alike, one
machine shows what the library adds; it cannot show a network.
"""
import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"]
# Two devices of one CPU, in one process and one for each rank: both virtual, or half of the cores each.
BOTH = {"virtual": "cpu:0*2", "halves": "cpu:0/2"}
STEPS = {"launch": 20000, "exchange": 4000, "life": 300, "jacobi3d": 200}


def contenders():
    """[(what is compared, program's work, {name: (launcher, environment)}, the first is the reference, goal)]"""
    yield ("a Session of one rank", "launch",
           {"no session": ([], {"HPL_BENCH_SESSION": "0"}), "session": ([], {})}, "time <= 1.02")
    for devices, names in BOTH.items():
        for work in ("life", "jacobi3d", "exchange"):
            env = {"HPL_DEVICES": names}
            yield (f"{work}, two {devices}", work,
                   {"one process": ([], env | {"HPL_BENCH_SESSION": "0"}),
                    "forked ranks": ([], env | {"HPL_RANKS": "2"}), "mpirun": (MPIRUN, env)},
                   "speed >= 0.97" if work != "exchange" else "")


def measure(program, work, launcher, env):
    more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([*launcher, str(program), work, str(STEPS[work])], env=os.environ | more | env,
                          capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(launcher)} {program} {work}: exit code {done.returncode}\n{done.stderr}")
    return tuple(float(number) for number in done.stdout.split())


def build(program):
    for command in (["cmake", "--preset", "release"],
                    ["cmake", "--build", "--preset", "release", "--target", "hpl_rank_bench"]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return program


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--csv", type=Path)
    options.add_argument("program", nargs="?", type=Path, default=ROOT / "build/release/perf/hpl_rank_bench")
    given = options.parse_args()
    program = given.program if given.program.exists() else build(given.program)
    lines = ["what,contender,round,seconds_per_step,host_seconds_per_step"]
    print(f"{'':32}{'contender':16}{'us a step':>10}{'us of host':>12}{'time':>8}{'speed':>8}")
    for what, work, each, goal in contenders():
        steps, hosts = {name: [] for name in each}, {name: [] for name in each}
        for turn in range(given.rounds):
            for name, (launcher, env) in each.items():
                step, host = measure(program, work, launcher, env)
                steps[name].append(step)
                hosts[name].append(host)
                lines.append(f'"{what}",{name},{turn + 1},{step:.4g},{host:.4g}')
        reference = statistics.median(steps[next(iter(each))])
        for place, name in enumerate(each):
            step = statistics.median(steps[name])
            print(f"{what if place == 0 else '':32}{name:16}{1e6 * step:10.2f}{1e6 * statistics.median(hosts[name]):12.2f}"
                  f"{step / reference:8.3f}{reference / step:8.3f}  {goal if place > 0 else ''}", flush=True)
    if given.csv:
        given.csv.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
