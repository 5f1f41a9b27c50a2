# SPDX-License-Identifier: Apache-2.0
"""Ranks that share out a CPU keep what one process has: all steps in one launch, and the same cells.

Usage: check_one_launch.py BIN, the folder of the samples. Parts and copies of a CPU, in one process
and on two ranks, each of which asks the driver for its own cores only.
"""

import os
import re
import subprocess
import sys

ARGUMENTS = ["--size", "64", "--steps", "200", "--devices", "2", "--check"]
DEVICES = ["cpu:0/2", "cpu:0*2"]
ONE_LAUNCH = re.compile(r"all steps are one launch on each device: 2 groups")


def explained(program: str, devices: str, ranks: int) -> str:
    environment = dict(os.environ, HPL_STRATEGY="persistent", HPL_EXPLAIN="1", HPL_DEVICES=devices,
                       HPL_RANKS=str(ranks))
    ended = subprocess.run([program, *ARGUMENTS], env=environment, capture_output=True, text=True, timeout=120)
    if ended.returncode != 0:
        raise SystemExit(f"heat2d on {ranks} ranks of {devices} ended with {ended.returncode}:\n"
                         f"{ended.stdout}{ended.stderr}")
    return ended.stderr


def main() -> int:
    program = os.path.join(sys.argv[1], "heat2d")
    failed = 0
    for devices in DEVICES:
        for ranks in (1, 2):
            said = explained(program, devices, ranks)
            if not ONE_LAUNCH.search(said):
                print(f"heat2d on {ranks} ranks of {devices} takes its steps one by one:\n{said}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
