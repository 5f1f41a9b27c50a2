// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace samples {

/// Why a file is not to be opened for reading, as the end of an error message; empty: nothing
/// speaks against it. A pipe without a writer would be waited for, and a device may never end.
inline std::string objectionToReading(const std::string& fileName) {
  std::error_code ignored;
  const auto status = std::filesystem::status(fileName, ignored);
  const bool isOrdinary = !std::filesystem::exists(status) ||
                          std::filesystem::is_regular_file(status) ||
                          std::filesystem::is_directory(status);
  return isOrdinary ? std::string() : "it is no regular file";
}

}  // namespace samples
