#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the guide's pictures of cells, parts and boundaries: docs/pictures/*.svg.

    draw.py            writes the files beside this script
    draw.py --check    only says whether they are what the script draws (exit code 1 if not)

The parts are computed here from the rules that the pages state, not by the library. planning.svg
shows perf/results/epyc-2-cores/coherence_bench.csv."""
import csv
import math
import pathlib
import sys

CELL = 26
DEVICES = ["#4477aa", "#ee9944", "#44aa77", "#aa5599"]  # one colour per device
PALE = ["#c9d8ea", "#fbe0c4", "#c9e9d9", "#e8cfe2"]     # the same as a ghost
STALE = "#dddddd"


class Picture:
    """Collects SVG elements; the size follows from what was drawn."""

    def __init__(self, title):
        self.title, self.items, self.width, self.height = title, [], 0, 0

    def reach(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def cell(self, x, y, fill, text="", size=CELL, dashed=False):
        dash = ' stroke-dasharray="3 2"' if dashed else ""
        self.items.append(f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="{fill}" '
                          f'stroke="#333333"{dash}/>')
        if text != "":
            colour = "#ffffff" if fill in DEVICES else "#333333"
            self.text(x + size / 2, y + size / 2 + 4, text, anchor="middle", colour=colour, size=11)
        self.reach(x + size, y + size)

    def text(self, x, y, text, anchor="start", colour="#222222", size=13):
        self.items.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" '
                          f'fill="{colour}">{text}</text>')
        if anchor == "start":
            self.reach(x + len(text) * size * 0.56, y + 4)

    def arrow(self, x1, y1, x2, y2):
        self.items.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#222222" '
                          'stroke-width="1.6" marker-end="url(#head)"/>')

    def svg(self):
        width, height = round(self.width + 16), round(self.height + 14)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Helvetica, sans-serif">',
            f"<title>{self.title}</title>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#222222"/></marker>'
            '</defs>',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *self.items, "</svg>", ""])


def even_split(length, parts):
    """[lo, hi) of each part; longer parts first."""
    bounds, at = [], 0
    for part in range(parts):
        size = length // parts + (1 if part < length % parts else 0)
        bounds.append((at, at + size))
        at += size
    return bounds


def owner_of(bounds, i):
    return next(p for p, (lo, hi) in enumerate(bounds) if lo <= i < hi)


def one_dimension():
    """PART1(a, 1) of 12 cells over three devices, and what syncGhosts moves."""
    n, devices, left, top = 12, 3, 100, 40
    picture = Picture("PART1(a, 1): cores, ghosts, and what syncGhosts moves")
    bounds = even_split(n, devices)
    picture.text(12, top + 17, "array a")
    picture.text(left, top - 16, "PART1(a, 1) on three devices; pale cells are ghosts")
    for i in range(n):
        picture.cell(left + i * CELL, top, DEVICES[owner_of(bounds, i)], i)
    row = [top + 62 + 62 * d for d in range(devices)]
    full = [(max(0, lo - 1), min(n, hi + 1)) for lo, hi in bounds]
    for d, (lo, hi) in enumerate(full):
        picture.text(12, row[d] + 17, f"device {d}")
        for i in range(lo, hi):
            owner = owner_of(bounds, i)
            ghost = owner != d
            picture.cell(left + i * CELL, row[d], (PALE if ghost else DEVICES)[owner], i,
                         dashed=ghost)
    for d in range(devices - 1):
        border = bounds[d][1]
        x = left + (border - 0.5) * CELL
        picture.arrow(x, row[d] + CELL, x, row[d + 1] - 2)
        picture.arrow(x + CELL, row[d + 1], x + CELL, row[d] + CELL + 2)
    picture.text(left, row[-1] + CELL + 26, "arrows: a.syncGhosts(), owner to ghost")
    return picture


def grid(picture, x0, y0, size, rows, cols, parts_of, label):
    """A matrix of cells coloured by their owner."""
    picture.text(x0, y0 - 10, label)
    for r in range(rows):
        for c in range(cols):
            picture.cell(x0 + c * size, y0 + r * size, DEVICES[parts_of(r, c)], size=size)


def two_dimensions():
    """PART1, PART2 and PART12 of a matrix over four devices; one part with its ghosts."""
    rows = cols = 8
    size, gap, top = 18, 40, 44
    picture = Picture("Splits of a matrix over four devices")
    quarter, half = even_split(8, 4), even_split(8, 2)
    splits = [("PART1(a): rows", lambda r, c: owner_of(quarter, r)),
              ("PART2(a): columns", lambda r, c: owner_of(quarter, c)),
              ("PART12(a): blocks", lambda r, c: 2 * owner_of(half, r) + owner_of(half, c))]
    x = 16
    for label, parts_of in splits:
        grid(picture, x, top, size, rows, cols, parts_of, label)
        x += cols * size + gap
    # What device 1 holds with one ghost cell all around.
    top2 = top + rows * size + 62
    x = 16
    boxes = [((2, 4), (0, 8), 1, 0), ((0, 8), (2, 4), 0, 1), ((0, 4), (4, 8), 1, 1)]
    names = ["PART1(a, 1): device 1", "PART2(a, 1): device 1", "PART12(a, 1, 1): device 1"]
    for (label, parts_of), name, ((r0, r1), (c0, c1), gr, gc) in zip(splits, names, boxes):
        picture.text(x, top2 - 10, name)
        for r in range(rows):
            for c in range(cols):
                core = r0 <= r < r1 and c0 <= c < c1
                ghost = r0 - gr <= r < r1 + gr and c0 - gc <= c < c1 + gc
                owner = parts_of(r, c)
                fill = DEVICES[owner] if core else PALE[owner] if ghost else "#ffffff"
                picture.cell(x + c * size, top2 + r * size, fill, size=size,
                             dashed=ghost and not core)
        x += cols * size + gap
    return picture


def explicit_overlap():
    """Two overlapping views, each written by a device of its own."""
    n, left, top = 20, 172, 30
    picture = Picture("Overlapping views of two devices")
    views = [(0, 12), (8, 20)]
    middle = 10
    owner = lambda i: 0 if i < middle else 1
    picture.text(12, top + 17, "array a")
    for i in range(n):
        picture.cell(left + i * CELL, top, DEVICES[owner(i)], i)
    for d, (lo, hi) in enumerate(views):
        y = top + 56 + 44 * d
        picture.text(12, y + 17, f"device {d}: Range({lo}, {hi - 1})")
        for i in range(lo, hi):
            ghost = owner(i) != d
            picture.cell(left + i * CELL, y, (PALE if ghost else DEVICES)[owner(i)], i,
                         dashed=ghost)
    picture.text(left, top + 56 + 88 + 14,
                 "cells 8 to 11 are in both views: the lower half belongs to the lower view")
    return picture


def expansion():
    """A part with three ghost cells during three launches of a stencil of radius 1."""
    core, ghosts, left, top = 6, 3, 210, 44
    picture = Picture("Three ghost cells last for three launches of radius 1")
    picture.text(left, top - 18, "the part of a middle device, PART1(a, 3)")
    names = ["after syncGhosts()", "after launch 1", "after launch 2", "after launch 3"]
    for step, name in enumerate(names):
        y = top + step * 44
        picture.text(12, y + 17, name)
        for i in range(core + 2 * ghosts):
            distance = max(ghosts - i, i - (core + ghosts - 1), 0)
            if distance == 0:
                fill, text = DEVICES[0], ""
            elif distance <= ghosts - step:
                fill, text = (PALE[1], "") if step == 0 else (PALE[0], "")
            else:
                fill, text = STALE, "x"
            picture.cell(left + i * CELL, y, fill, text, dashed=distance > 0)
    x, y = left + (core + 2 * ghosts) * CELL + 24, top
    for fill, text, meaning in [(DEVICES[0], "", "core, computed here"),
                                (PALE[1], "", "ghost, brought by the exchange"),
                                (PALE[0], "", "ghost, computed here, right"),
                                (STALE, "x", "ghost, out of date")]:
        picture.cell(x, y, fill, text, dashed=fill != DEVICES[0])
        picture.text(x + CELL + 10, y + 17, meaning)
        y += 44
    return picture


def beyond(kinds, y, x):
    """The text of cell (y, x) of an array of 3 x 3 cells "a" to "i"; kinds = (above, left of it).

    The slower dimension decides first: it names a value, or leads to a row of the array."""
    sign, at, length = "", [y, x], 3
    for d, (kind, value) in enumerate(kinds):
        if at[d] >= 0:
            continue
        if kind == "fixed":
            return value
        if kind == "computed":
            return f"{y},{x}"
        if kind == "odd":
            sign = "" if sign else "-"
        at[d] = {"nearest": 0, "mirror": -1 - at[d], "odd": -1 - at[d],
                 "periodic": length + at[d]}[kind]
    return sign + "abcdefghi"[at[0] * length + at[1]]


def boundaries():
    """The upper left corner of an array of 3 x 3 cells under each boundary."""
    size, margin, length, left, top, columns = 30, 2, 3, 16, 34, 4
    same = lambda kind, value="": ((kind, value), (kind, value))
    panels = [("Untouched(): p(-1, -1)", None), ("Fixed(7)", same("fixed", "7")),
              ("Nearest()", same("nearest")), ("Mirror()", same("mirror")),
              ("MirrorOdd()", same("odd")), ("Periodic()", same("periodic")),
              ("Computed(f): f(y, x)", same("computed")),
              ("Fixed(1) UP, Fixed(2) LEFT", (("fixed", "1"), ("fixed", "2")))]
    side = (margin + length) * size
    picture = Picture("The upper left corner of an array of 3 x 3 cells under each boundary")
    for number, (label, kinds) in enumerate(panels):
        x0 = left + number % columns * (side + 44) + margin * size
        y0 = top + number // columns * (side + 52) + margin * size
        picture.text(x0 - margin * size, y0 - margin * size - 10, label)
        for y in range(-margin, length):
            for x in range(-margin, length):
                inside = y >= 0 and x >= 0
                if inside:
                    fill = STALE if kinds is None and (y == 0 or x == 0) else PALE[0]
                    text = "abcdefghi"[y * length + x]
                else:
                    fill, text = (PALE[1], beyond(kinds, y, x)) if kinds else ("#ffffff", "")
                picture.cell(x0 + x * size, y0 + y * size, fill, text, size=size,
                             dashed=not inside)
    y = top + 2 * (side + 52) - 22
    for x, fill, meaning in [(left, PALE[0], "a cell of the array"),
                             (left + 200, PALE[1], "what a stencil reads beyond the array"),
                             (left + 520, STALE, "an output cell that is not written")]:
        picture.cell(x, y, fill, size=18, dashed=fill == PALE[1])
        picture.text(x + 26, y + 13, meaning)
    return picture


def planning():
    """Host time of a step over the number of devices, both logarithmic."""
    results = (pathlib.Path(__file__).resolve().parents[2] /
               "perf/results/epyc-2-cores/coherence_bench.csv")
    with open(results, newline="") as file:
        rows = list(csv.DictReader(file))
    picture = Picture("Host time of planning a step, by the number of devices")
    left, top, wide, high = 70, 40, 400, 260
    decades = (0, 4.2), (-1.6, 5.4)  # devices, microseconds

    def place(devices, time):
        (x0, x1), (y0, y1) = decades
        return (left + wide * (math.log10(devices) - x0) / (x1 - x0),
                top + high * (1 - (math.log10(time) - y0) / (y1 - y0)))

    def line(x1, y1, x2, y2, colour, width=1.0):
        picture.items.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                             f'stroke="{colour}" stroke-width="{width}"/>')

    picture.text(8, 20, "microseconds of processor time, by number of devices")
    for power, name in [(-1, "0.1"), (0, "1"), (1, "10"), (2, "100"), (3, "1,000"),
                        (4, "10,000"), (5, "100,000")]:
        y = place(1, 10 ** power)[1]
        line(left, y, left + wide, y, STALE)
        picture.text(left - 6, y + 4, name, anchor="end", size=11)
    for devices in [2, 8, 32, 128, 1000, 10000]:
        x = place(devices, 1)[0]
        line(x, top, x, top + high, STALE)
        picture.text(x, top + high + 16, f"{devices:,}", anchor="middle", size=11)
    shown = [("planAnew", "blocks", "planned anew, blocks"), ("planAnew", "bands", "planned anew, bands"),
             ("repeat", "blocks", "repeated, blocks"), ("repeat", "bands", "repeated, bands")]
    for number, (what, cut, label) in enumerate(shown):
        points = [place(int(row["devices"]), float(row["cpu_us"])) for row in rows
                  if row["what"] == what and row["cut"] == cut]
        for begin, end in zip(points, points[1:]):
            line(*begin, *end, DEVICES[number], 2)
        y = top + 14 + 18 * number
        line(left + wide + 14, y - 4, left + wide + 34, y - 4, DEVICES[number], 2)
        picture.text(left + wide + 40, y, label, size=12)
    picture.reach(left + wide, top + high + 20)
    return picture


PICTURES = {"planning.svg": planning, "parts-1d.svg": one_dimension, "parts-2d.svg": two_dimensions,
            "overlap.svg": explicit_overlap, "expansion.svg": expansion,
            "boundaries.svg": boundaries}


def main():
    folder = pathlib.Path(__file__).resolve().parent
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = []
    for name, draw in PICTURES.items():
        text, path = draw().svg(), folder / name
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(name)
    if stale:
        sys.exit(f"not as docs/pictures/draw.py draws them: {', '.join(stale)}; run it")


if __name__ == "__main__":
    main()
