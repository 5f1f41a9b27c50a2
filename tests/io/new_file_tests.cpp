// SPDX-License-Identifier: Apache-2.0
// Files appear complete or not at all.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "hpl/hpl.h"
#include "hpl/io.h"
#include "hpl/io/detail/new_file.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

namespace new_file_tests {

using namespace hpl;
using namespace io_tests;
using hpl_tests::contains;
using hpl_tests::messageOf;
namespace fs = std::filesystem;

namespace {

/// No file of this process grows beyond a number of bytes: later writes see a failure as of a full
/// disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit small = before_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("a full disk leaves the old file, and nothing half-written") {
  const TemporaryFolder folder;
  Array<float, 2> a(300, 300);
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 300; ++j)
      a(i, j) = static_cast<float>((i * 7919 + j * 104729) % 65537) / 65537.0f;
  const auto refused = [&](const std::string& name, auto write) {
    CAPTURE(name);
    writeFile(folder.file(name), "precious");
    {
      const SmallDisk disk(5000);
      const std::string message = messageOf<io::FileError>([&] { write(folder.file(name)); });
      CHECK(message.starts_with(folder.file(name) + ": cannot write the "));
    }
    CHECK(contentOf(folder.file(name)) == "precious");
    CHECK(folder.names() == std::vector<std::string>{name});
    fs::remove(folder.file(name));
  };
  refused("a.npy", [&](const std::string& file) { io::writeNpy(file, a); });
  refused("a.raw", [&](const std::string& file) { io::writeRaw(file, a); });
  refused("a.png", [&](const std::string& file) { io::writePng(file, a); });
  refused("a.vti", [&](const std::string& file) { io::VtkImage().points("a", a).write(file); });
  refused("a.gif", [&](const std::string& file) {
    io::Animation film(file);
    film.add(a);
    film.add(a(Range(0, 299), Range(0, 299)));
    film.close();
  });
}

TEST_CASE("a file that is not finished is not there") {
  const TemporaryFolder folder;
  {
    io::detail::NewFile file(folder.file("a"), "the test");
    file.write("abc", 3);
    CHECK(fs::exists(file.path()));
    CHECK_FALSE(fs::exists(folder.file("a")));
  }
  CHECK(folder.names().empty());
  io::detail::NewFile file(folder.file("a"), "the test");
  file.write("abc", 3);
  file.finish();
  file.finish();
  CHECK(contentOf(folder.file("a")) == "abc");
  CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a new file has the rights that others have; one that is replaced keeps its own") {
  const TemporaryFolder folder;
  const Array<int, 1> a(3);
  const mode_t before = umask(027);
  io::writeRaw(folder.file("a"), a);
  umask(before);
  CHECK(fs::status(folder.file("a")).permissions() == static_cast<fs::perms>(0640));
  fs::permissions(folder.file("a"), static_cast<fs::perms>(0604));
  io::writeRaw(folder.file("a"), a);
  CHECK(fs::status(folder.file("a")).permissions() == static_cast<fs::perms>(0604));
}

TEST_CASE("a link stays a link, and leads to the new contents") {
  const TemporaryFolder folder;
  writeFile(folder.file("real"), "old");
  fs::create_symlink("real", folder.file("link"));
  fs::create_symlink("fresh", folder.file("dangling"));
  Array<char, 1> a(3);
  a(0) = 'n', a(1) = 'e', a(2) = 'w';
  io::writeRaw(folder.file("link"), a);
  io::writeRaw(folder.file("dangling"), a);
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(contentOf(folder.file("real")) == "new");
  CHECK(contentOf(folder.file("fresh")) == "new");
}

TEST_CASE("what cannot be written is refused with the reason") {
  const TemporaryFolder folder;
  Array<int, 1> a(3000);
  a = 1;
  CHECK(messageOf<io::FileError>([&] { io::writeNpy("/no/such/folder/a.npy", a); }) ==
        "/no/such/folder/a.npy: cannot write the array: No such file or directory");
  CHECK(contains(messageOf<io::FileError>([&] { io::writeNpy(folder.file(""), a); }),
                 "it is a folder; give the name of a file"));
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(messageOf<io::FileError>([&] { io::writeNpy(pipe, a); }),
                 "it is a pipe, and a pipe without a reader would be waited for"));
  CHECK(messageOf<io::FileError>([&] { io::writeRaw("/dev/full", a); }) ==
        "/dev/full: cannot write the array: No space left on device");
  CHECK_NOTHROW(io::writeRaw("/dev/null", a));
  CHECK(fs::is_character_file("/dev/null"));
  // The administrator may write anything.
  if (geteuid() == 0) return;
  writeFile(folder.file("kept"), "kept");
  fs::permissions(folder.file("kept"), fs::perms::owner_read);
  CHECK(messageOf<io::FileError>([&] { io::writeRaw(folder.file("kept"), a); }) ==
        folder.file("kept") + ": cannot write the array: Permission denied");
}

TEST_CASE("a name as long as file systems allow is written") {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  const Array<int, 1> a(3);
  io::writeRaw(folder.file(name), a);
  CHECK(folder.names() == std::vector<std::string>{name});
}

}  // namespace new_file_tests
