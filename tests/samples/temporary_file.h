// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

/// A name for a file in the temporary folder, unique to this process; the file is removed at the
/// end of the scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& suffix)
      : path_(std::filesystem::temp_directory_path() /
              ("hpl_samples_" + std::to_string(getpid()) + "_" + suffix)) {}
  TemporaryFile(const std::string& suffix, std::string_view content) : TemporaryFile(suffix) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};
