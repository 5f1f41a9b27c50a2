#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_mistakes.py refuses what it should: answers without the sentence, late, long, or none."""
import unittest

import check_mistakes
from check_mistakes import Mistake, parse, verdict

SENTENCE = "HPL: an index is missing"
MISTAKE = Mistake("an index too few", SENTENCE, "void f();\n")


def answer(before, after, sentence=SENTENCE):
    return "line\n" * before + f"error: {sentence}, says it\n" + "line\n" * after


class VerdictTest(unittest.TestCase):
    def test_a_refusal_with_the_sentence_in_front_is_well(self):
        self.assertIsNone(verdict(MISTAKE, 1, answer(3, 3)))

    def test_a_program_that_compiles_is_reported(self):
        self.assertIn("not refused", verdict(MISTAKE, 0, ""))

    def test_another_error_is_reported(self):
        self.assertIn("missing", verdict(MISTAKE, 1, "error: no match for operator+\n"))

    def test_a_sentence_behind_many_lines_is_reported(self):
        self.assertIn("line 9", verdict(MISTAKE, 1, answer(8, 0)))

    def test_a_long_answer_is_reported(self):
        self.assertIsNone(verdict(MISTAKE, 1, answer(3, 8)))
        self.assertIn("13 lines", verdict(MISTAKE, 1, answer(3, 9)))

    def test_a_case_may_state_a_number_of_lines_of_its_own(self):
        longer = Mistake("an index too few", SENTENCE + " (13 lines)", "void f();\n")
        self.assertIsNone(verdict(longer, 1, answer(3, 9)))
        self.assertIn("14 lines", verdict(longer, 1, answer(3, 10)))

    def test_a_right_program_must_compile(self):
        right = Mistake("a sum (right)", None, "void f();\n")
        self.assertIsNone(verdict(right, 0, ""))
        self.assertIn("refused", verdict(right, 1, answer(1, 1)))


class ParseTest(unittest.TestCase):
    def test_the_table_has_titles_sentences_and_sources(self):
        first, second = parse("# comment\n\n== a\nHPL: b\nvoid f();\n\n== c (right)\nint x;\n")
        self.assertEqual((first.title, first.sentence, first.source), ("a", "HPL: b", "void f();\n"))
        self.assertTrue(second.is_right)
        self.assertEqual(second.program(), "using namespace hpl;\nint x;\n")

    def test_a_case_without_a_sentence_is_refused(self):
        with self.assertRaises(SystemExit):
            parse("\n== a\nvoid f();\n")

    def test_the_table_of_the_library_is_read(self):
        table = (check_mistakes.pathlib.Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8")
        self.assertGreater(len(parse(table)), 80)


if __name__ == "__main__":
    unittest.main()
