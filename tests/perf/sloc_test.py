#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that perf/sloc.py counts what its rules say, on code small enough to count by hand."""
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

PERF = pathlib.Path(__file__).resolve().parents[2] / "perf"
sys.path.insert(0, str(PERF))
import sloc  # noqa: E402


def whole(text):
    return sloc.measure(text)["whole"]


class Lines(unittest.TestCase):
    def test_blank_lines_and_comments_do_not_count(self):
        self.assertEqual(whole("int a;\n\n  // one\n/* two\n three */\nint b;  // four\n").sloc, 2)

    def test_code_beside_a_comment_counts(self):
        self.assertEqual(whole("/* a */ int a; /* b\n */ int b;\n").sloc, 2)

    def test_comment_marks_inside_literals_are_text(self):
        counts = whole('auto a = "// no /* comment";\nchar c = \'"\'; int d; // "\nint e;\n')
        self.assertEqual(counts.sloc, 3)
        self.assertEqual(counts.operands['"// no /* comment"'], 1)
        self.assertEqual(counts.operands["'\"'"], 1)

    def test_raw_strings_end_where_their_delimiter_says(self):
        counts = whole('const char* k = R"cl(a )" // "\n)cl";\nint b;\n')
        self.assertEqual(counts.sloc, 3)
        self.assertIn('R"cl(a )" // "\n)cl"', counts.operands)
        self.assertIn("b", counts.operands)

    def test_continued_lines_of_comments_and_macros(self):
        self.assertEqual(whole("// a \\\n still a comment\nint b;\n").sloc, 1)
        counts = whole("#define F(x) \\\n  x + 1\n#include <vector>\n")
        self.assertEqual(counts.sloc, 3)
        self.assertEqual(counts.operators["#define"], 1)
        self.assertEqual(counts.operands["<vector>"], 1)


class Words(unittest.TestCase):
    def expect(self, text, operators, operands):
        counts = whole(text)
        self.assertEqual(dict(counts.operators), operators)
        self.assertEqual(dict(counts.operands), operands)

    def test_brackets_are_one_operator_a_pair(self):
        self.expect("f(a[i], {});", {"()": 1, "[]": 1, "{}": 1, ",": 1, ";": 1},
                    {"f": 1, "a": 1, "i": 1})

    def test_parentheses_and_colons_belong_to_their_words(self):
        self.expect("if (a) b; else c;", {"if": 1, "else": 1, ";": 2}, {"a": 1, "b": 1, "c": 1})
        self.expect("if constexpr (a) f();", {"if": 1, "constexpr": 1, "()": 1, ";": 1},
                    {"a": 1, "f": 1})
        self.expect("for_(i = 0, i < n, i++) { a; }",
                    {"for_": 1, "=": 1, ",": 2, "<": 1, "++": 1, "{}": 1, ";": 1},
                    {"i": 3, "0": 1, "n": 1, "a": 1})
        self.expect("switch (a) { case 1: b; default: c; }",
                    {"switch": 1, "{}": 1, "case": 1, "default": 1, ";": 2},
                    {"a": 1, "1": 1, "b": 1, "c": 1})
        self.expect("class A : public B { A() = default; public: int c; };",
                    {"class": 1, ":": 1, "public": 2, "{}": 1, "()": 1, "=": 1, "default": 1,
                     ";": 3}, {"A": 2, "B": 1, "int": 1, "c": 1})

    def test_a_conditional_is_one_operator_and_other_colons_are_not_its(self):
        self.expect("x = a ? b ? 1 : 2 : 3;", {"=": 1, "?:": 2, ";": 1},
                    {"x": 1, "a": 1, "b": 1, "1": 1, "2": 1, "3": 1})
        self.expect("for (int x : v) y;", {"for": 1, ":": 1, ";": 1},
                    {"int": 1, "x": 1, "v": 1, "y": 1})
        self.expect("f(a ? (b) : c);", {"()": 2, "?:": 1, ";": 1}, {"f": 1, "a": 1, "b": 1, "c": 1})

    def test_longest_punctuators_win(self):
        self.expect("a <=> b; c >>= 1; d->*e; f...; g::h;",
                    {"<=>": 1, ">>=": 1, "->*": 1, "...": 1, "::": 1, ";": 5},
                    {"a": 1, "b": 1, "c": 1, "1": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1})

    def test_numbers_are_one_operand_each(self):
        self.expect("1'000'000u + 1.5e-3f + .5 + 0x1p-3 - 2", {"+": 3, "-": 1},
                    {"1'000'000u": 1, "1.5e-3f": 1, ".5": 1, "0x1p-3": 1, "2": 1})

    def test_alternative_spellings_and_type_words(self):
        self.expect("bool c = not a and b;", {"=": 1, "!": 1, "&&": 1, ";": 1},
                    {"bool": 1, "c": 1, "a": 1, "b": 1})
        self.expect("const float* p = nullptr;", {"const": 1, "*": 1, "=": 1, ";": 1},
                    {"float": 1, "p": 1, "nullptr": 1})

    def test_what_is_no_token_is_refused_with_its_line(self):
        with self.assertRaisesRegex(sloc.SourceError, "source:2: no C\\+\\+ token begins with"):
            whole("int a;\n`\n")


class Effort(unittest.TestCase):
    def test_halstead_measures_of_one_statement(self):
        # Operators = + * ; (4 kinds, 5 in all), operands a b c 2 (4 kinds, 5 in all).
        counts = whole("a = b + c * b + 2 ;")
        counts_by_hand = (4, 5, 4, 5)
        self.assertEqual((len(counts.operators), counts.operators.total(),
                          len(counts.operands), counts.operands.total()), counts_by_hand)
        self.assertAlmostEqual(counts.volume, 10 * math.log2(8))
        self.assertAlmostEqual(counts.difficulty, 4 / 2 * 5 / 4)
        self.assertAlmostEqual(counts.effort, 30 * 2.5)

    def test_nothing_costs_nothing(self):
        self.assertEqual(whole("// nothing\n").effort, 0)
        self.assertEqual(whole(";").effort, 0)


STYLES = """\
int outside;
// [style: subarrays]
a = b;
c = d;
// [end]
// [style: subarrays, annotations]
e = f;
// [end]
// [style: annotations]
const char* s = "// [end]";
g = h;
// [end]
"""


class Regions(unittest.TestCase):
    def refused(self, text, part):
        with self.assertRaises(sloc.SourceError) as caught:
            sloc.measure(text, "file.cpp")
        self.assertIn(part, str(caught.exception))

    def test_styles_hold_their_regions_and_nothing_else(self):
        found = sloc.measure(STYLES)
        self.assertEqual({style: c.sloc for style, c in found.items()},
                         {"subarrays": 3, "annotations": 3})
        self.assertEqual(set(found["subarrays"].operands), {"a", "b", "c", "d", "e", "f"})
        self.assertNotIn("outside", found["annotations"].operands)

    def test_a_file_without_marks_is_whole_and_a_named_style_takes_all(self):
        self.assertEqual(list(sloc.measure("int a;\n")), ["whole"])
        self.assertEqual(sloc.measure(STYLES, whole_as="all")["all"].sloc, 6)

    def test_marks_that_do_not_match_are_refused(self):
        self.refused("// [style: a]\nint a;\n", "file.cpp:1: the region has no // [end]")
        self.refused("int a;\n// [end]\n", "file.cpp:2: [end] without")
        self.refused("// [style: a]\n// [style: b]\n// [end]\n",
                     "file.cpp:2: a region begins inside that of line 1")
        self.refused("// [style: ]\n// [end]\n", "names no style")

    def test_the_program_adds_files_and_prints_reductions(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two = pathlib.Path(folder, "one.cpp"), pathlib.Path(folder, "two.cpp")
            one.write_text(STYLES)
            two.write_text("i = j;\n")
            command = [sys.executable, "-B", str(PERF / "sloc.py"), "--csv", "--reduction",
                       "annotations/subarrays", f"LIFE={one}", f"LIFE:subarrays={two}"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            lines = done.stdout.splitlines()
            pair = "annotations/subarrays"
            self.assertEqual(lines[0], f"application,{pair} SLOC %,{pair} effort %")
            self.assertTrue(lines[1].startswith("LIFE,25.00,"), lines[1])  # 3 lines of 4
            command[5] = "other/subarrays"
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("LIFE has no style 'other'; it has annotations, subarrays", done.stderr)

    def test_styles_that_are_not_asked_for_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            one = pathlib.Path(folder, "one.cpp")
            one.write_text(STYLES)
            found = sloc.measure_files([f"LIFE={one}"], ["other", "subarrays"])
            self.assertEqual({name: list(styles) for name, styles in found.items()},
                             {"LIFE": ["subarrays"]})
            self.assertEqual(found["LIFE"]["subarrays"].sloc, 3)


if __name__ == "__main__":
    unittest.main()
