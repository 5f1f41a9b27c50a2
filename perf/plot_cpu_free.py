#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tells and draws what hpl_cpu_free_contenders measured, as the thesis on CPU-free execution does.

    plot_cpu_free.py RESULTS.csv [OUT...]   its figures 6.1 and 6.2 as a picture; its figure 2.2 as numbers

Figure 2.2 of a contender on two devices: communication is what a step takes without arithmetic, computing what
kernels take that nobody waits for; hidden is what both take more than a step, as a share of communication.
"""
import csv
import pathlib
import sys

COLUMNS = ["devices", "domain", "count", "computes", "contender", "us_per_step"]
CONTENDERS = ["copy", "overlap", "peer stores", "signalled", "cpu-free", "resident", "hpl"]
# Microseconds per step, 256 x 256 per device on 8 A100, from the thesis's public data.
PAPER = {"copy": 81.4, "overlap": 100.9, "peer stores": 61.5, "signalled": 14.7, "cpu-free": 11.5}


def read(path):
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or reader.fieldnames[:len(COLUMNS)] != COLUMNS:
            sys.exit(f"plot_cpu_free.py: {path} has the columns {reader.fieldnames}, not {COLUMNS}")
        rows = list(reader)
    if not rows:
        sys.exit(f"plot_cpu_free.py: {path} has no lines")
    return {(row["devices"], row["domain"], int(row["count"]), row["computes"] == "yes",
             row["contender"]): float(row["us_per_step"]) for row in rows}


def domains_of(times):
    return list(dict.fromkeys((devices, domain) for devices, domain, *_ in times))


def tell(times):
    print("two devices: communication as a share of the step, and how much of it is hidden (the "
          "thesis: copy and overlap 96 %, of which 19 %)")
    for devices, domain in domains_of(times):
        computing = times.get((devices, domain, 2, True, "alone"))
        if computing is None:
            continue
        line = f"{devices:8} {domain:12}"
        for contender in CONTENDERS:
            step = times.get((devices, domain, 2, True, contender))
            exchange = times.get((devices, domain, 2, False, contender))
            if step is None or exchange is None:
                continue
            # Kernels that are not waited for include the time to launch them.
            hidden = min(1.0, max(0.0, (exchange + computing - step) / exchange))
            share = min(1.0, exchange / step)
            # If it is next to nothing, it does not matter how much is hidden.
            line += f"  {contender} {share:.0%}" + (f", {hidden:.0%}" if share >= 0.05 else "")
        print(line)


def bars(axes, times, key, title, paper=False):
    devices, domain, computes = key
    shown = [(name, times[devices, domain, 2, computes, name]) for name in CONTENDERS
             if (devices, domain, 2, computes, name) in times]
    axes.bar(range(len(shown)), [time for _, time in shown], color="#4878a8", label="here")
    if paper:
        axes.plot([i for i, (name, _) in enumerate(shown) if name in PAPER],
                  [PAPER[name] for name, _ in shown if name in PAPER], "o", color="#c0504d",
                  label="thesis, 8 GPUs")
        axes.legend(fontsize="x-small")
    axes.set_ylim(bottom=0)
    axes.set_xticks(range(len(shown)), [name for name, _ in shown], rotation=60, ha="right",
                    fontsize="small")
    axes.set_title(title, fontsize="small")


def draw(times, outputs):
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot_cpu_free.py: drawing needs matplotlib: apt-get install python3-matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "hpl"  # the same file for the same numbers
    from matplotlib import pyplot
    devices = domains_of(times)[0][0]
    domains = [domain for other, domain in domains_of(times)
               if other == devices and (devices, domain, 2, True, "copy") in times]
    canvas, all_axes = pyplot.subplots(2, len(domains), figsize=(2.3 * len(domains), 6.0),
                                       layout="constrained", squeeze=False)
    for column, domain in enumerate(domains):
        name = domain.replace("x", " x ")
        bars(all_axes[0][column], times, (devices, domain, True), name, domain == "256x256")
        bars(all_axes[1][column], times, (devices, domain, False), name + ", no compute")
    for row in all_axes:
        row[0].set_ylabel("us per step")
    canvas.suptitle(f"Jacobi on two devices ({devices}), cells of each")
    for output in outputs:
        canvas.savefig(output, dpi=120,
                       metadata={"Date": None} if output.endswith(".svg") else None)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    results, *outputs = sys.argv[1:]
    for output in outputs:
        if pathlib.Path(output).suffix not in (".svg", ".png", ".pdf"):
            sys.exit(f"plot_cpu_free.py: {output}: files end in .svg, .png or .pdf")
    times = read(results)
    tell(times)
    if outputs:
        draw(times, outputs)


if __name__ == "__main__":
    main()
