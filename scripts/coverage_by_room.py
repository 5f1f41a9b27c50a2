#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line coverage by room, from a summary of gcovr: coverage_by_room.py SUMMARY.json [MINIMUM]

Prints one line per folder of hpl/, the least covered first, and the files below MINIMUM per cent
(default 90). Judges nothing: gcovr's --fail-under-line does."""
import collections
import json
import sys


def room_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "hpl"


def percent(covered, total):
    return 100.0 * covered / total if total else 100.0


def main():
    minimum = float(sys.argv[2]) if len(sys.argv) > 2 else 90.0
    with open(sys.argv[1], encoding="utf-8") as summary:
        files = json.load(summary)["files"]
    rooms = collections.defaultdict(lambda: [0, 0])
    for file in files:
        room = rooms[room_of(file["filename"])]
        room[0] += file["line_covered"]
        room[1] += file["line_total"]
    for name, (covered, total) in sorted(rooms.items(), key=lambda r: percent(*r[1])):
        print(f"{name:<14} {percent(covered, total):5.1f} %  {covered:>6} of {total:>6} lines")
    for file in sorted(files, key=lambda f: percent(f["line_covered"], f["line_total"])):
        share = percent(file["line_covered"], file["line_total"])
        if share < minimum:
            missed = file["line_total"] - file["line_covered"]
            print(f"  {file['filename']}: {share:.1f} %, {missed} lines never run")


if __name__ == "__main__":
    main()
