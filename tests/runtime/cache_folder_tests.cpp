// SPDX-License-Identifier: Apache-2.0
// What others, or accidents, may place in the folder of kept files.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "hpl/error.h"
#include "hpl/runtime/binary_store.h"
#include "hpl/runtime/program.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/tune/store.h"
#include "subprocess.h"
#include "tests/messages.h"

namespace cache_folder_tests {

using namespace hpl::runtime;
using hpl_tests::contains;
using subprocess::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

const std::string kKey = "a key";
const std::string kBinary = "a binary";

unsigned modeOf(const fs::path& path) {
  struct stat about {};
  REQUIRE(lstat(path.c_str(), &about) == 0);
  return about.st_mode & 07777U;
}

bool isRegular(const fs::path& path) {
  return fs::symlink_status(path).type() == fs::file_type::regular;
}

/// The strange things that can stand in the place of a file, each made by `make`.
struct Stranger {
  const char* name;
  void (*make)(const fs::path& path);
};
const Stranger kStrangers[] = {
    {"a pipe", [](const fs::path& path) { REQUIRE(mkfifo(path.c_str(), 0600) == 0); }},
    {"a link to a pipe",
     [](const fs::path& path) {
       const fs::path pipe = path.string() + ".pipe";
       REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
       fs::create_symlink(pipe, path);
     }},
    {"a link to a device", [](const fs::path& path) { fs::create_symlink("/dev/zero", path); }},
    {"a link to itself", [](const fs::path& path) { fs::create_symlink(path, path); }},
    {"a link to nothing",
     [](const fs::path& path) { fs::create_symlink("/nonesuch/nothing", path); }},
    {"a huge file",
     [](const fs::path& path) {
       std::ofstream(path) << "HPLBIN01";
       fs::resize_file(path, std::uintmax_t{1} << 42);
     }},
    {"a huge file that says how huge it is", [](const fs::path& path) {
       const std::uint64_t huge = std::uint64_t{1} << 42;
       const std::uint64_t words[] = {0, kKey.size(), huge - 40 - kKey.size(), 0, 0};
       std::string header(reinterpret_cast<const char*>(words), sizeof words);
       std::memcpy(header.data(), "HPLBIN01", 8);
       std::ofstream(path, std::ios::binary) << header << kKey;
       fs::resize_file(path, huge);
     }}};

const hpl::tune::Identity kDevice{"Some CPU", "1", "0.1.0"};

hpl::tune::Finding someFinding() {
  hpl::tune::Finding finding;
  finding.best = {{"lanes", 8}};
  return finding;
}

}  // namespace

TEST_CASE("what is no file of a binary store is neither waited for, nor read, nor followed") {
  for (const Stranger& stranger : kStrangers) {
    CAPTURE(stranger.name);
    const TemporaryFolder folder;
    const BinaryStore store(folder.path());
    stranger.make(store.fileOf(kKey));
    CHECK_FALSE(store.load(kKey).binary);
    CHECK(store.save(kKey, kBinary));
    CHECK(isRegular(store.fileOf(kKey)));
    CHECK(store.load(kKey).binary == kBinary);
  }
}

TEST_CASE("a link in the place of a binary is replaced, and what it names is left alone") {
  const TemporaryFolder folder, elsewhere;
  const BinaryStore store(folder.path()), other(elsewhere.path());
  REQUIRE(other.save(kKey, "of another store"));
  fs::create_symlink(other.fileOf(kKey), store.fileOf(kKey));
  CHECK_FALSE(store.load(kKey).binary);
  CHECK(store.save(kKey, kBinary));
  CHECK(other.load(kKey).binary == "of another store");
  store.remove(kKey);
  CHECK(other.load(kKey).binary == "of another store");
}

TEST_CASE("what is no tuning file is neither waited for, nor read, nor followed") {
  for (const Stranger& stranger : kStrangers) {
    CAPTURE(stranger.name);
    const TemporaryFolder folder;
    hpl::tune::Store store(folder.path(), kDevice);
    stranger.make(store.file());
    CHECK_FALSE(store.find("life"));
    CHECK(store.keep("life", someFinding()));
    CHECK(isRegular(store.file()));
    CHECK(hpl::tune::Store(folder.path(), kDevice).find("life") == someFinding());
  }
}

TEST_CASE("what is no lock of a tuning file does not stop findings from being kept") {
  for (const Stranger& stranger : kStrangers) {
    CAPTURE(stranger.name);
    const TemporaryFolder folder;
    hpl::tune::Store store(folder.path(), kDevice);
    stranger.make(store.file().string() + ".lock");
    CHECK(store.keep("life", someFinding()));
    CHECK(hpl::tune::Store(folder.path(), kDevice).find("life") == someFinding());
  }
}

TEST_CASE(
    "the folders that are made are for their user alone, and the files not for others to write") {
  const mode_t before = umask(0);
  const TemporaryFolder folder;
  const BinaryStore store(folder / "made/on/demand");
  CHECK(store.save(kKey, kBinary));
  hpl::tune::Store findings(folder / "made/on/demand", kDevice);
  CHECK(findings.keep("life", someFinding()));
  umask(before);
  for (const char* made : {"made", "made/on", "made/on/demand"})
    CHECK(modeOf(folder / made) == 0700);
  CHECK(modeOf(store.fileOf(kKey)) == 0644);
  CHECK(modeOf(findings.file()) == 0644);
  CHECK(modeOf(findings.file().string() + ".lock") == 0644);
}

TEST_CASE("a file that another process has left half written is no obstacle") {
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  // The names that this process will try first.
  for (int i = 0; i < 400; ++i)
    std::ofstream(store.fileOf(kKey).string() + "." + std::to_string(getpid()) + "." +
                  std::to_string(i) + ".tmp");
  CHECK(store.save(kKey, kBinary));
  CHECK(store.load(kKey).binary == kBinary);
}

TEST_CASE("child: keeps and finds a binary" * doctest::skip()) {
  const BinaryStore store(BinaryStore::defaultFolder());
  hpl::tune::Store findings(BinaryStore::defaultFolder(), kDevice);
  std::printf("found: %d %d\n", store.load(kKey).binary.has_value(),
              findings.find("life").has_value());
  store.save(kKey, kBinary);
  findings.keep("life", someFinding());
  std::printf("kept: %d %d\n", store.load(kKey).binary == kBinary,
              hpl::tune::Store(BinaryStore::defaultFolder(), kDevice).find("life").has_value());
}

TEST_CASE("files of another user are ignored, and a folder of another user is reported once") {
  if (geteuid() != 0) {
    MESSAGE("only root can give files away");
    return;
  }
  const TemporaryFolder folder;
  const BinaryStore store(folder.path());
  hpl::tune::Store findings(folder.path(), kDevice);
  REQUIRE(store.save(kKey, kBinary));
  REQUIRE(findings.keep("life", someFinding()));
  REQUIRE(chown(store.fileOf(kKey).c_str(), 65534, 65534) == 0);
  REQUIRE(chown(findings.file().c_str(), 65534, 65534) == 0);
  REQUIRE(chown(folder.path().c_str(), 65534, 65534) == 0);
  const std::string setting = "HPL_CACHE_DIR=" + folder.path().string();
  const auto result = subprocess::run("child: keeps and finds a binary", setting);
  CAPTURE(result.output);
  CHECK(contains(result.output, "found: 0 0\n"));
  CHECK(contains(result.output, "kept: 1 1\n"));
  CHECK(contains(result.output, "the tuning file " + findings.file().string() +
                                    " is ignored (it belongs to user 65534) and will be replaced"));
  CHECK(subprocess::occurrences(
            result.output,
            "the cache folder " + folder.path().string() +
                " belongs to user 65534, and this process runs as user 0: what others place there "
                "is ignored, but they may remove what is kept; name a folder of your own with "
                "HPL_CACHE_DIR") == 1);
  CHECK(
      contains(subprocess::run("child: keeps and finds a binary", setting).output, "found: 1 1\n"));
}

TEST_CASE("a folder that others may write is reported once") {
  const TemporaryFolder folder;
  for (const unsigned mode : {0770U, 0707U, 01777U}) {
    CAPTURE(mode);
    fs::permissions(folder.path(), fs::perms(mode));
    const auto result = subprocess::run("child: keeps and finds a binary",
                                        "HPL_CACHE_DIR=" + folder.path().string());
    CAPTURE(result.output);
    CHECK(contains(result.output, "kept: 1 1\n"));
    CHECK(subprocess::occurrences(result.output, " can be written by others (mode ") == 1);
    CHECK(contains(result.output, "`chmod go-w` changes that"));
  }
  fs::permissions(folder.path(), fs::perms(0755));
  const auto result =
      subprocess::run("child: keeps and finds a binary", "HPL_CACHE_DIR=" + folder.path().string());
  CAPTURE(result.output);
  CHECK_FALSE(contains(result.output, "can be written by others"));
}

TEST_CASE("HPL_DUMP_KERNELS writes into its folder whatever a kernel is called") {
  const TemporaryFolder folder;
  const fs::path inner = folder / "in" / "here";
  const Settings before = settings();
  Settings dumping = before;
  dumping.dumpKernels = inner;
  dumping.cache = DiskCache::Off;
  overrideSettings(dumping);
  const std::string source = "kernel void f(global int* a) { *a = 417; }\n";
  DeviceState& device = Runtime::get().defaultDevice();
  const std::string ending = "_" + hexHash(source).substr(0, 8) + ".cl";
  fs::create_directories(inner);
  std::ofstream(folder / "victim") << "untouched";
  fs::create_symlink(folder / "victim", inner / ("f" + ending));
  REQUIRE(mkfifo((inner / ("g" + ending)).c_str(), 0600) == 0);
  for (const std::string& name :
       {std::string("../../escape"), std::string("/tmp/hpl escape"), std::string("a\nb\xff"),
        std::string(4000, 'x'), std::string("f"), std::string("g")})
    buildProgram(device, name, source);
  overrideSettings(before);
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.is_directory() || entry.path().filename() == "victim") continue;
    ++files;
    INFO(entry.path().string());
    CHECK(entry.path().parent_path() == inner);
    CHECK(isRegular(entry.path()));
    CHECK(entry.path().stem().string().find_first_not_of(
              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
          std::string::npos);
  }
  CHECK(files == 6);
  CHECK(fs::exists(inner / ("______escape" + ending)));
  CHECK(fs::file_size(folder / "victim") == 9);
}

}  // namespace cache_folder_tests
