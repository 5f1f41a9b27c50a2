// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "hpl/runtime/binary_store.h"
#include "hpl/runtime/private_folder.h"

/// Processes of one machine that run the same program: each kernel is compiled by the first of them
/// that needs it, and the others wait, and take what it has compiled.
namespace hpl::runtime {

/// From now on the processes that name the same folder build together. An empty path: each by
/// itself. The folder is theirs, and who made it removes it.
void shareBuilds(const std::filesystem::path& folder);

/// The binaries that these processes keep for each other where nothing else keeps them; null: the
/// process builds by itself.
std::shared_ptr<const BinaryStore> sharedBuilds();

/// Makes a folder for shareBuilds(), which its name tells from those of others; empty: there is
/// none. Removes those of processes that died.
std::filesystem::path makeBuildsFolder();

/// Removes the folders of processes that died.
void removeLeftBuilds() noexcept;

/// The turn to build a program. A process that dies gives it back.
class BuildTurn {
 public:
  /// Waits until no other process has the turn for the key. Nothing where builds are not shared.
  explicit BuildTurn(std::string_view key);

 private:
  Descriptor lock_;
};

}  // namespace hpl::runtime
