// SPDX-License-Identifier: Apache-2.0
// Mixed types are compared on purpose: C's conversions are what is tested.
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#include "tests/lang/operator_cases.h"

namespace operators_tests {

using namespace hpl;
using namespace hpl::test;

TEST_CASE_TEMPLATE("arithmetic of mixed types follows C's conversions", A, signed char,
                   unsigned short, int, unsigned, long, unsigned long, float, double) {
  checkRow<Arithmetic, A, signed char, unsigned, long, unsigned long, float, double>();
}

TEST_CASE_TEMPLATE("arithmetic within one type equals the host's", A, signed char, unsigned char,
                   short, unsigned short, int, bool) {
  checkPair<Arithmetic, A, A>();
}

TEST_CASE("elements of half arrays compute as float") {
  checkPair<Arithmetic, half, half>();
  checkPair<Arithmetic, half, int>();
  checkPair<Arithmetic, double, half>();
  checkPair<Comparisons, half, float>();
}

}  // namespace operators_tests
