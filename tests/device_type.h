// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace hpl_tests {

/// The kind of the devices that tests open by themselves, as HPL_DEVICES names it: that of
/// TEST_DEVICE_TYPE, else "cpu".
inline std::string deviceType() {
  const char* const type = std::getenv("TEST_DEVICE_TYPE");
  return type != nullptr ? type : "cpu";
}

}  // namespace hpl_tests
