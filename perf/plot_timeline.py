#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a part of a timeline, such as HPL_TRACE=run.json wrote: kernels, transfers and messages.

    plot_timeline.py TIMELINE.json OUT [--from MS] [--to MS]      OUT: .svg, .png or .pdf; needs matplotlib
    plot_timeline.py TIMELINE.json --overlap                      prints how much of it is hidden

Milliseconds count from the first kernel. A row is a queue of a device, or the messages of a rank in
one direction, each in its phases. What is hidden is the time, of each rank, at which a message or a
transfer is under way and a kernel of that rank runs, against the time at which one is under way.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

COLOURS = {"kernel": "#4477aa", "transfer": "#ee8866", "message": "#aaaa00", "waiting": "#dddddd"}
# For messages; the others are transfers.
PHASES = {"sending": "message", "receiving": "message", "waiting": "waiting"}


def read(path):
    """[(row, rank, kind, begin, end)], times in ms from the first kernel on."""
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    spans, whole, begun = [], {}, {}
    for event in events:
        name = names.get(event.get("pid"), "")
        of_rank = re.match(r"rank (\d+)", name)
        rank = int(of_rank.group(1)) if of_rank else 0
        category = event.get("cat", "")
        if category == "message" and event["ph"] == "b":
            # Its phases lie within it.
            whole.setdefault(event["id"], event["name"])
            begun[event["id"]] = event["ts"]
        elif category == "message" and event["name"] != whole[event["id"]]:
            row = f"rank {rank} {whole[event['id']]}"
            kind = PHASES.get(event["name"], "transfer")
            spans.append((row, rank, kind, begun[event["id"]], event["ts"]))
        elif event["ph"] == "X" and category != "host":
            track = tracks.get((event["pid"], event["tid"]), "")
            device = re.search(r"#\d+", name)
            row = f"rank {rank} {device.group(0) if device else name} {track}"
            kind = "kernel" if category == "kernel" else "transfer"
            spans.append((row, rank, kind, event["ts"], event["ts"] + event["dur"]))
    first = min((span[3] for span in spans if span[2] == "kernel"), default=None)
    if first is None:
        sys.exit(f"plot_timeline: no kernel in {path}")
    return [(row, rank, kind, (begin - first) / 1e3, (end - first) / 1e3)
            for row, rank, kind, begin, end in spans]


def union(spans):
    """The spans, joined where they overlap."""
    joined = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return joined


def length(spans):
    return sum(end - begin for begin, end in spans)


def common(a, b):
    return [(max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b if min(x[1], y[1]) > max(x[0], y[0])]


def show_overlap(spans):
    of_rank = collections.defaultdict(lambda: collections.defaultdict(list))
    for _, rank, kind, begin, end in spans:
        if begin >= 0 and kind != "waiting":
            of_rank[rank]["kernel" if kind == "kernel" else "moving"].append((begin, end))
    for rank, kinds in sorted(of_rank.items()):
        kernels, moving = union(kinds["kernel"]), union(kinds["moving"])
        total = length(moving)
        hidden = 100 * length(common(kernels, moving)) / total if total > 0 else 0
        print(f"rank {rank}: kernels {length(kernels):.3f} ms, transfers and messages {total:.3f} ms, "
              f"{hidden:.0f} % of these while a kernel runs")


def draw(spans, out, begin, end):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    shown = [span for span in spans if span[4] >= begin and span[3] <= end]
    rows = sorted({span[0] for span in shown}, reverse=True)
    figure, axes = pyplot.subplots(figsize=(9, 0.32 * len(rows) + 0.9))
    for row, _, kind, start, stop in shown:
        axes.barh(rows.index(row), stop - start, left=start, height=0.72, color=COLOURS[kind])
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.set_xlim(begin, end)
    axes.set_xlabel("milliseconds", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    handles = [matplotlib.patches.Patch(color=colour, label=kind) for kind, colour in COLOURS.items()]
    figure.legend(handles=handles, fontsize=7, ncols=len(handles), loc="upper center", frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    figure.savefig(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("timeline", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    parser.add_argument("--from", dest="begin", type=float, default=0)
    parser.add_argument("--to", dest="end", type=float)
    parser.add_argument("--overlap", action="store_true")
    options = parser.parse_args()
    spans = read(options.timeline)
    if options.overlap or options.out is None:
        show_overlap(spans)
    if options.out is not None:
        end = options.end if options.end is not None else max(span[4] for span in spans)
        draw(spans, options.out, options.begin, end)


if __name__ == "__main__":
    main()
