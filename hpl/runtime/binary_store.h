// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hpl/runtime/private_folder.h"

namespace hpl::runtime {

/// A folder of binaries, each under a key of any length. Files are named by a 128-bit hash and
/// carry the whole key, their length and a checksum, so that a damaged or foreign file is never
/// taken for a binary; they appear by an atomic rename, so that any number of processes may share
/// the folder. Folders and files that others may have placed are ignored (PrivateFolder). Nothing
/// here throws: where the folder cannot be used the store finds nothing,
/// keeps nothing, and says so once.
class BinaryStore {
 public:
  explicit BinaryStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The result of a lookup.
  struct Lookup {
    /// The binary, within `content`.
    std::optional<std::string_view> binary;
    /// The file as it was read: a warm start copies a binary once, from the file to here.
    std::unique_ptr<char[]> content;
    /// A file was there but damaged; it has been removed.
    bool damaged = false;
  };
  Lookup load(std::string_view key) const;

  /// Keeps `binary`; false when that was not possible.
  bool save(std::string_view key, std::string_view binary) const;

  /// Removes the binary of `key`, e.g. because the driver refuses it.
  void remove(std::string_view key) const noexcept;

  /// The file that holds, or would hold, the binary of `key`.
  std::filesystem::path fileOf(std::string_view key) const;

  /// HPL_CACHE_DIR, else $XDG_CACHE_HOME/hpl, else ~/.cache/hpl; empty when there is none of them.
  static std::filesystem::path defaultFolder();

 private:
  static std::string nameOf(std::string_view key);
  /// The binary in the file, if that is a whole, undamaged one for `key`.
  static std::optional<std::string_view> unpack(const KeptFile& file, std::string_view key,
                                                std::unique_ptr<char[]>& content);

  PrivateFolder folder_;
  mutable std::atomic<bool> warned_{false};
};

/// The 128-bit hash of `text` in 32 hexadecimal digits.
std::string hexHash(std::string_view text);

}  // namespace hpl::runtime
