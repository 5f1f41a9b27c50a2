// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

namespace hpl::io::detail {

/// A file that appears under its name only when it is complete: it is written beside its place and
/// renamed by finish(). Without finish() nothing is left of it, and a file that had the name before
/// stays as it was. A link is followed; devices, such as /dev/null, are written directly.
class NewFile {
 public:
  /// `content` stands in messages: "the array". Throws FileError if the file cannot be made.
  NewFile(std::string name, std::string content);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// The stream behind the file; null after closeStream().
  std::FILE* stream() const { return stream_.get(); }
  /// Where the bytes go until finish(): for libraries that open files by themselves.
  const std::string& path() const { return path_; }
  /// Closes the stream, so that another library may write to path().
  void closeStream() { stream_.reset(); }

  /// Throws FileError when the disk is full.
  void write(const void* bytes, std::size_t count);
  /// Closes the file and gives it its name. Throws FileError when that fails.
  void finish();
  /// Throws FileError with this reason.
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  void openBeside(const std::string& target);

  std::string name_;
  std::string content_;
  std::string target_;  ///< `name_` with links followed
  std::string path_;
  bool renamed_ = false;  ///< whether path_ is another one than target_
  bool finished_ = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_{nullptr, &std::fclose};
};

}  // namespace hpl::io::detail
