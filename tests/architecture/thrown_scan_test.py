#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that thrown_scan.py finds what is no hpl::Error, and nothing else."""

import unittest

from thrown_scan import code_of, violations_in

ERRORS = "class Error : public std::runtime_error {};\nclass KernelError : public Error {};\n"


class ThrownScan(unittest.TestCase):
    def found(self, code):
        return violations_in({"hpl/error.h": ERRORS, "hpl/a.cpp": code_of(code)})

    def test_errors_of_ours_and_what_is_passed_on_are_fine(self):
        self.assertEqual(self.found("void f() { throw KernelError(\"a; throw 1\"); }"), [])
        self.assertEqual(self.found("void f() { try { g(); } catch (...) { throw; } }"), [])
        self.assertEqual(self.found("struct Refused : Error {};\nvoid f() { throw detail::Refused{why}; }"), [])
        self.assertEqual(self.found("// throw 1;\n/* throw 2; */ const char* a = \"throw 3;\";"), [])

    def test_makers_of_errors_are_known(self):
        self.assertEqual(self.found("KernelError no(int a);\nvoid f() { throw no(3); }"), [])
        self.assertEqual(
            self.found("void f() { const auto no = [&](int a) { return KernelError(a); }; throw no(3); }"), [])
        self.assertEqual(len(self.found("int no(int a);\nvoid f() { throw no(3); }")), 1)

    def test_others_are_found_with_their_line(self):
        self.assertEqual(self.found("struct Refused {};\nvoid f() { throw Refused{}; }"),
                         ["hpl/a.cpp:2: throws Refused{}, which is no hpl::Error"])
        for code in ["throw std::runtime_error(why);", "throw 3;", "throw problem;", "throw std::KernelError(why);",
                     "class Odd : public std::Error {}; throw Odd();"]:
            self.assertEqual(len(self.found(code)), 1, code)


if __name__ == "__main__":
    unittest.main()
