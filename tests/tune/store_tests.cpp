// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/store.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/printed.h"
#include "tests/runtime/subprocess.h"

namespace store_tests {

using namespace hpl::tune;
using subprocess::occurrences;
using subprocess::TemporaryFolder;

namespace {

const Identity kHere{"Fast CPU (R) 3000", "4.2", "0.1.0"};

Finding someFinding(std::int64_t lanes) {
  Finding finding;
  finding.best = {{"strategy", 1}, {"lanes", lanes}};
  finding.ratio = 0.8;
  finding.seconds = 1.25e-3;
  finding.rounds = 7;
  finding.complete = lanes == 16;
  finding.thorough = lanes == 8;
  finding.lost = {{{"jam", 2}}, {{"jam", 8}}};
  finding.note = "rows";
  return finding;
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string read(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a finding is found again by the next process, with all its numbers") {
  const TemporaryFolder folder;
  Store first(folder / "new" / "cache", kHere);
  CHECK_FALSE(first.find("life"));
  CHECK(first.keep("life", someFinding(16)));
  CHECK(first.find("life") == someFinding(16));
  Store second(folder / "new" / "cache", kHere);
  REQUIRE(second.find("life"));
  CHECK(*second.find("life") == someFinding(16));
  CHECK_FALSE(second.find("heat"));
  CHECK(second.keep("life", someFinding(8)));
  CHECK(Store(folder / "new" / "cache", kHere).find("life") == someFinding(8));
}

TEST_CASE("every device, driver and version has a file of its own") {
  const TemporaryFolder folder;
  Store here(folder.path(), kHere);
  CHECK(here.file().filename().string().starts_with("tune-Fast-CPU-R-3000-"));
  here.keep("life", someFinding(16));
  for (const Identity& other :
       {Identity{"Slow CPU", "4.2", "0.1.0"}, Identity{"Fast CPU (R) 3000", "4.3", "0.1.0"},
        Identity{"Fast CPU (R) 3000", "4.2", "0.2.0"}}) {
    Store store(folder.path(), other);
    CHECK(store.file() != here.file());
    CHECK_FALSE(store.find("life"));
  }
}

TEST_CASE("a damaged tuning file is reported once, ignored and replaced") {
  const TemporaryFolder folder;
  const std::filesystem::path file = Store(folder.path(), kHere).file();
  Store(folder.path(), kHere).keep("life", someFinding(16));
  const std::string whole = read(file);
  std::string wrongType = whole;
  wrongType.replace(wrongType.find("7"), 1, "\"seven\"");
  for (const std::string& damage :
       {std::string("{"), std::string(), std::string("\0\0\0", 3),
        whole.substr(0, whole.size() / 2), std::string("[]"), wrongType}) {
    CAPTURE(damage);
    write(file, damage);
    Store store(folder.path(), kHere);
    const std::string message = hpl_tests::printed([&] {
      CHECK_FALSE(store.find("life"));
      CHECK_FALSE(store.find("heat"));
    });
    CHECK(occurrences(message, "the tuning file " + file.string() + " is damaged (") == 1);
    CHECK(message.find("it is ignored and will be replaced") != std::string::npos);
    hpl_tests::printed([&] { CHECK(store.keep("heat", someFinding(8))); });
    CHECK(Store(folder.path(), kHere).find("heat") == someFinding(8));
    CHECK_FALSE(Store(folder.path(), kHere).find("life"));
  }
}

TEST_CASE("the tuning file of another device is reported and not believed") {
  const TemporaryFolder folder;
  Store here(folder.path(), kHere);
  Store other(folder.path(), {"Slow CPU", "4.2", "0.1.0"});
  REQUIRE(other.keep("life", someFinding(4)));
  std::filesystem::copy_file(other.file(), here.file());
  const std::string message = hpl_tests::printed([&] { CHECK_FALSE(here.find("life")); });
  CHECK(message.find("was made for device Slow CPU (driver 4.2, library 0.1.0), not for Fast CPU "
                     "(R) 3000 (driver 4.2, library 0.1.0); it is ignored and will be replaced") !=
        std::string::npos);
  hpl_tests::printed([&] { CHECK(here.keep("life", someFinding(16))); });
  CHECK(Store(folder.path(), kHere).find("life") == someFinding(16));
}

TEST_CASE("processes that keep findings at the same time lose none and read whole files") {
  const TemporaryFolder folder;
  constexpr int kProcesses = 6;
  constexpr int kFindings = 15;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    bool good = true;
    for (int f = 0; f < kFindings; ++f) {
      Store store(folder.path(), kHere);
      // On a busy machine the others may keep the file for longer than a process waits; it says so.
      bool kept = false;
      for (int attempt = 0; !kept && attempt < 30; ++attempt)
        kept = store.keep(std::to_string(p) + "/" + std::to_string(f), someFinding(f));
      good = kept && good;
    }
    _exit(good ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  Store store(folder.path(), kHere);
  for (int p = 0; p < kProcesses; ++p)
    for (int f = 0; f < kFindings; ++f)
      CHECK(store.find(std::to_string(p) + "/" + std::to_string(f)) == someFinding(f));
}

TEST_CASE("a file that another process is writing all the time is left alone, and that is said") {
  const TemporaryFolder folder;
  Store store(folder.path(), kHere);
  store.keep("life", someFinding(16));
  const int lock = open((store.file().string() + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(lock >= 0);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  const std::string message =
      hpl_tests::printed([&] { CHECK_FALSE(store.keep("heat", someFinding(8))); });
  CHECK(message.find("tuning results cannot be kept in " + store.file().string() +
                     " (another process has been writing it for a second); set HPL_CACHE_DIR to a "
                     "writable folder, or HPL_TUNE=off") != std::string::npos);
  // This process knows it nevertheless; others can read what was there.
  CHECK(store.find("heat") == someFinding(8));
  CHECK(Store(folder.path(), kHere).find("life") == someFinding(16));
  close(lock);
  CHECK(store.keep("heat", someFinding(8)));
}

TEST_CASE("without a folder that can be written findings last as long as the process") {
  Store nowhere({}, kHere);
  CHECK(nowhere.file().empty());
  CHECK_FALSE(nowhere.keep("life", someFinding(16)));
  CHECK(nowhere.find("life") == someFinding(16));

  const TemporaryFolder folder;
  write(folder / "file", "no folder");
  Store store(folder / "file", kHere);
  const std::string message = hpl_tests::printed([&] {
    CHECK_FALSE(store.keep("life", someFinding(16)));
    CHECK_FALSE(store.keep("life", someFinding(16)));
  });
  CHECK(occurrences(message, "tuning results cannot be kept in") == 1);
  CHECK(store.find("life") == someFinding(16));
}

}  // namespace store_tests
