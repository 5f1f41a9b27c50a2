// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/binary_store.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hpl/runtime/settings.h"
#include "subprocess.h"

namespace binary_store_tests {

using namespace hpl::runtime;
using subprocess::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void overwrite(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// For as long as it lives the process is not root, whom permissions do not stop.
class Unprivileged {
 public:
  Unprivileged() { require(!wasRoot_ || seteuid(65534) == 0); }
  ~Unprivileged() { require(!wasRoot_ || seteuid(0) == 0); }

 private:
  static void require(bool done) {
    if (!done) std::abort();
  }
  bool wasRoot_ = geteuid() == 0;
};

/// For as long as it lives files cannot grow beyond `bytes`: writing fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : oldHandler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, oldHandler_);
  }

 private:
  void (*oldHandler_)(int);
  rlimit old_{};
};

const std::string key = "a key\nof two lines";
const std::string binary("\0\1\2 some bytes \xff\0", 17);

}  // namespace

TEST_CASE("a binary store returns what it was given") {
  const TemporaryFolder folder;
  const BinaryStore store(folder / "made/on/demand");
  CHECK_FALSE(store.load(key).binary);
  CHECK(store.save(key, binary));
  CHECK(store.load(key).binary == binary);
  CHECK_FALSE(store.load("another key").binary);
  CHECK(store.save("another key", ""));
  CHECK(store.load("another key").binary == "");
  CHECK(store.save(key, "replaced"));
  CHECK(store.load(key).binary == "replaced");
  store.remove(key);
  CHECK_FALSE(store.load(key).binary);
}

TEST_CASE("a truncated file is never taken for a binary, and is removed") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  REQUIRE(store.save(key, binary));
  const std::string whole = contentOf(store.fileOf(key));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    overwrite(store.fileOf(key), whole.substr(0, length));
    const auto found = store.load(key);
    CHECK(found.damaged);
    CHECK_FALSE(found.binary);
    CHECK_FALSE(fs::exists(store.fileOf(key)));
  }
  overwrite(store.fileOf(key), whole + "x");
  CHECK(store.load(key).damaged);
}

TEST_CASE("a file with any one byte changed is never taken for a binary") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  REQUIRE(store.save(key, binary));
  const std::string whole = contentOf(store.fileOf(key));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    overwrite(store.fileOf(key), changed);
    CHECK(store.load(key).damaged);
  }
}

TEST_CASE("a file of another key is not taken even under the right name") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  REQUIRE(store.save("other", binary));
  fs::rename(store.fileOf("other"), store.fileOf(key));
  CHECK(store.load(key).damaged);
}

TEST_CASE("a store without a usable folder keeps nothing and does not throw") {
  const TemporaryFolder folder;
  overwrite(folder / "file", "not a folder");
  for (const fs::path& path : {folder / "file", folder / "file/below", fs::path("/proc/hpl"),
                               fs::path("/dev/null"), fs::path()}) {
    CAPTURE(path.string());
    const BinaryStore store(path);
    CHECK_FALSE(store.save(key, binary));
    CHECK_FALSE(store.save(key, binary));
    CHECK_FALSE(store.load(key).binary);
    CHECK_NOTHROW(store.remove(key));
  }
}

TEST_CASE("a folder that may only be read serves what is in it, and keeps nothing new") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  REQUIRE(store.save(key, binary));
  REQUIRE(store.save("damaged", binary));
  overwrite(store.fileOf("damaged"), "not a binary");
  fs::permissions(folder.path(), fs::perms(0555));
  {
    const Unprivileged user;
    CHECK(store.load(key).binary == binary);
    CHECK_FALSE(store.save(key, "replaced"));
    CHECK_FALSE(store.save("new", binary));
    CHECK(store.load("damaged").damaged);
    CHECK(store.load("damaged").damaged);  // it could not be removed
    CHECK_NOTHROW(store.remove(key));
    CHECK(store.load(key).binary == binary);
  }
  fs::permissions(folder.path(), fs::perms(0755));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("a file that may not be read is as good as none, and is replaced") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  REQUIRE(store.save(key, binary));
  fs::permissions(folder.path(), fs::perms(0777));
  fs::permissions(store.fileOf(key), fs::perms(0));
  {
    const Unprivileged user;
    const auto found = store.load(key);
    CHECK_FALSE(found.binary);
    CHECK_FALSE(found.damaged);
    CHECK(store.save(key, "replaced"));
    CHECK(store.load(key).binary == "replaced");
  }
}

TEST_CASE("a folder in the place of a file is as good as no file") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  fs::create_directories(store.fileOf(key) / "below");
  const auto found = store.load(key);
  CHECK_FALSE(found.binary);
  CHECK_FALSE(found.damaged);
  CHECK_FALSE(store.save(key, binary));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);  // nothing left behind
}

TEST_CASE("a disk that is full leaves the old binary and no piece of the new one") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  REQUIRE(store.save(key, binary));
  {
    const FileSizeLimit limit(1 << 12);
    CHECK_FALSE(store.save(key, std::string(1 << 16, 'x')));
    CHECK_FALSE(store.save("another", std::string(1 << 16, 'y')));
  }
  CHECK(store.load(key).binary == binary);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
  CHECK(store.save(key, std::string(1 << 16, 'x')));
}

TEST_CASE("several threads may write and read one key at once") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  const std::string large(1 << 18, 'x');
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        if (!store.save(key, large)) ++wrong;
        if (store.load(key).binary != large) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);  // nothing left behind
}

TEST_CASE("hashes are 32 hexadecimal digits and differ") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string hash = hexHash(std::to_string(i));
    CHECK(hash.size() == 32);
    CHECK(hash.find_first_not_of("0123456789abcdef") == std::string::npos);
    seen.insert(hash);
  }
  CHECK(seen.size() == 1000);
}

TEST_CASE("the default folder follows HPL_CACHE_DIR, XDG_CACHE_HOME and HOME in this order") {
  const Settings before = settings();
  Settings changed = before;
  changed.cacheDir = "/set/here";
  overrideSettings(changed);
  CHECK(BinaryStore::defaultFolder() == "/set/here");
  changed.cacheDir.clear();
  overrideSettings(changed);
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const std::string oldXdg = xdg ? xdg : "";
  const char* home = std::getenv("HOME");
  const std::string oldHome = home ? home : "";
  setenv("HOME", "/home/somebody", 1);
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  CHECK(BinaryStore::defaultFolder() == "/xdg/hpl");
  setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(BinaryStore::defaultFolder() == "/home/somebody/.cache/hpl");
  unsetenv("XDG_CACHE_HOME");
  CHECK(BinaryStore::defaultFolder() == "/home/somebody/.cache/hpl");
  unsetenv("HOME");
  CHECK(BinaryStore::defaultFolder().empty());
  if (xdg) setenv("XDG_CACHE_HOME", oldXdg.c_str(), 1);
  if (home) setenv("HOME", oldHome.c_str(), 1);
  overrideSettings(before);
}

}  // namespace binary_store_tests
