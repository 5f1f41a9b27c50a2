// SPDX-License-Identifier: Apache-2.0
// Mixed types are compared on purpose: C's conversions are what is tested.
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif
#include "tests/lang/operator_cases.h"

namespace comparisons_tests {

using namespace hpl;
using namespace hpl::test;

TEST_CASE_TEMPLATE("comparisons of mixed types follow C's conversions", A, signed char,
                   unsigned short, int, unsigned, unsigned long, float, double, bool) {
  checkRow<Comparisons, A, signed char, unsigned, long, unsigned long, float>();
}

TEST_CASE_TEMPLATE("compound assignment computes in the common type and converts back", A,
                   signed char, unsigned char, short, unsigned short, int, unsigned, long,
                   unsigned long) {
  checkRow<Assignments, A, signed char, int, unsigned, unsigned long>();
}

TEST_CASE("compound assignment of real numbers converts back to the variable's type") {
  checkRow<Assignments, float, int, unsigned long, float, double>();
  checkRow<Assignments, double, signed char, long, float, double>();
}

}  // namespace comparisons_tests
