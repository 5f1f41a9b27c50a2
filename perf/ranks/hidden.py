#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: hidden.py TIMELINE [LEFT_OUT]

How much of the messages between two ranks went on beside kernels, by the stamps of a timeline (HPL_TRACE): for each
message the time from the sender's begin to the receiver's end, and the part of it in which the receiver's device ran a
kernel. The first LEFT_OUT messages (default 10) are those of warm-up.
"""
import json
import sys

# The process of a rank's host in the timeline; that of its first device is the rank + 1.
HOSTS = 1_000_000


def stretches(events, rank, name):
    begun, ended = {}, []
    for event in events:
        if event.get("cat") != "message" or event["pid"] != HOSTS + rank or event["name"] != name:
            continue
        if event["ph"] == "b":
            begun[event["id"]] = event["ts"]
        else:
            ended.append((begun.pop(event["id"]), event["ts"]))
    return sorted(ended, key=lambda stretch: stretch[1])


def main():
    with open(sys.argv[1]) as file:
        events = json.load(file)["traceEvents"]
    left_out = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    for rank in (0, 1):
        kernels = [(event["ts"], event["ts"] + event["dur"]) for event in events
                   if event.get("cat") == "kernel" and event["pid"] == rank + 1]
        ways = list(zip(stretches(events, 1 - rank, "sending"), stretches(events, rank, "receiving")))[left_out:]
        messages = [(sent[0], received[1]) for sent, received in ways]
        total = sum(end - begin for begin, end in messages)
        beside = sum(max(0, min(end, last) - max(begin, first)) for begin, end in messages for first, last in kernels)
        print(f"to rank {rank}: a message is under way for {total / len(messages) / 1000:.1f} ms, {beside / total:.0%} of it beside kernels")


if __name__ == "__main__":
    main()
