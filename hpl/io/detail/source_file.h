// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace hpl::io::detail {

/// An ordinary file that is read from its beginning. Errors name the file, the place in it and what
/// was to be read.
class SourceFile {
 public:
  /// `content` stands in messages: "the array". Throws FileError if the file cannot be opened, or
  /// is a pipe or device, which might never end.
  SourceFile(std::string name, std::string content);

  const std::string& name() const { return name_; }
  std::FILE* stream() const { return stream_.get(); }
  /// Bytes in the file.
  std::int64_t size() const { return size_; }
  /// The byte that read() gives next.
  std::int64_t position() const { return position_; }

  /// Reads exactly `count` bytes. Throws FileError where the file ends before.
  void read(void* bytes, std::size_t count);
  /// Continues at this byte.
  void seek(std::int64_t position);

  /// Throws FileError with this reason; `offset`: the byte at fault, if there is one.
  [[noreturn]] void fail(const std::string& reason, std::int64_t offset = -1) const;

 private:
  std::string name_;
  std::string content_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_{nullptr, &std::fclose};
  std::int64_t size_ = 0;
  std::int64_t position_ = 0;
};

}  // namespace hpl::io::detail
