// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <system_error>

#include "hpl/runtime/log.h"

namespace hpl::runtime {
namespace {

namespace fs = std::filesystem;

/// The folder keeps others out; where its owner opens it to them, they may read and no more.
constexpr mode_t kFileMode = 0644;

/// Root may replace everything anyway, and fills caches for all users of a machine.
bool isTrusted(uid_t owner) { return owner == geteuid() || owner == 0; }

std::string lastError() { return std::generic_category().message(errno); }

/// The changes that others can make to a folder; empty: none.
std::string riskOf(const struct stat& about) {
  if (!isTrusted(about.st_uid))
    return fmt::format("belongs to user {}, and this process runs as user {}", about.st_uid,
                       geteuid());
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("can be written by others (mode {:04o}; `chmod go-w` changes that)",
                       about.st_mode & 07777U);
  return {};
}

/// Makes the folder and those above it, each for this user alone.
bool makeFolders(const fs::path& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT || !path.has_parent_path() || path.parent_path() == path) return false;
  return makeFolders(path.parent_path()) && (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST);
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// A file that was not there before; `name` is changed until there is none.
Descriptor makeTemporary(int folder, const std::string& target, mode_t mode, std::string& name) {
  static std::atomic<unsigned> counter{0};
  // Processes that died may have left some.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    name = fmt::format("{}.{}.{}.tmp", target, getpid(), counter++);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int file = openat(folder, name.c_str(), flags, mode);
    if (file >= 0 || errno != EEXIST) return Descriptor(file);
  }
  return Descriptor();
}

bool replaceIn(int folder, const std::string& target, std::initializer_list<std::string_view> parts,
               mode_t mode, std::string& problem) {
  std::string temporary;
  const Descriptor file = makeTemporary(folder, target, mode, temporary);
  if (!file) {
    problem = lastError();
    return false;
  }
  bool isWritten = true;
  for (const std::string_view part : parts) isWritten = isWritten && writeAll(file.number(), part);
  if (isWritten && renameat(folder, temporary.c_str(), folder, target.c_str()) == 0) return true;
  problem = lastError();
  unlinkat(folder, temporary.c_str(), 0);
  return false;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

bool KeptFile::read(void* to, std::size_t bytes) const {
  auto* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::read(descriptor_.number(), next, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

void PrivateFolder::reportOnce(const std::string& risk) const {
  static std::mutex mutex;
  static auto& reported = *new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!reported.insert(path_.string()).second) return;
  }
  log::warn(
      fmt::format("the cache folder {} {}: what others place there is ignored, but they may "
                  "remove what is kept; name a folder of your own with HPL_CACHE_DIR",
                  path_.string(), risk));
}

Descriptor PrivateFolder::openFolder(bool make, std::string& problem) const {
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  Descriptor folder(::open(path_.c_str(), flags));
  if (!folder && make && errno == ENOENT && makeFolders(path_))
    folder = Descriptor(::open(path_.c_str(), flags));
  if (!folder) {
    problem = lastError();
    return folder;
  }
  struct stat about {};
  if (fstat(folder.number(), &about) != 0) {
    problem = lastError();
    return Descriptor();
  }
  if (const std::string risk = riskOf(about); !risk.empty()) reportOnce(risk);
  return folder;
}

KeptFile PrivateFolder::open(const std::string& name, std::string& reason) const {
  std::string unused;
  const Descriptor folder = openFolder(false, unused);
  if (!folder) return {};
  // A pipe without a writer, or a device, would make an ordinary open wait.
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor file(openat(folder.number(), name.c_str(), flags));
  if (!file) {
    if (errno != ENOENT) reason = errno == ELOOP ? "it is a link" : lastError();
    return {};
  }
  struct stat about {};
  if (fstat(file.number(), &about) != 0) {
    reason = lastError();
  } else if (!S_ISREG(about.st_mode)) {
    reason = "it is no regular file";
  } else if (!isTrusted(about.st_uid)) {
    reason = fmt::format("it belongs to user {}", about.st_uid);
  } else {
    return {std::move(file), static_cast<std::size_t>(about.st_size)};
  }
  return {};
}

bool PrivateFolder::replace(const std::string& name, std::initializer_list<std::string_view> parts,
                            std::string& problem) const {
  const Descriptor folder = openFolder(true, problem);
  return folder && replaceIn(folder.number(), name, parts, kFileMode, problem);
}

Descriptor PrivateFolder::lockFile(const std::string& name) const {
  std::string unused;
  const Descriptor folder = openFolder(true, unused);
  if (!folder) return Descriptor();
  const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor file(openat(folder.number(), name.c_str(), flags, kFileMode));
  struct stat about {};
  const bool isGood = file && fstat(file.number(), &about) == 0 && S_ISREG(about.st_mode) &&
                      isTrusted(about.st_uid);
  return isGood ? std::move(file) : Descriptor();
}

void PrivateFolder::remove(const std::string& name) const noexcept {
  try {
    std::string unused;
    if (const Descriptor folder = openFolder(false, unused))
      unlinkat(folder.number(), name.c_str(), 0);
  } catch (const std::exception&) {
    // Without memory for a message the file stays, and is found again.
  }
}

bool replaceFile(const fs::path& path, const std::string& name,
                 std::initializer_list<std::string_view> parts, unsigned mode,
                 std::string& problem) {
  std::error_code error;
  fs::create_directories(path, error);
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    problem = lastError();
    return false;
  }
  return replaceIn(folder.number(), name, parts, mode, problem);
}

}  // namespace hpl::runtime
