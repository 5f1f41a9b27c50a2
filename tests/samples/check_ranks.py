# SPDX-License-Identifier: Apache-2.0
"""Samples on several ranks print and draw what they do in one process.

Usage: check_ranks.py BIN [--evaluation PROGRAM | --vendors] [--mpirun PATH] [SAMPLE...]. BIN: the folder of the
samples. Each of them runs once alone on one device, and then as its lines of the table say, with the program cache
that the environment names. --evaluation: the applications of hpl_evaluation_bench instead. --vendors: on a device of PoCL and one of Mesa's rusticl instead, one for each rank.
--mpirun: ranks that mpirun starts instead of forked ones.

All ways to distribute work, numbers of ranks, and devices of a rank occur; not all combinations of them.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Sample: arguments, and for each of its runs ranks, devices of each rank, and how the work is distributed.
SAMPLES = {
    # A chain of four stencils.
    "canny": (
        ["--size", "61x43", "--check", "--no-progress"],
        [
            (2, 1, ["--devices", "all"]),
            (4, 1, ["--devices", "4", "--weights", "1,2,2,1"]),
        ],
    ),
    # Floats, which the strict rules make equal bit for bit, as in the samples below.
    "gauss": (
        ["--size", "40x36", "-n", "3", "--check", "--no-progress"],
        [
            (2, 1, ["--devices", "all"]),
            (3, 1, ["--weights", "1,2,1"]),
        ],
    ),
    "jacobi3d": (
        ["--size", "12", "-n", "9", "--every", "3", "--check", "--no-progress"],
        [
            (2, 1, ["--devices", "all"]),
            (2, 2, ["--weights", "1,2,2,1"]),
            (1, 2, ["--devices", "2"]),
        ],
    ),
    "life": (
        ["--pattern", "glider", "--size", "24", "-n", "30", "--edges", "torus", "--check", "--show", "--no-progress"],
        [
            (2, 1, ["--devices", "all"]),
            (4, 1, ["--weights", "3,2,1,1"]),
            (3, 2, ["--devices", "all"]),
        ],
    ),
    "shwa": (
        ["--size", "26x22", "-n", "12", "--check", "--no-progress"],
        [
            (3, 1, ["--devices", "all"]),
            (2, 2, ["--weights", "1,2,1,2"]),
        ],
    ),
    # Iterations of a stencil, in time tiles that the library chooses or the user.
    "heat2d": (
        ["--size", "40", "-n", "21", "--check"],
        [
            (2, 1, ["--devices", "2"]),
            (3, 1, []),
            (4, 1, ["--devices", "4", "--time-tile", "4"]),
            (2, 2, ["--devices", "4", "--time-tile", "3"]),
        ],
    ),
    # A program of three fields.
    "fdtd2d": (
        ["--size", "36", "-n", "15", "--check"],
        [
            (2, 1, ["--devices", "2"]),
            (3, 1, ["--devices", "3"]),
            (4, 2, ["--devices", "8"]),
            (2, 2, ["--devices", "4", "--time-tile", "3"]),
        ],
    ),
    # A program whose scalars change from step to step, and that records a row in each step.
    "acoustic": (
        ["--size", "80", "-n", "24", "--drift", "0.4", "--check"],
        [
            (2, 1, ["--devices", "2"]),
            (2, 1, ["--time-tile", "2"]),
            (2, 2, ["--devices", "4"]),
        ],
    ),
    # Blocks of rows that exchange by AUTO_SYNC, of arrays of two and three dimensions.
    "lbm": (
        ["--size", "24", "-n", "20", "--check", "--no-progress"],
        [
            (3, 1, ["--devices", "3"]),
            (2, 2, ["--devices", "4"]),
        ],
    ),
    # Chessboards in place, on a torus and on grids of all sizes.
    "ising": (
        ["--size", "48", "-n", "20", "--hot", "--check", "--no-progress"],
        [
            (2, 1, ["--devices", "2"]),
            (2, 2, ["--devices", "4"]),
        ],
    ),
    "multigrid": (
        ["--size", "32", "-n", "4", "--check", "--no-progress"],
        [
            (3, 1, ["--devices", "3"]),
            (2, 2, ["--devices", "4"]),
        ],
    ),
}
# The applications of the stencil paper in other host styles: ranks, devices of each rank, arguments.
EVALUATION = [
    ("canny", 2, 1, ["--styles", "auto"]),
    ("canny", 3, 1, ["--styles", "subarrays"]),
    ("canny", 2, 2, ["--styles", "sync", "--widths", "4"]),
    ("gauss", 2, 1, ["--styles", "template"]),
    ("gauss", 3, 1, ["--styles", "sync", "--weights", "1,2,1"]),
    ("gauss", 4, 1, ["--styles", "auto"]),
    ("jacobi3d", 3, 1, ["--styles", "annotations"]),
    ("jacobi3d", 2, 2, ["--styles", "sync", "--weights", "1,2,2,1", "--widths", "2"]),
    ("jacobi3d", 1, 2, ["--styles", "subarrays"]),
    ("life", 2, 1, ["--styles", "sync", "--widths", "3"]),
    ("life", 3, 1, ["--styles", "auto"]),
    ("life", 4, 1, ["--styles", "annotations", "--weights", "3,2,1,1"]),
    ("life", 3, 2, ["--styles", "subarrays"]),
    ("shwa", 2, 1, ["--styles", "annotations"]),
    ("shwa", 4, 1, ["--styles", "sync", "--widths", "2"]),
    ("shwa", 2, 2, ["--styles", "template"]),
]
# The samples that one rank of each vendor runs; in either order of the vendors.
VENDORS = {
    "gauss": [["--devices", "all"]],
    "jacobi3d": [["--devices", "all"]],
    "life": [["--weights", "1,2"]],
    "shwa": [["--devices", "all"]],
    "heat2d": [["--devices", "2", "--time-tile", "3"]],
}
# Lines that may differ: seconds and speeds, and the devices that a run was on.
TIMES = re.compile(r"(?m)^.*(updates/s, compilation included|[bm]illion cells per second)$\n?")
DEVICES = re.compile(r", on .*$", re.MULTILINE)


def run(program: Path, arguments: list[str], ranks: int, devices: str, launcher: str, folder: Path) -> tuple[str, bytes]:
    """What the sample printed, and its picture."""
    picture = folder / f"{program.name}-{ranks}.png"
    # Ranks share the machine's cores, on purpose.
    environment = dict(os.environ, HPL_DEVICES=devices, HPL_LOG="error", RUSTICL_ENABLE="llvmpipe",
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                       OMPI_MCA_hwloc_base_binding_policy="none")
    # The evaluation prints a hash of its cells instead of a picture.
    command = [str(program), *arguments, *([] if "--application" in arguments else ["--png", str(picture)])]
    if launcher and ranks > 1:
        command = [launcher, "-n", str(ranks), *command]
    else:
        environment["HPL_RANKS"] = str(ranks)
    ended = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command)} on {ranks} ranks with HPL_DEVICES={devices} ended with "
                         f"{ended.returncode}:\n{ended.stdout}{ended.stderr}")
    printed = DEVICES.sub("", TIMES.sub("", ended.stdout)).replace(str(picture), "PICTURE")
    return printed, picture.read_bytes() if picture.exists() else b""


def runs_of(given):
    """(program, arguments, ranks, devices of each rank, HPL_DEVICES, how the work is distributed)"""
    if given.evaluation:
        for name, ranks, each, style in EVALUATION:
            arguments = ["--check", "--application", name]
            yield given.evaluation, arguments, ranks, each, f"cpu:0*{ranks * each}", style
        return
    for name in given.samples or (VENDORS if given.vendors else SAMPLES):
        program, arguments = given.folder / name, SAMPLES[name][0]
        if not given.vendors:
            for ranks, each, style in SAMPLES[name][1]:
                yield program, arguments, ranks, each, f"cpu:0*{ranks * each}", style
            continue
        for style in VENDORS[name]:
            for devices in ("pocl:0,rusticl:0", "rusticl:0,pocl:0"):
                yield program, arguments, 2, 1, devices, style


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--evaluation", type=Path)
    parser.add_argument("--vendors", action="store_true")
    parser.add_argument("--mpirun", default="")
    parser.add_argument("samples", nargs="*")
    given = parser.parse_intermixed_args()
    wrong = 0
    done = []
    alone = {}
    with tempfile.TemporaryDirectory() as scratch:
        for program, arguments, ranks, each, devices, style in runs_of(given):
            title = " ".join([program.name, *arguments])
            if title not in alone:
                one = arguments + (["--styles", "single"] if given.evaluation else [])
                alone[title] = run(program, one, 1, "cpu:0", "", Path(scratch))
                if not re.search("check|hash", alone[title][0]):
                    raise SystemExit(f"{title} checked nothing:\n{alone[title][0]}")
                if not given.evaluation and not alone[title][1]:
                    raise SystemExit(f"{title} drew nothing")
            there = run(program, arguments + style, ranks, devices, given.mpirun, Path(scratch))
            line = f"{title} {' '.join(style) or '(default)'} on {ranks} ranks x {each}, {devices}"
            done.append(line)
            if there == alone[title]:
                continue
            wrong += 1
            same = ("the same text" if there[0] == alone[title][0]
                    else f"other text:\n{there[0]}\nnot\n{alone[title][0]}")
            print(f"{line}: {same}, {'the same' if there[1] == alone[title][1] else 'ANOTHER'} picture")
    print("\n".join(done))
    print(f"{len(done)} runs, {wrong} of them differ from one process")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
