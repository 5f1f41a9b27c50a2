# SPDX-License-Identifier: Apache-2.0
"""Samples on several ranks print and draw what they do in one process.

Usage: check_ranks.py BIN, the folder of the samples. Each of them runs once alone and then on two or
three forked ranks, each time in another style, with the program cache that the environment names.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Sample: arguments, and how each of its runs on ranks distributes the work.
SAMPLES = {
    "canny": (
        ["--size", "61x43", "--check", "--no-progress"],
        [(2, ["--style", "auto"]), (3, ["--style", "subarrays"])],
    ),
    "gauss": (
        ["--size", "40x36", "-n", "3", "--check", "--no-progress"],
        [(2, ["--style", "template"]), (3, ["--style", "sync", "--weights", "1,2,1"])],
    ),
    "jacobi3d": (
        ["--size", "12", "-n", "9", "--every", "3", "--check", "--no-progress"],
        [(2, ["--style", "stencil"]), (3, ["--style", "annotations"])],
    ),
    "life": (
        ["--pattern", "glider", "--size", "24", "-n", "30", "--edges", "torus", "--check", "--show", "--no-progress"],
        [(2, ["--style", "sync", "--ghost-width", "3"]), (3, ["--style", "auto"])],
    ),
    "shwa": (
        ["--size", "26x22", "-n", "12", "--check", "--no-progress"],
        [(2, ["--style", "annotations"]), (3, ["--style", "stencil"])],
    ),
    "heat2d": (["--size", "40", "-n", "21", "--check"], [(2, ["--devices", "2"]), (3, [])]),
    "fdtd2d": (["--size", "36", "-n", "15", "--check"], [(3, ["--devices", "3"])]),
}
# What may differ: seconds and speeds, and the devices that a run was on.
TIMES = re.compile(r"(?m)^.*(updates/s, compilation included|billion cells per second)$\n?")
DEVICES = re.compile(r", on .*$", re.MULTILINE)


def run(program: Path, arguments: list[str], ranks: int, folder: Path) -> tuple[str, bytes]:
    """What the sample printed, and its picture."""
    picture = folder / f"{program.name}-{ranks}.png"
    environment = dict(os.environ, HPL_RANKS=str(ranks), HPL_DEVICES="cpu:0")
    # Two or three of them share the machine's cores, on purpose.
    environment["HPL_LOG"] = "error"
    command = [str(program), *arguments, "--png", str(picture)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command)} on {ranks} ranks ended with {ended.returncode}:\n"
                         f"{ended.stdout}{ended.stderr}")
    printed = DEVICES.sub("", TIMES.sub("", ended.stdout)).replace(str(picture), "PICTURE")
    return printed, picture.read_bytes()


def main() -> int:
    folder = Path(sys.argv[1])
    names = sys.argv[2:] or list(SAMPLES)
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            arguments, runs = SAMPLES[name]
            alone = run(folder / name, arguments, 1, Path(scratch))
            if "check" not in alone[0] or not alone[1]:
                raise SystemExit(f"{name} checked or drew nothing:\n{alone[0]}")
            for ranks, style in runs:
                there = run(folder / name, arguments + style, ranks, Path(scratch))
                if there == alone:
                    continue
                wrong += 1
                same = "the same text" if there[0] == alone[0] else f"other text:\n{there[0]}\nnot\n{alone[0]}"
                print(f"{name} {' '.join(style)} on {ranks} ranks: {same}, "
                      f"{'the same' if there[1] == alone[1] else 'ANOTHER'} picture")
    print(f"{len(names)} samples, {wrong} runs on ranks that differ from one process")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
