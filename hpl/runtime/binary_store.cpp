// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/binary_store.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

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

/// Beyond this a file is no binary of ours, whatever it says of itself.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

/// Whether the header is that of a file of `size` bytes for a key of `keyLength`. Asked before
/// memory is allocated for the rest.
bool isPlausible(const Header& header, std::size_t size, std::size_t keyLength) {
  return std::memcmp(header.magic, magic, sizeof magic) == 0 && header.keyLength == keyLength &&
         header.binaryLength <= kMostBytes &&
         size == sizeof header + header.keyLength + header.binaryLength;
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

std::string BinaryStore::nameOf(std::string_view key) { return hexHash(key) + ".bin"; }

fs::path BinaryStore::fileOf(std::string_view key) const { return folder_.path() / nameOf(key); }

std::optional<std::string_view> BinaryStore::unpack(const KeptFile& file, std::string_view key,
                                                    std::unique_ptr<char[]>& content) {
  Header found;
  if (file.size() < sizeof found || !file.read(&found, sizeof found) ||
      !isPlausible(found, file.size(), key.size()))
    return std::nullopt;
  const std::size_t length = file.size() - sizeof found;
  content.reset(new (std::nothrow) char[length]);
  if (content == nullptr || !file.read(content.get(), length)) return std::nullopt;
  const std::string_view all(content.get(), length);
  if (all.substr(0, key.size()) != key) return std::nullopt;
  const std::string_view binary = all.substr(key.size());
  const Header expected = makeHeader(key, binary);
  if (std::memcmp(&found, &expected, sizeof found) != 0) return std::nullopt;
  return binary;
}

BinaryStore::Lookup BinaryStore::load(std::string_view key) const {
  if (folder_.path().empty()) return {};
  std::string reason;
  const KeptFile file = folder_.open(nameOf(key), reason);
  if (!file) {
    if (!reason.empty())
      log::info(fmt::format("{} is ignored ({}); the kernel is compiled again",
                            fileOf(key).string(), reason));
    return {};
  }
  Lookup found;
  found.binary = unpack(file, key, found.content);
  if (found.binary) return found;
  log::info(fmt::format("{} is damaged; the kernel is compiled again", fileOf(key).string()));
  remove(key);
  return {std::nullopt, nullptr, true};
}

bool BinaryStore::save(std::string_view key, std::string_view binary) const {
  if (folder_.path().empty()) return false;
  const Header header = makeHeader(key, binary);
  const std::string_view headerBytes(reinterpret_cast<const char*>(&header), sizeof header);
  std::string problem;
  if (folder_.replace(nameOf(key), {headerBytes, key, binary}, problem)) return true;
  if (!warned_.exchange(true)) {
    log::warn(fmt::format(
        "compiled kernels cannot be kept in {} ({}); set HPL_CACHE_DIR to a writable folder, or "
        "HPL_CACHE=off",
        folder_.path().string(), problem));
  }
  return false;
}

void BinaryStore::remove(std::string_view key) const noexcept {
  try {
    folder_.remove(nameOf(key));
  } catch (const std::exception&) {
    // Without memory for a name the file stays, and is found damaged again.
  }
}

}  // namespace hpl::runtime
