// SPDX-License-Identifier: Apache-2.0
// The one main() of the test programs: compiled once and linked into every room's tests.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
