// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

namespace cpu_free {

/// The word after `name` on the command line, or another one.
inline const char* optionOf(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  return otherwise;
}

}  // namespace cpu_free
