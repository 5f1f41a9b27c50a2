#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes a share of one core away from everybody else until it is stopped.

    competitor.py --core 0 --share 0.5

Prints "ready" as soon as it does.

In turns of a millisecond, so that what is left looks like a slower core. With the right to a
real-time priority (root has it) the share is exact; without, it is up to the scheduler, and the
program says so on stderr.
"""
import argparse
import os
import sys
import time

PERIOD = 1e-3  # seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.5, help="of the core, 0 to 0.9")
    parser.add_argument("--seconds", type=float, default=600, help="ends by itself after these")
    arguments = parser.parse_args()
    if not 0 <= arguments.share <= 0.9:
        parser.error("--share: 0 to 0.9")
    os.sched_setaffinity(0, {arguments.core})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
    except PermissionError:
        print("competitor.py: no real-time priority; the share is not exact", file=sys.stderr)
    print("ready", flush=True)
    end = time.monotonic() + arguments.seconds
    turn = time.monotonic()
    while turn < end:
        while time.monotonic() < turn + arguments.share * PERIOD:
            pass
        turn = max(turn + PERIOD, time.monotonic())
        time.sleep(max(0.0, turn - time.monotonic()))


if __name__ == "__main__":
    main()
