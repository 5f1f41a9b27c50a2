#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenCV beside the masks of perf/peers/pictures.cpp and masks.cpp, and the edges of edges.cpp. Usage: opencv_peer.py FILE.csv

Appends a line for each row that the file has already. Exit status 77: OpenCV is not installed.
"""
import csv
import statistics
import sys
import time

try:
    import cv2
    import numpy
except ImportError:
    sys.exit(77)

ROUNDS = 15


def median(work, steps):
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(steps):
            work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def main():
    with open(sys.argv[1], newline="") as file:
        goals = {line["row"]: line["goal"] for line in csv.DictReader(file)}
    picture = numpy.random.default_rng(1).integers(0, 256, (4096, 4096), dtype=numpy.uint8)
    out = numpy.empty_like(picture)
    reals = picture.astype(numpy.float32)
    smooth = numpy.empty_like(reals)
    at = numpy.arange(4096, dtype=numpy.int64)
    rings = ((at[None, :] ** 2 + at[:, None] ** 2) >> 12).astype(numpy.uint8)
    soft = numpy.empty_like(rings)

    def canny():
        cv2.GaussianBlur(rings, (5, 5), 1.4, dst=soft)
        cv2.Canny(soft, 20, 40, L2gradient=True)

    # How often a row's contenders compute the result, beside the work.
    rows = {
        "mask 3x3 on bytes 4096^2": (8, lambda: cv2.GaussianBlur(picture, (3, 3), 0, dst=out)),
        "Gauss 11x11 of floats 4096^2, one mask": (1, lambda: cv2.GaussianBlur(reals, (11, 11), 2, dst=smooth)),
        "CANNY with hysteresis 4096^2": (1, canny),
    }
    with open(sys.argv[1], "a", newline="") as file:
        for name, (steps, work) in rows.items():
            if name in goals:
                csv.writer(file).writerow([name, goals[name], "OpenCV", f"{median(work, steps):.1f}"])


if __name__ == "__main__":
    main()
