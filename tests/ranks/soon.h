// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace hpl_tests {

/// Milliseconds in which a fault of one rank is an error on all of them. On a quiet machine that
/// takes a fraction of a second, which TEST_SOON=1000 asks for; busy ones get more time.
inline double soon() {
  const char* text = std::getenv("TEST_SOON");
  return text == nullptr ? 5000 : std::atof(text);
}

}  // namespace hpl_tests
