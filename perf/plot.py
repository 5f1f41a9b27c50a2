#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of the stencil paper's evaluation from measured seconds and counted lines.

    plot.py FIGURE RESULTS.csv OUT...      FIGURE: see below; OUT: .svg, .png or .pdf
    plot.py --numbers FIGURE RESULTS.csv   prints what would be drawn; needs no matplotlib
    plot.py --numbers --base STYLE ...     the same, bars against another style
    plot.py --best FIGURE RESULTS.csv      prints the best point of each line, and its ratio

RESULTS.csv has a header and the columns figure (figure11 or 11), application, devices, style,
ghost_width, pair, seconds: one line for each run. Runs with the same `pair` were made one after the
other and are compared with each other. Columns that a figure does not use may be empty. For figure10
it is what sloc.py --csv prints: application, style, sloc, effort and others.

Each pair gives a ratio. Bars show the median of base / other: above 1 is faster than the base.
Lines show the median of other / base: below 1 is faster than the narrowest ghosts. Whiskers are
where the true median lies with 95 % confidence, whatever the distribution (order statistics of the
pairs); of less than six pairs they are the extremes. Reductions show the per cent of the base's
lines and effort that a style saves, for applications that have the base.

Figures:"""
import argparse
import collections
import csv
import dataclasses
import math
import pathlib
import statistics
import sys

COUNTS = ["application", "style", "sloc", "effort"]
COLUMNS = ["figure", "application", "devices", "style", "ghost_width", "pair", "seconds"]


@dataclasses.dataclass(frozen=True)
class Figure:
    """What to draw of the lines of a figure."""
    # "bars": one per application and style; "lines": one per application; "reductions": of counts
    kind: str
    title: str
    value: str
    base: str = "subarrays"  # the style that bars are compared with
    style: str = "syncGhosts"  # the style that lines show
    paper: tuple = ()  # what the paper says, as (name, value)
    log: bool = False


FIGURES = {
    "figure10": Figure("reductions", "Kernels, against those with local memory by hand",
                       "per cent saved", base="byhand",
                       paper=(("paper: lines, mean", 72.0), ("paper: effort, mean", 79.0))),
    "figure11": Figure("bars", "Annotations against explicit subarrays, two devices",
                       "speed-up over explicit subarrays"),
    "figure12": Figure("bars", "The same, two devices of a second machine",
                       "speed-up over explicit subarrays"),
    "figure13": Figure("bars", "The same, three devices", "speed-up over explicit subarrays"),
    "figure14": Figure("bars", "Stencil templates", "speed-up over tiles filled by one row",
                       base="one row fills the tile", log=True,
                       paper=(("paper, least (GPUs)", 6.1), ("paper, most (GPUs)", 19.7))),
    "figure15": Figure("lines", "Ghost cell expansion", "time / time with the narrowest ghosts"),
}


class PlotError(Exception):
    """Results that cannot be drawn, or nothing to draw with; the message says why."""


@dataclasses.dataclass(frozen=True)
class Ratio:
    median: float
    low: float
    high: float


def figure_name(text):
    text = text.strip().lower()
    return text if text.startswith("figure") else "figure" + text


def require_columns(reader, columns, name):
    missing = [column for column in columns if column not in (reader.fieldnames or [])]
    if missing:
        raise PlotError(f"{name}: missing column{'s' * (len(missing) > 1)} {', '.join(missing)}; "
                        f"the header must have {','.join(columns)}")


def read_counts(lines, name):
    """The lines of sloc.py --csv."""
    reader = csv.DictReader(lines)
    require_columns(reader, COUNTS, name)
    rows = list(reader)
    for number, row in enumerate(rows, 2):
        try:
            row["sloc"], row["effort"] = float(row["sloc"]), float(row["effort"])
        except (TypeError, ValueError):
            raise PlotError(f"{name}:{number}: sloc and effort are numbers") from None
    if not rows:
        raise PlotError(f"{name}: no lines")
    return rows


def read_results(lines, name, figure):
    """The lines of one figure, as dictionaries with numbers where there are numbers."""
    if FIGURES[figure].kind == "reductions":
        return read_counts(lines, name)
    reader = csv.DictReader(lines)
    require_columns(reader, COLUMNS, name)
    rows, seen = [], set()
    for row in reader:
        seen.add(figure_name(row["figure"]))
        if figure_name(row["figure"]) != figure:
            continue
        try:
            row["seconds"] = float(row["seconds"])
            row["ghost_width"] = int(row["ghost_width"] or 0)
        except (TypeError, ValueError):
            raise PlotError(
                f"{name}:{reader.line_num}: seconds and ghost_width are numbers") from None
        if not row["seconds"] > 0:
            raise PlotError(f"{name}:{reader.line_num}: seconds are positive")
        rows.append(row)
    if not rows:
        raise PlotError(f"{name}: no lines of {figure}; there are those of "
                        f"{', '.join(sorted(seen)) or 'none'}")
    return rows


def interval(values):
    """The range of sorted values that holds the median of what they are drawn from with 95 %."""
    count, outside, rank = len(values), 0.0, -1
    while 2 * (outside := outside + math.comb(count, rank + 1) / 2**count) <= 0.05:
        rank += 1
    rank = max(rank, 0)
    return values[rank], values[count - 1 - rank]


def ratio(over, under, what):
    """Of two {pair: seconds}, over the pairs that both have."""
    pairs = sorted(over.keys() & under.keys())
    if not pairs:
        raise PlotError(f"{what}: no pair has both runs")
    single = sorted(over[pair] / under[pair] for pair in pairs)
    return Ratio(statistics.median(single), *interval(single))


def label_of(row, rows):
    """The application, with its number of devices where the results have several."""
    several = len({r["devices"] for r in rows}) > 1
    return f"{row['application']} ({row['devices']} devices)" if several else row["application"]


def runs(rows, key):
    """{key: {pair: seconds}}; a pair may not have the same run twice."""
    result = collections.defaultdict(dict)
    for row in rows:
        group = result[key(row)]
        if row["pair"] in group:
            raise PlotError(
                f"{row['application']}, {row['style']}: pair {row['pair']} occurs twice")
        group[row["pair"]] = row["seconds"]
    return result


def bars(figure, rows):
    """{style: {application: Ratio}}, in the order of the file."""
    measured = runs(rows, lambda row: (label_of(row, rows), row["style"]))
    series = {}
    for (application, style), seconds in measured.items():
        if style == figure.base:
            continue
        if (application, figure.base) not in measured:
            raise PlotError(f"{application} has no runs of style '{figure.base}'")
        series.setdefault(style, {})[application] = ratio(
            measured[application, figure.base], seconds, f"{application}, {style}")
    if not series:
        raise PlotError(f"there is no style but '{figure.base}' to compare")
    return series


def lines(figure, rows):
    """{application: {ghost width: Ratio}}."""
    rows = [row for row in rows if row["style"].lower() == figure.style.lower()]
    if not rows:
        raise PlotError(f"there are no runs of style '{figure.style}'")
    measured = runs(rows, lambda row: (label_of(row, rows), row["ghost_width"]))
    series = {}
    for application in dict.fromkeys(name for name, _ in measured):
        widths = sorted(width for name, width in measured if name == application)
        narrowest = measured[application, widths[0]]
        series[application] = {
            width: ratio(measured[application, width], narrowest, f"{application}, width {width}")
            for width in widths}
    return series


def reductions(figure, rows):
    """{style and metric: {application: Ratio}}, without spread: counts are exact."""
    bases = {row["application"]: row for row in rows if row["style"] == figure.base}
    series = {}
    for row in rows:
        base = bases.get(row["application"])
        if base is None or row is base:
            continue
        for metric, label in (("sloc", "lines"), ("effort", "effort")):
            if not base[metric] > 0:
                raise PlotError(f"{row['application']}: style '{figure.base}' is empty")
            saved = 100 * (1 - row[metric] / base[metric])
            series.setdefault(f"{row['style']}: {label}", {})[row["application"]] = Ratio(
                saved, saved, saved)
    if not series:
        raise PlotError(f"no application has the style '{figure.base}' and another one")
    return series


def series_of(figure, rows):
    return {"bars": bars, "lines": lines, "reductions": reductions}[figure.kind](figure, rows)


def errors_of(points):
    return [[p.median - p.low for p in points], [p.high - p.median for p in points]]


def draw_bars(axes, series):
    applications = list(dict.fromkeys(a for values in series.values() for a in values))
    width = 0.8 / len(series)
    for i, (style, values) in enumerate(series.items()):
        there = [(n, values[a]) for n, a in enumerate(applications) if a in values]
        points = [point for _, point in there]
        spread = any(p.low != p.high for p in points)
        axes.bar([n - 0.4 + (i + 0.5) * width for n, _ in there], [p.median for p in points], width,
                 yerr=errors_of(points) if spread else None, capsize=3, label=style)
    axes.set_xticks(range(len(applications)), applications)
    points = [point for values in series.values() for point in values.values()]
    axes.set_ylim(bottom=min(0.0, *(p.low for p in points)))


def draw_lines(axes, series):
    widths = sorted({width for values in series.values() for width in values})
    for application, values in series.items():
        points = list(values.values())
        axes.errorbar(list(values), [p.median for p in points], yerr=errors_of(points), marker="o",
                      capsize=3, label=application)
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.minorticks_off()
    axes.set_xlabel("ghost cells on each side")


def draw(figure, series, outputs):
    try:
        import matplotlib
    except ImportError:
        raise PlotError("drawing needs matplotlib: apt-get install python3-matplotlib (and run "
                        "/usr/bin/python3), or pip install matplotlib; --numbers prints the values "
                        "without it") from None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "hpl"  # the same file for the same numbers
    from matplotlib import pyplot
    canvas, axes = pyplot.subplots(figsize=(7.2, 4.0), layout="constrained")
    (draw_lines if figure.kind == "lines" else draw_bars)(axes, series)
    if figure.kind != "reductions":
        axes.axhline(1.0, color="#333333", linewidth=1, zorder=0)
    for (name, value), style in zip(figure.paper, ("--", ":")):
        axes.axhline(value, color="#333333", linewidth=1, linestyle=style, zorder=0, label=name)
    if figure.log:
        points = [point for values in series.values() for point in values.values()]
        axes.set_yscale("log")
        axes.set_ylim(min(p.low for p in points) / 2, 1.5 * max(p.high for p in points))
    axes.set_title(figure.title)
    axes.set_ylabel(figure.value)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for output in outputs:
        canvas.savefig(output, dpi=150,
                       metadata={"Date": None} if output.endswith(".svg") else None)
    pyplot.close(canvas)


def print_numbers(series):
    print("series,at,median,min,max")
    for name, values in series.items():
        for at, point in values.items():
            print(f"{name},{at},{point.median:.4f},{point.low:.4f},{point.high:.4f}")


def print_best(series):
    """Of each line the lowest point; others whose interval meets its own are as good."""
    print("series,best,median,min,max,as_good")
    for name, values in series.items():
        best = min(values, key=lambda at: values[at].median)
        point = values[best]
        others = [str(at) for at, p in values.items() if at != best and p.low <= point.high]
        print(f"{name},{best},{point.median:.4f},{point.low:.4f},{point.high:.4f},"
              f"{' '.join(others)}")


def main():
    table = "\n".join(f"  {name}   {figure.title}" for name, figure in FIGURES.items())
    parser = argparse.ArgumentParser(description=f"{__doc__}\n{table}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--numbers", action="store_true")
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--base", help="of bars")
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("results")
    parser.add_argument("outputs", nargs="*", metavar="OUT")
    arguments = parser.parse_args()
    if not (arguments.numbers or arguments.best or arguments.outputs):
        parser.error("name the files to write, or say --numbers or --best")
    for output in arguments.outputs:
        if pathlib.Path(output).suffix not in (".svg", ".png", ".pdf"):
            parser.error(f"{output}: files end in .svg, .png or .pdf")
    figure = FIGURES[arguments.figure]
    if arguments.best and figure.kind != "lines":
        parser.error(f"--best: {arguments.figure} has no lines")
    if arguments.base:
        if figure.kind != "bars" or arguments.outputs:
            parser.error("--base: for --numbers of bars")
        figure = dataclasses.replace(figure, base=arguments.base)
    try:
        with open(arguments.results, newline="") as file:
            rows = read_results(file, arguments.results, arguments.figure)
        series = series_of(figure, rows)
        if arguments.numbers:
            print_numbers(series)
        if arguments.best:
            print_best(series)
        if arguments.outputs:
            draw(figure, series, arguments.outputs)
    except (PlotError, OSError) as problem:
        sys.exit(f"plot.py: {problem}")


if __name__ == "__main__":
    main()
