#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_installed.py finds what is missing, too many or changed."""
import pathlib
import tempfile
import unittest

import check_installed


class Installed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sources = pathlib.Path(folder.name) / "sources"
        self.prefix = pathlib.Path(folder.name) / "prefix"
        for root in (self.sources, self.prefix / "include"):
            (root / "a" / "detail").mkdir(parents=True)
            (root / "a" / "open.h").write_text('#include "a/detail/used.h"\n#include <vector>\n')
            (root / "a" / "detail" / "used.h").write_text('#  include "beside.def"\n')
            (root / "a" / "detail" / "beside.def").write_text("")
        (self.sources / "a" / "detail" / "private.h").write_text("")

    def problems(self):
        return list(check_installed.problems(self.sources, self.prefix, ["a/open.h"]))

    def test_a_public_header_and_what_it_includes_are_right(self):
        self.assertEqual(self.problems(), [])

    def test_a_header_that_nothing_includes_is_one_too_many(self):
        (self.prefix / "include" / "a" / "detail" / "private.h").write_text("")
        self.assertEqual(self.problems(),
                         ["a/detail/private.h is installed, but no public header includes it"])

    def test_a_header_that_is_included_must_be_there(self):
        (self.prefix / "include" / "a" / "detail" / "beside.def").unlink()
        self.assertEqual(self.problems(),
                         ["a/detail/beside.def is included by public headers, but not installed"])

    def test_an_old_header_is_noticed(self):
        (self.prefix / "include" / "a" / "open.h").write_text("// old\n")
        self.assertEqual(self.problems(), ["a/open.h differs from the sources"])

    def test_a_tree_that_is_too_large_is_noticed(self):
        with open(self.prefix / "data", "wb") as file:
            file.truncate(check_installed.MOST_BYTES + 1)
        self.assertIn("bytes without debug information are installed", self.problems()[0])


if __name__ == "__main__":
    unittest.main()
