#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that perf/plot.py computes the ratios it draws, refuses what it cannot draw, and writes
the files where matplotlib is there."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

PERF = pathlib.Path(__file__).resolve().parents[2] / "perf"
sys.path.insert(0, str(PERF))
import plot  # noqa: E402

HEADER = "figure,application,devices,style,ghost_width,pair,seconds\n"
BARS = HEADER + """\
figure11,LIFE,2,subarrays,1,0,2.0
figure11,LIFE,2,syncGhosts,1,0,1.0
figure11,LIFE,2,subarrays,1,1,3.0
figure11,LIFE,2,syncGhosts,1,1,2.0
figure11,LIFE,2,subarrays,1,2,4.0
figure11,LIFE,2,syncGhosts,1,2,4.0
13,LIFE,3,subarrays,1,0,9.0
"""
LINES = HEADER + """\
figure15,GAUSS,2,syncGhosts,4,0,5.0
figure15,GAUSS,2,syncGhosts,1,0,10.0
figure15,GAUSS,2,syncGhosts,4,1,12.0
figure15,GAUSS,2,syncGhosts,1,1,8.0
figure15,GAUSS,2,syncGhosts,4,2,6.0
figure15,GAUSS,2,syncGhosts,1,2,8.0
figure15,GAUSS,2,annotations,1,0,1.0
"""
TEMPLATES = HEADER + """\
figure14,life,1,one row fills the tile,0,0,8.0
figure14,life,1,"4 points, by hand",0,0,2.0
"""
COUNTS = """\
application,style,sloc,n1,effort
life,byhand,40,9,1000
life,template,10,9,150
life,plain,50,9,700
shwa,plain,9,9,99
"""


def series(text, figure):
    rows = plot.read_results(text.splitlines(), "results.csv", figure)
    return plot.series_of(plot.FIGURES[figure], rows)


class Numbers(unittest.TestCase):
    def refused(self, text, figure, *parts):
        with self.assertRaises(plot.PlotError) as caught:
            series(text, figure)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_bars_are_medians_of_the_ratios_of_pairs(self):
        # Pairs 2/1, 3/2, 4/4.
        found = series(BARS, "figure11")
        self.assertEqual(list(found), ["syncGhosts"])
        self.assertEqual(found["syncGhosts"]["LIFE"], plot.Ratio(median=1.5, low=1.0, high=2.0))

    def test_lines_are_relative_to_the_narrowest_ghosts_and_of_one_style(self):
        found = series(LINES, "figure15")
        self.assertEqual(list(found["GAUSS"]), [1, 4])
        self.assertEqual(found["GAUSS"][1], plot.Ratio(1.0, 1.0, 1.0))
        # Pairs 5/10, 12/8, 6/8.
        self.assertEqual(found["GAUSS"][4], plot.Ratio(median=0.75, low=0.5, high=1.5))

    def test_whiskers_hold_the_true_median_with_95_per_cent(self):
        self.assertEqual(plot.interval([3.0]), (3.0, 3.0))
        self.assertEqual(plot.interval(list(range(5))), (0, 4))
        # From tables of the sign test: 1st and 6th of 6, 2nd and 8th of 9, 6th and 16th of 21.
        self.assertEqual(plot.interval(list(range(1, 7))), (1, 6))
        self.assertEqual(plot.interval(list(range(1, 10))), (2, 8))
        self.assertEqual(plot.interval(list(range(1, 22))), (6, 16))

    def test_pairs_without_a_partner_count_nowhere(self):
        text = BARS + "figure11,LIFE,2,subarrays,1,3,100.0\n"
        self.assertEqual(series(text, "figure11"), series(BARS, "figure11"))

    def test_applications_on_different_numbers_of_devices_stay_apart(self):
        text = BARS + "".join(f"figure11,LIFE,3,{style},1,0,{seconds}\n"
                              for style, seconds in (("subarrays", 3.0), ("syncGhosts", 2.0)))
        found = series(text, "figure11")["syncGhosts"]
        self.assertEqual(list(found), ["LIFE (2 devices)", "LIFE (3 devices)"])
        self.assertEqual(found["LIFE (3 devices)"].median, 1.5)

    def test_kernels_show_what_each_style_saves_against_those_by_hand(self):
        found = series(COUNTS, "figure10")
        self.assertEqual(list(found), ["template: lines", "template: effort", "plain: lines",
                                       "plain: effort"])
        self.assertEqual(found["template: lines"]["life"].median, 75)
        self.assertEqual(found["template: effort"]["life"].median, 85)
        self.assertEqual(found["plain: lines"]["life"].median, -25)
        self.assertNotIn("shwa", found["plain: lines"])

    def test_templates_are_compared_with_tiles_that_one_row_fills(self):
        found = series(TEMPLATES, "figure14")
        self.assertEqual(found, {"4 points, by hand": {"life": plot.Ratio(4, 4, 4)}})

    def test_counts_that_cannot_be_drawn_are_refused_with_the_reason(self):
        self.refused("application,style,sloc\n", "figure10", "missing column effort")
        self.refused("application,style,sloc,effort\n", "figure10", "no lines")
        self.refused("application,style,sloc,effort\na,plain,x,1\n", "figure10", "results.csv:2")
        self.refused("application,style,sloc,effort\na,plain,1,1\n", "figure10",
                     "no application has the style 'byhand'")
        self.refused("application,style,sloc,effort\na,byhand,0,0\na,plain,1,1\n", "figure10",
                     "style 'byhand' is empty")

    def test_what_cannot_be_drawn_is_refused_with_the_reason(self):
        self.refused(BARS, "figure12", "no lines of figure12", "figure11, figure13")
        self.refused(BARS, "figure13", "no style but 'subarrays'")
        self.refused("figure,seconds\n", "figure11", "missing columns", "application", "pair")
        self.refused(HEADER + "11,A,2,subarrays,1,0,fast\n", "figure11", "results.csv:2")
        self.refused(HEADER + "11,A,2,subarrays,1,0,-1\n", "figure11", "positive")
        self.refused(HEADER + "11,A,2,syncGhosts,1,0,1\n", "figure11",
                     "no runs of style 'subarrays'")
        self.refused(BARS + "figure11,LIFE,2,subarrays,1,0,2.0\n", "figure11", "occurs twice")
        self.refused(HEADER + "11,A,2,subarrays,1,0,1\n11,A,2,syncGhosts,1,1,1\n", "figure11",
                     "no pair has both runs")


class Program(unittest.TestCase):
    def run_plot(self, *arguments, environment=None):
        return subprocess.run([sys.executable, "-B", str(PERF / "plot.py"), *arguments],
                              capture_output=True, text=True, env=environment, check=False)

    def results(self, folder, text):
        path = pathlib.Path(folder, "results.csv")
        path.write_text(text)
        return str(path)

    def test_numbers_need_no_matplotlib(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_plot("--numbers", "figure11", self.results(folder, BARS))
        self.assertEqual(done.stdout,
                         "series,at,median,min,max\nsyncGhosts,LIFE,1.5000,1.0000,2.0000\n")

    def test_the_best_width_of_each_application_is_a_table(self):
        lines = "".join(f"figure15,LIFE,2,syncGhosts,{width},{pair},{seconds + 0.001 * pair}\n"
                        for width, seconds in ((1, 4.0), (2, 2.0), (4, 2.001), (8, 3.0))
                        for pair in range(9))
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_plot("--best", "figure15", self.results(folder, HEADER + lines))
            self.assertEqual(done.stderr, "")
            table = [line.split(",") for line in done.stdout.splitlines()]
            self.assertEqual(table[0], ["series", "best", "median", "min", "max", "as_good"])
            self.assertEqual(table[1][:2], ["LIFE", "2"])
            self.assertEqual(table[1][-1], "4")
            done = self.run_plot("--best", "figure11", self.results(folder, BARS))
        self.assertIn("has no lines", done.stderr)

    def test_bars_can_be_compared_with_another_style(self):
        text = BARS + "figure11,LIFE,2,annotations,1,0,3.0\n"
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_plot("--numbers", "--base", "annotations", "figure11",
                                 self.results(folder, text))
        self.assertIn("syncGhosts,LIFE,3.0000,3.0000,3.0000\n", done.stdout)

    def test_without_matplotlib_the_message_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            results = self.results(folder, BARS)
            pathlib.Path(folder, "matplotlib.py").write_text("raise ImportError('not here')\n")
            done = self.run_plot("figure11", results, str(pathlib.Path(folder, "out.svg")),
                                 environment={"PYTHONPATH": folder})
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get install python3-matplotlib", done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_svg_and_png_are_written_and_equal_for_equal_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            for figure, text in (("figure10", COUNTS), ("figure14", TEMPLATES),
                                 ("figure15", LINES)):
                results = self.results(folder, text)
                outputs = [pathlib.Path(folder, name) for name in ("1.svg", "1.png", "2.svg")]
                done = self.run_plot(figure, results, *map(str, outputs[:2]))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("<svg", outputs[0].read_text())
                self.assertTrue(outputs[1].read_bytes().startswith(b"\x89PNG"))
            self.run_plot(figure, results, str(outputs[2]))
            self.assertEqual(outputs[0].read_text(), outputs[2].read_text())

    def test_a_wrong_suffix_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_plot("figure11", self.results(folder, BARS), "out.txt")
        self.assertEqual(done.returncode, 2)
        self.assertIn(".svg, .png or .pdf", done.stderr)


if __name__ == "__main__":
    unittest.main()
