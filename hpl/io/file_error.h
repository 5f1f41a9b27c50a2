// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hpl/error.h"

namespace hpl::io {

/// A file that cannot be read or written, or that does not hold what was asked for. The message
/// begins with the file's name and says how to go on.
class FileError : public Error {
 public:
  explicit FileError(const std::string& message, std::string file = {}, std::int64_t offset = -1)
      : Error(message), file_(std::move(file)), offset_(offset) {}
  /// Name of the file, as the program gave it.
  const std::string& file() const noexcept { return file_; }
  /// Byte of the file at which reading failed; -1 where no single place is at fault.
  std::int64_t offset() const noexcept { return offset_; }

 private:
  std::string file_;
  std::int64_t offset_;
};

}  // namespace hpl::io
