#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ranks cost: the same program in one process, on two ranks, and in MPI and OpenCL by hand; with and without a
Session; the host's work for each step and the courier's for each message; a row of 4 KiB beside the driver's own time;
scaling from one rank to two, and of two ranks of different speeds.

Usage: perf/ranks.py [--rounds N] [--csv FILE] [PROGRAM] (default: 9 rounds, build/release/perf/hpl_rank_bench, which is
built if it is not there). Contenders run by turns; the table shows ratios of medians. Where the contenders are alike, one
machine shows what the library adds; it cannot show a network. Scaling and uneven ranks want a machine of two cores or
more that does nothing else. --only NAME leaves the other tables out: pairs, host, row, scaling, uneven.
"""
import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"]
# Two devices of one CPU, in one process and one for each rank: both virtual, or half of the cores each.
BOTH = {"virtual": "cpu:0*2", "halves": "cpu:0/2"}
# How the twin in MPI and OpenCL opens the same ones.
TWIN = {"virtual": "whole", "halves": "halves"}
STEPS = {"launch": 20000, "exchange": 4000, "life": 300, "jacobi3d": 200, "compute": 400, "row": 2000}
ROWS = 512
# Steps of some ms: in shorter ones a competitor that takes turns of one is no slow core but one that stops and goes.
UNEVEN_ROWS, UNEVEN_STEPS = 4096, 60


def contenders():
    """[(what is compared, program's work, {name: (launcher, environment)}, the first is the reference, goal)]"""
    yield ("a Session of one rank", "launch",
           {"no session": ([], {"RANK_BENCH_SESSION": "0"}), "session": ([], {})}, "time <= 1.02")
    for devices, names in BOTH.items():
        for work in ("life", "jacobi3d", "exchange"):
            env = {"HPL_DEVICES": names}
            each = {"one process": ([], env | {"RANK_BENCH_SESSION": "0"}),
                    "forked ranks": ([], env | {"HPL_RANKS": "2"}), "mpirun": (MPIRUN, env)}
            if work != "exchange":
                each["by hand"] = (MPIRUN, {"TWIN": TWIN[devices]})
            yield f"{work}, two {devices}", work, each, "speed >= 0.97" if work != "exchange" else ""
    for work in ("life", "jacobi3d", "exchange"):
        apart = {"HPL_DEVICES": "cpu:0/2"}
        yield (f"{work}, messages only", work,
               {"copied": (MPIRUN, apart | {"HPL_TRANSPORT": "-window,-inplace"}),
                "in place": (MPIRUN, apart | {"HPL_TRANSPORT": "-window"})}, "")


class Cost(NamedTuple):
    """Seconds of a step, of the host's calls, of their and of the courier's processor time, and of the driver's own
    transfer."""
    step: float
    host: float
    work: float
    courier: float
    driver: float


def measure(program, work, launcher, env, steps=None):
    # Else ranks that wait for each other in MPI take the cores from the devices.
    more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    command = [*launcher, str(program), work, str(steps or STEPS[work])]
    if "TWIN" in env:
        command = [*launcher, str(program.parent / "hpl_rank_twin"), work, str(STEPS[work]), env["TWIN"]]
    done = subprocess.run(command, env=os.environ | more | env, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return Cost(*(float(number) for number in done.stdout.split()))


def build(program):
    for command in (["cmake", "--preset", "release"],
                    ["cmake", "--build", "--preset", "release", "--target", "hpl_rank_bench", "hpl_rank_twin"]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return program


def medians(program, rounds, ways, steps=None):
    """{name: median Cost} of {name: (work, launcher, environment)}, measured by turns."""
    costs = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (work, launcher, env) in ways.items():
            costs[name].append(measure(program, work, launcher, env, steps))
    return {name: Cost(*(statistics.median(column) for column in zip(*each))) for name, each in costs.items()}


def pairs(program, rounds, lines):
    print(f"{'':32}{'contender':16}{'us a step':>10}{'us of host':>12}{'time':>8}{'speed':>8}")
    for what, work, each, goal in contenders():
        steps, hosts = {name: [] for name in each}, {name: [] for name in each}
        for turn in range(rounds):
            for name, (launcher, env) in each.items():
                cost = measure(program, work, launcher, env)
                steps[name].append(cost.step)
                hosts[name].append(cost.host)
                lines.append(f'"{what}",{name},{turn + 1},{cost.step:.4g},{cost.host:.4g}')
        reference = statistics.median(steps[next(iter(each))])
        for place, name in enumerate(each):
            step = statistics.median(steps[name])
            print(f"{what if place == 0 else '':32}{name:16}{1e6 * step:10.2f}{1e6 * statistics.median(hosts[name]):12.2f}"
                  f"{step / reference:8.3f}{reference / step:8.3f}  {goal if 0 < place < 3 else ''}", flush=True)
        if "by hand" in steps:
            ratio = statistics.median(steps["by hand"]) / statistics.median(steps["mpirun"])
            print(f"{'':32}{'mpirun by the twin by hand':46}{ratio:8.3f}  speed >= 0.98", flush=True)


def host(program, rounds):
    """The middle one of three ranks has two neighbours, and gets a message from each in every step."""
    # A rank with cores of its own keeps to them. With fewer than three cores, all ranks on one of them show what that
    # costs: processor time is not the time that they wait for each other.
    apart = {"HPL_DEVICES": "cpu:0*3", "HPL_RANKS": "3"}
    together = ["taskset", "--cpu-list", "0"] if len(os.sched_getaffinity(0)) < 3 else []
    quiet = {"HPL_LOG": "error"}
    ways = {}
    for name, more in (("window", {}), ("messages", {"HPL_TRANSPORT": "-window"})):
        ways[f"{name}, each rank's threads on one core"] = ("exchange", together, apart | quiet | more)
        ways[f"{name}, threads on any core"] = ("exchange", [], apart | quiet | more | {"HPL_RANKS_BIND": "off"})
    for name, cost in medians(program, rounds, ways).items():
        print(f"two neighbours, {name}: the host {1e6 * cost.work:.2f} us of processor time a step (goal 10), the courier "
              f"{1e6 * cost.courier / 2:.2f} us for each message that comes in (goal 6)")


def row(program, rounds):
    two = {"HPL_DEVICES": "cpu:0*2"}
    found = medians(program, rounds, {"window, forked": ("row", [], two | {"HPL_RANKS": "2"}),
                                      "window, mpirun": ("row", MPIRUN, two),
                                      "messages, mpirun": ("row", MPIRUN, two | {"HPL_TRANSPORT": "-window"})})
    for name, cost in found.items():
        print(f"a row of 4 KiB each way, {name}: {1e6 * cost.step:.1f} us, the driver's own read and write {1e6 * cost.driver:.1f}"
              f" us: + {1e6 * (cost.step - cost.driver):.1f} us (goal {10 if name.startswith('window') else 25})")


def scaling(program, rounds):
    halves = {"HPL_DEVICES": "cpu:0/2"}
    two = halves | {"HPL_RANKS": "2"}
    together = halves | {"RANK_BENCH_SESSION": "0"}
    found = medians(program, rounds, {
        "one": ("compute", [], halves | {"RANK_BENCH_DEVICE": "0", "RANK_BENCH_ROWS": str(ROWS)}),
        "weak together": ("compute", [], together | {"RANK_BENCH_ROWS": str(2 * ROWS)}),
        "strong together": ("compute", [], together | {"RANK_BENCH_ROWS": str(ROWS)}),
        "weak": ("compute", [], two | {"RANK_BENCH_ROWS": str(2 * ROWS)}),
        "strong": ("compute", [], two | {"RANK_BENCH_ROWS": str(ROWS)}),
        "weak free": ("compute", [], two | {"RANK_BENCH_ROWS": str(2 * ROWS), "HPL_RANKS_BIND": "off"}),
        "strong free": ("compute", [], two | {"RANK_BENCH_ROWS": str(ROWS), "HPL_RANKS_BIND": "off"})})
    one, weak, strong = (found[name].step for name in ("one", "weak", "strong"))
    print(f"compute-bound, weak: one rank {1e6 * one:.0f} us, two ranks {1e6 * weak:.0f} us: {one / weak:.1%} (goal 97 %)")
    print(f"compute-bound, strong: two ranks {1e6 * strong:.0f} us: {one / strong / 2:.1%} (goal 90 % while a step takes 200 us)")
    for name, what in (("free", "ranks whose threads may run on any core"), ("together", "devices in one process")):
        weak, strong = found[f"weak {name}"].step, found[f"strong {name}"].step
        print(f"compute-bound, two {what}: weak {one / weak:.1%}, strong {one / strong / 2:.1%}")


def uneven(program, rounds):
    competitor = subprocess.Popen([ROOT / "perf/competitor.py", "--core", "0", "--share", "0.5"], stdout=subprocess.PIPE)
    try:
        competitor.stdout.readline()
        # One process on the cores that a rank keeps to.
        half = os.cpu_count() // 2
        alone = {"HPL_DEVICES": "cpu:0", "POCL_MAX_PTHREAD_COUNT": str(half), "RANK_BENCH_ROWS": str(UNEVEN_ROWS),
                 "RANK_BENCH_DEVICE": "0"}
        ranks = {"HPL_DEVICES": "cpu:0/2", "HPL_RANKS": "2", "RANK_BENCH_ROWS": str(UNEVEN_ROWS)}
        found = medians(program, rounds, {
            "first": ("compute", ["taskset", "--cpu-list", f"0-{half - 1}"], alone),
            "second": ("compute", ["taskset", "--cpu-list", f"{half}-{2 * half - 1}"], alone),
            "equal": ("compute", [], ranks),
            "measured": ("compute", [], ranks | {"RANK_BENCH_WEIGHTS": "measured"})}, UNEVEN_STEPS)
    finally:
        competitor.kill()
        competitor.wait()
    together = 1 / found["first"].step + 1 / found["second"].step
    for name in ("equal", "measured"):
        print(f"two ranks, of which one has half of its core, {name} shares: {1 / found[name].step / together:.1%} of the sum of "
              f"their speeds{' (goal 95 %)' if name == 'measured' else ''}")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--csv", type=Path, help="of the pairs")
    options.add_argument("--only", choices=["pairs", "host", "row", "scaling", "uneven"])
    options.add_argument("program", nargs="?", type=Path, default=ROOT / "build/release/perf/hpl_rank_bench")
    given = options.parse_args()
    twin = given.program.parent / "hpl_rank_twin"
    program = given.program if given.program.exists() and twin.exists() else build(given.program)
    lines = ["what,contender,round,seconds_per_step,host_seconds_per_step"]
    if given.only in (None, "pairs"):
        pairs(program, given.rounds, lines)
    for name, table in (("host", host), ("row", row), ("scaling", scaling), ("uneven", uneven)):
        if given.only in (None, name):
            table(program, given.rounds)
    if given.csv:
        given.csv.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
