// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/shared_builds.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <system_error>

#include "hpl/runtime/log.h"

namespace hpl::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "hpl-builds-";

struct Sharing {
  std::mutex mutex;
  fs::path folder;
  std::shared_ptr<const BinaryStore> store;
};
Sharing& sharing() {
  static auto& instance = *new Sharing;
  return instance;
}

/// Memory, where the system has a place for such files.
fs::path parentFolder() {
  std::error_code problem;
  const fs::path memory = "/dev/shm";
  if (fs::is_directory(memory, problem) && access(memory.c_str(), W_OK) == 0) return memory;
  return fs::temp_directory_path(problem);
}

/// Whether the name is that of a folder whose process is gone.
bool isLeftOver(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  int process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc{} && process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

void shareBuilds(const fs::path& folder) {
  const std::lock_guard lock(sharing().mutex);
  sharing().folder = folder;
  sharing().store = folder.empty() ? nullptr : std::make_shared<const BinaryStore>(folder);
}

std::shared_ptr<const BinaryStore> sharedBuilds() {
  const std::lock_guard lock(sharing().mutex);
  return sharing().store;
}

void removeLeftBuilds() noexcept {
  try {
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(parentFolder(), problem))
      if (isLeftOver(entry.path().filename().string())) fs::remove_all(entry.path(), problem);
  } catch (const std::exception& error) {
    log::info(fmt::format("folders of compiled kernels are left over: {}", error.what()));
  }
}

fs::path makeBuildsFolder() {
  removeLeftBuilds();
  const fs::path parent = parentFolder();
  std::string name = (parent / fmt::format("{}{}-XXXXXX", kPrefix, getpid())).string();
  if (mkdtemp(name.data()) != nullptr) return name;
  log::info(fmt::format("{} cannot be made: each rank compiles its kernels by itself", name));
  return {};
}

BuildTurn::BuildTurn(std::string_view key) {
  fs::path folder;
  {
    const std::lock_guard lock(sharing().mutex);
    folder = sharing().folder;
  }
  if (folder.empty()) return;
  lock_ = PrivateFolder(folder).lockFile(hexHash(key) + ".turn");
  while (lock_ && flock(lock_.number(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

}  // namespace hpl::runtime
