// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

/// Files that the library keeps for later processes, and that nobody else may have placed there.
namespace hpl::runtime {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  explicit operator bool() const noexcept { return number_ >= 0; }
  int number() const noexcept { return number_; }

 private:
  int number_;
};

/// A regular file that is open for reading.
class KeptFile {
 public:
  KeptFile() = default;
  KeptFile(Descriptor descriptor, std::size_t size)
      : descriptor_(std::move(descriptor)), size_(size) {}

  explicit operator bool() const noexcept { return static_cast<bool>(descriptor_); }
  /// Bytes of the whole file when it was opened.
  std::size_t size() const noexcept { return size_; }
  /// Reads the next `bytes` bytes; false when there are fewer, or when reading fails.
  bool read(void* to, std::size_t bytes) const;

 private:
  Descriptor descriptor_;
  std::size_t size_ = 0;
};

/// A folder with files that the library keeps. It is made for this user alone (mode 0700). Files of
/// other users than this process's and root are ignored, and so is whatever is no regular file.
/// Links in it are never followed, and nothing waits for another process. A folder of another user,
/// or one that group or others may write, is reported once per process. Nothing here throws but
/// std::bad_alloc.
class PrivateFolder {
 public:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const noexcept { return path_; }

  /// The file of that name; none when there is none, or when it is to be ignored. `reason` says why
  /// it is ignored.
  KeptFile open(const std::string& name, std::string& reason) const;
  /// Makes or replaces a file, which others may not write, by a rename: readers see a whole file.
  /// Makes the folder if there is none. False, and `problem` says why, when that is not possible.
  bool replace(const std::string& name, std::initializer_list<std::string_view> parts,
               std::string& problem) const;
  /// A file to lock, made if there is none; none when it cannot be used.
  Descriptor lockFile(const std::string& name) const;
  /// Removes a file, if there is one.
  void remove(const std::string& name) const noexcept;

 private:
  Descriptor openFolder(bool make, std::string& problem) const;
  void reportOnce(const std::string& risk) const;

  std::filesystem::path path_;
};

/// Makes or replaces a file in a folder by a rename: what was there is not followed, opened or
/// written to. The file has the permissions `mode`, less those that the process denies. False, and
/// `problem` says why, when that is not possible.
bool replaceFile(const std::filesystem::path& folder, const std::string& name,
                 std::initializer_list<std::string_view> parts, unsigned mode,
                 std::string& problem);

}  // namespace hpl::runtime
