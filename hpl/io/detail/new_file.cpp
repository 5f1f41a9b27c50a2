// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/detail/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hpl/io/file_error.h"

namespace hpl::io::detail {
namespace {

namespace fs = std::filesystem;

/// A name beside `target` that no other file of this or another process has. Long names are cut,
/// so that the addition does not exceed what file systems allow.
std::string besideName(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  const fs::path path(target);
  const std::string base = path.filename().string().substr(0, 200);
  return (path.parent_path() / fmt::format("{}.{}-{}.part", base, getpid(), counter++)).string();
}

/// The file that a name means, links followed also where they lead to a file that is yet to be
/// made.
std::string followed(fs::path path) {
  std::error_code error;
  // As many links as Linux follows.
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(path, error)); ++links) {
    const fs::path next = fs::read_symlink(path, error);
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path.string();
}

}  // namespace

NewFile::NewFile(std::string name, std::string content)
    : name_(std::move(name)), content_(std::move(content)), target_(followed(name_)) {
  std::error_code error;
  const fs::file_status status = fs::status(target_, error);
  switch (status.type()) {
    case fs::file_type::directory:
      fail("it is a folder; give the name of a file");
    case fs::file_type::fifo:
      fail("it is a pipe, and a pipe without a reader would be waited for");
    case fs::file_type::not_found:
      openBeside(target_);
      return;
    case fs::file_type::regular:
      // Renaming would replace a file that its owner has protected.
      if (access(target_.c_str(), W_OK) != 0) fail(std::strerror(errno));
      openBeside(target_);
      chmod(path_.c_str(), static_cast<mode_t>(status.permissions()) & 07777);
      return;
    default:
      path_ = target_;
      stream_.reset(std::fopen(path_.c_str(), "wb"));
      if (!stream_) fail(std::strerror(errno));
  }
}

void NewFile::openBeside(const std::string& target) {
  path_ = besideName(target);
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) fail(std::strerror(errno));
  renamed_ = true;
  stream_.reset(fdopen(file, "wb"));
  if (stream_) return;
  const int reason = errno;
  close(file);
  std::remove(path_.c_str());
  renamed_ = false;
  fail(std::strerror(reason));
}

NewFile::~NewFile() {
  if (finished_ || !renamed_) return;
  stream_.reset();
  std::remove(path_.c_str());
}

void NewFile::write(const void* bytes, std::size_t count) {
  if (std::fwrite(bytes, 1, count, stream_.get()) != count) fail(std::strerror(errno));
}

void NewFile::finish() {
  if (finished_) return;
  // Closing flushes: a full disk is often seen only here.
  if (stream_ && std::fclose(stream_.release()) != 0) fail(std::strerror(errno));
  if (renamed_ && std::rename(path_.c_str(), target_.c_str()) != 0) fail(std::strerror(errno));
  finished_ = true;
}

void NewFile::fail(const std::string& reason) const {
  throw FileError(fmt::format("{}: cannot write {}: {}", name_, content_, reason), name_);
}

}  // namespace hpl::io::detail
