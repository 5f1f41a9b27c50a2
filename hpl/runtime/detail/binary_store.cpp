// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/detail/binary_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"

namespace hpl::runtime {
namespace {

namespace fs = std::filesystem;

/// First bytes of a file; key and binary follow. Files of other machines are told apart by the
/// key, so the machine's own byte order is good enough.
struct Header {
  char magic[8];
  std::uint64_t keyLength;
  std::uint64_t binaryLength;
  std::uint64_t checksumLow;
  std::uint64_t checksumHigh;
};
constexpr char magic[8] = {'H', 'P', 'L', 'B', 'I', 'N', '0', '1'};

Header makeHeader(std::string_view key, std::string_view binary) {
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.keyLength = key.size();
  header.binaryLength = binary.size();
  const XXH128_hash_t sum = XXH3_128bits(binary.data(), binary.size());
  header.checksumLow = sum.low64;
  header.checksumHigh = sum.high64;
  return header;
}

struct FileContent {
  std::unique_ptr<char[]> bytes;
  std::size_t length = 0;
};

/// The whole file, in as few calls as it takes: a warm start consists of little else.
std::optional<FileContent> readFile(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat about {};
  FileContent content;
  ssize_t got = -1;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
    const auto size = static_cast<std::size_t>(about.st_size);
    content.bytes = std::make_unique_for_overwrite<char[]>(size);
    do {
      got = read(file, content.bytes.get() + content.length, size - content.length);
      if (got > 0) content.length += static_cast<std::size_t>(got);
    } while ((got > 0 && content.length < size) || (got < 0 && errno == EINTR));
  }
  close(file);
  if (got < 0) return std::nullopt;
  return content;
}

/// The binary in `content`, if that is a whole, undamaged file for `key`.
std::optional<std::string_view> unpack(std::string_view content, std::string_view key) {
  Header found;
  if (content.size() < sizeof found) return std::nullopt;
  std::memcpy(&found, content.data(), sizeof found);
  content.remove_prefix(sizeof found);
  if (content.size() < key.size() || content.substr(0, key.size()) != key) return std::nullopt;
  content.remove_prefix(key.size());
  const Header expected = makeHeader(key, content);
  if (std::memcmp(&found, &expected, sizeof found) != 0) return std::nullopt;
  return content;
}

}  // namespace

std::string hexHash(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

fs::path BinaryStore::defaultFolder() {
  if (const std::string& set = settings().cacheDir; !set.empty()) return set;
  // The XDG specification has relative paths ignored.
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    return fs::path(xdg) / "hpl";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "hpl";
  return {};
}

fs::path BinaryStore::fileOf(std::string_view key) const {
  return folder_ / (hexHash(key) + ".bin");
}

BinaryStore::Lookup BinaryStore::load(std::string_view key) const {
  if (folder_.empty()) return {};
  auto content = readFile(fileOf(key).c_str());
  if (!content) return {};
  if (const auto binary = unpack({content->bytes.get(), content->length}, key))
    return {binary, std::move(content->bytes), false};
  log::info(fmt::format("{} is damaged; the kernel is compiled again", fileOf(key).string()));
  remove(key);
  return {std::nullopt, nullptr, true};
}

bool BinaryStore::tryToSave(std::string_view key, std::string_view binary,
                            std::string& problem) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    problem = error.message();
    return false;
  }
  static std::atomic<unsigned> counter{0};
  const fs::path target = fileOf(key);
  const fs::path temporary = fmt::format("{}.{}.{}.tmp", target.string(), getpid(), counter++);
  const Header header = makeHeader(key, binary);
  errno = 0;
  std::ofstream file(temporary, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(key.data(), static_cast<std::streamsize>(key.size()));
  file.write(binary.data(), static_cast<std::streamsize>(binary.size()));
  file.close();
  if (!file) {
    problem = errno ? std::generic_category().message(errno) : "writing failed";
    fs::remove(temporary, error);
    return false;
  }
  fs::rename(temporary, target, error);
  if (error) {
    problem = error.message();
    std::error_code ignored;
    fs::remove(temporary, ignored);
  }
  return !error;
}

bool BinaryStore::save(std::string_view key, std::string_view binary) const {
  if (folder_.empty()) return false;
  std::string problem;
  if (tryToSave(key, binary, problem)) return true;
  if (!warned_.exchange(true)) {
    log::warn(fmt::format(
        "compiled kernels cannot be kept in {} ({}); set HPL_CACHE_DIR to a writable folder, or "
        "HPL_CACHE=off",
        folder_.string(), problem));
  }
  return false;
}

void BinaryStore::remove(std::string_view key) const noexcept {
  try {
    std::error_code ignored;
    fs::remove(fileOf(key), ignored);
  } catch (const std::exception&) {
    // Without memory for a path the file stays, and is found damaged again.
  }
}

}  // namespace hpl::runtime
