// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace hpl_tests {

/// Whether the memory of the process says something about the library's: AddressSanitizer keeps
/// what was freed.
inline constexpr bool kMeasuresMemory =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#else
    true;
#endif

/// Memory of the process that is there, in KiB.
inline std::size_t residentKiB() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

/// Calls f(i) for the first `first` numbers, then for `further` ones; returns by how many KiB the
/// process grew during the latter.
template <class F>
std::size_t growthKiB(int first, int further, F&& f) {
  for (int i = 0; i < first; ++i) f(i);
  const std::size_t before = residentKiB();
  for (int i = first; i < first + further; ++i) f(i);
  const std::size_t after = residentKiB();
  return after > before ? after - before : 0;
}

}  // namespace hpl_tests
