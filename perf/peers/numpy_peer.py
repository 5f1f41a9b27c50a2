#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenBLAS beside the products of perf/peers/matrices.cpp, by numpy. Usage: numpy_peer.py FILE.csv

Appends a line for each row that the file has already. Exit status 77: numpy is not installed.
"""
import csv
import statistics
import sys
import time

try:
    import numpy
except ImportError:
    sys.exit(77)

ROUNDS = 15
# Products in a turn, as in the row.
STEPS = 4


def main():
    with open(sys.argv[1], newline="") as file:
        goals = {line["row"]: line["goal"] for line in csv.DictReader(file)}
    random = numpy.random.default_rng(1)
    with open(sys.argv[1], "a", newline="") as file:
        for side in (1024, 2048):
            name = f"matrix product {side}^2, blocks in registers"
            if name not in goals:
                continue
            a, b = (random.random((side, side), dtype=numpy.float32) for _ in range(2))
            c = numpy.empty_like(a)
            times = []
            for _ in range(ROUNDS):
                begin = time.perf_counter()
                for _ in range(STEPS):
                    numpy.matmul(a, b, out=c)
                times.append(time.perf_counter() - begin)
            median = statistics.median(times) * 1e6
            csv.writer(file).writerow([name, goals[name], "OpenBLAS (numpy)", f"{median:.1f}"])


if __name__ == "__main__":
    main()
