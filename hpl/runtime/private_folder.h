// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

/// Files that the library keeps for later processes, and that no other user may have placed.
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

/// A folder with files that the library keeps, made for this user alone (mode 0700). Files of users
/// other than this process's and root are ignored, and so is everything but regular files. Links in
/// the folder are never followed, and no member waits for another process. A folder of another
/// user, or one that group or others may write, is reported once per process. Members throw
/// std::bad_alloc only.
class PrivateFolder {
 public:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const noexcept { return path_; }

  /// The file of that name. None if there is none or if it is ignored; then `reason` says why.
  KeptFile open(const std::string& name, std::string& reason) const;
  /// Makes or replaces a file, which others may not write, by a rename: readers see a whole file.
  /// Makes the folder if there is none. On failure false, and `problem` says why.
  bool replace(const std::string& name, std::initializer_list<std::string_view> parts,
               std::string& problem) const;
  /// A file to lock, made if there is none. None if it cannot be used.
  Descriptor lockFile(const std::string& name) const;
  /// Removes a file, if there is one.
  void remove(const std::string& name) const noexcept;

 private:
  Descriptor openFolder(bool make, std::string& problem) const;
  void reportOnce(const std::string& risk) const;

  std::filesystem::path path_;
};

/// Makes or replaces a file in a folder by a rename, without following, opening or writing an
/// existing file of that name. The new file has the permissions `mode`, less those that the process
/// denies. On failure false, and `problem` says why.
bool replaceFile(const std::filesystem::path& folder, const std::string& name,
                 std::initializer_list<std::string_view> parts, unsigned mode,
                 std::string& problem);

}  // namespace hpl::runtime
