// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/detail/source_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hpl/io/file_error.h"

namespace hpl::io::detail {

SourceFile::SourceFile(std::string name, std::string content)
    : name_(std::move(name)), content_(std::move(content)) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::file_status status = fs::status(name_, ignored);
  // A pipe without a writer would be waited for.
  if (fs::is_directory(status)) fail("it is a folder; give the name of a file");
  if (fs::exists(status) && !fs::is_regular_file(status)) fail("it is no regular file");
  stream_.reset(std::fopen(name_.c_str(), "rb"));
  if (!stream_) fail(std::strerror(errno));
  struct stat facts = {};
  if (fstat(fileno(stream_.get()), &facts) != 0) fail(std::strerror(errno));
  size_ = facts.st_size;
}

void SourceFile::read(void* bytes, std::size_t count) {
  const std::size_t got = std::fread(bytes, 1, count, stream_.get());
  position_ += static_cast<std::int64_t>(got);
  if (got == count) return;
  if (std::ferror(stream_.get()) != 0) fail(std::strerror(errno), position_);
  fail(fmt::format("the file ends at byte {}, and {} more bytes were to follow: it is cut short, "
                   "so write or copy it again",
                   position_, count - got),
       position_);
}

void SourceFile::seek(std::int64_t position) {
  if (fseeko(stream_.get(), position, SEEK_SET) != 0) fail(std::strerror(errno), position);
  position_ = position;
}

void SourceFile::fail(const std::string& reason, std::int64_t offset) const {
  throw FileError(fmt::format("{}: cannot read {}: {}", name_, content_, reason), name_, offset);
}

}  // namespace hpl::io::detail
