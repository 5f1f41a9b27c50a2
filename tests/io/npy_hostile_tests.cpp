// SPDX-License-Identifier: Apache-2.0
// NPY files that are damaged, cut short or lie.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <random>

#include "hpl/hpl.h"
#include "hpl/io/npy.h"
#include "tests/io/npy_bytes.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

namespace npy_hostile_tests {

using namespace hpl;
using namespace io_tests;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

/// The message when a file with these bytes is opened.
std::string refusalOf(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string name = folder.file("f.npy");
  writeFile(name, bytes);
  const std::string message = messageOf<io::FileError>([&] { io::NpyFile file(name); });
  const std::string begin = name + ": cannot read the array: ";
  CHECK(message.starts_with(begin));
  return message.substr(std::min(begin.size(), message.size()));
}

}  // namespace

TEST_CASE("a file of 60 bytes that claims 10^18 cells is refused before there is an array") {
  CHECK(contains(
      refusalOf(npyBytes("'<f8'", false, "(1000000000, 1000000000)", "12345678")),
      "its header says shape (1000000000, 1000000000) of type '<f8', which is 8000000000000000000 "
      "bytes from byte"));
  CHECK(contains(refusalOf(npyBytes("'<f8'", false, "(10000000000, 10000000000)", "12345678")),
                 "which is more than 2^63 bytes"));
  const std::string nines = npyBytes("'<f8'", false, "(99999999999999999999,)", "");
  CHECK(contains(refusalOf(nines), "its header is damaged at byte " +
                                       std::to_string(nines.find("9999")) +
                                       ": expected a number below 2^63"));
  // Products that overflow to what follows.
  CHECK(contains(refusalOf(npyBytes("'|u1'", false, "(4294967296, 4294967296)", "")),
                 "more than 2^63"));
  CHECK(contains(refusalOf(npyBytes("[('a', '<f8', (4294967296, 4294967296))]", false, "(1,)", "")),
                 "its header gives an element extents that are no small numbers"));
  CHECK(contains(refusalOf(npyBytes("'<f4'", false, "(2, -3)", "")),
                 "its header's 'shape' has an extent that is no number from 0 on"));
}

TEST_CASE("a file says at which byte it is damaged") {
  CHECK(refusalOf("") == "it has 0 bytes and is no NPY file, whose header alone has more");
  CHECK(contains(refusalOf("PK\3\4 an archive of arrays"), "it is no NPY file, which would begin"));
  CHECK(contains(refusalOf(npyBytes("'<f4'", false, "(1,)", "1234", 4)),
                 "it is of version 4.0 of the format; versions 1.0, 2.0 and 3.0 are read"));
  CHECK(contains(refusalOf(npyWithHeader("{'descr': '<f4' 'shape': (1,)}", "")),
                 "its header is damaged at byte 26: expected ','"));
  CHECK(contains(refusalOf(npyWithHeader("{'descr': '<f4', 'shape': (1,)}", "1234")),
                 "its header is not {'descr': ..., 'fortran_order': ..., 'shape': ...}"));
  CHECK(
      contains(refusalOf(npyWithHeader(std::string(5000, '['), "")), "at most 32 nested brackets"));
  CHECK(contains(refusalOf(npyBytes("'|O'", false, "(1,)", "12345678")),
                 "its elements are of type '|O' (Python objects), which no Array holds"));
  CHECK(contains(refusalOf(npyBytes("'<U8'", false, "(1,)", "")), "type '<U8' (texts)"));
  CHECK(contains(refusalOf(npyBytes("'<f16'", false, "(1,)", "")), "type '<f16', which no Array"));
  const std::string cut = npyBytes("'<f4'", false, "(3,)", std::string(11, 'x'));
  CHECK(contains(refusalOf(cut), "which is 12 bytes from byte " + std::to_string(cut.size() - 11) +
                                     " on, and 11 follow: it is cut short or damaged"));
  CHECK(contains(refusalOf(npyBytes("'<f4'", false, "(3,)", std::string(13, 'x'))),
                 "and 13 follow: it is damaged, or holds more than one array"));
  try {
    const TemporaryFolder folder;
    writeFile(folder.file("f.npy"), npyWithHeader("{'descr': ?}", ""));
    io::NpyFile file(folder.file("f.npy"));
    FAIL("it was read");
  } catch (const io::FileError& error) {
    CHECK(error.offset() == 20);
    CHECK(error.file().ends_with("f.npy"));
  }
}

TEST_CASE("what is no file is refused, not waited for") {
  const TemporaryFolder folder;
  CHECK(messageOf<io::FileError>([] { io::readNpy<float, 1>("/no/such/a.npy"); }) ==
        "/no/such/a.npy: cannot read the array: No such file or directory");
  CHECK(contains(messageOf<io::FileError>([&] { io::NpyFile file(folder.file("")); }),
                 "it is a folder; give the name of a file"));
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(
      contains(messageOf<io::FileError>([&] { io::NpyFile file(pipe); }), "it is no regular file"));
}

TEST_CASE("a file cut anywhere is refused") {
  const TemporaryFolder folder;
  Array<short, 2> a(3, 5);
  a = short{7};
  io::writeNpy(folder.file("a.npy"), a);
  const std::string whole = contentOf(folder.file("a.npy"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    writeFile(folder.file("cut.npy"), whole.substr(0, length));
    CHECK_THROWS_AS(io::NpyFile file(folder.file("cut.npy")), io::FileError);
  }
}

TEST_CASE("mutated headers are read for what they say, or refused with an exception") {
  const TemporaryFolder folder;
  const char* given = std::getenv("TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 20251;
  MESSAGE("seed ", seed);
  std::mt19937 engine(seed);
  const std::string originals[] = {
      npyBytes("'<f4'", false, "(2, 3)", bytesOf<float>({1, 2, 3, 4, 5, 6})),
      npyBytes("[('a', '<i4'), ('b', '>f8', (2,)), ('c', [('d', '|b1')])]", true, "(2,)",
               std::string(42, 'z')),
      npyBytes("('<i2', (2, 2))", false, "(3,)", std::string(24, 'y'), 2)};
  const std::string alphabet =
      "'(){}[],:<>|=-019bifucVOTrueFalsN \n\t\x93\xff" + std::string(1, '\0');
  int opened = 0, refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string bytes = originals[engine() % 3];
    const int changes = 1 + static_cast<int>(engine() % 3);
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = engine() % bytes.size();
      const char c = alphabet[engine() % alphabet.size()];
      switch (engine() % 4) {
        case 0:
          bytes[at] = c;
          break;
        case 1:
          bytes.insert(at, 1, c);
          break;
        case 2:
          bytes.erase(at, 1 + engine() % 4);
          break;
        default:
          bytes[at] = static_cast<char>(bytes[at] ^ 1 << engine() % 8);
      }
      if (bytes.empty()) bytes = "x";
    }
    const std::string name = folder.file("m.npy");
    writeFile(name, bytes);
    try {
      io::NpyFile file(name);
      ++opened;
      std::int64_t cells = 1;
      for (const std::int64_t extent : file.shape()) cells *= extent;
      CHECK(cells <= static_cast<std::int64_t>(bytes.size()));
      if (file.holds<float, 2>() && cells > 0)
        CHECK(file.read<float, 2>().size() == static_cast<std::size_t>(cells));
      if (file.holds<short, 3>() && cells > 0)
        CHECK(file.read<short, 3>().size() == static_cast<std::size_t>(cells));
    } catch (const io::FileError& error) {
      ++refused;
      CHECK(std::string(error.what()).starts_with(name + ": cannot read the array: "));
    }
  }
  // Flips of data leave a good file, those of the header hardly one.
  CHECK(opened > 100);
  CHECK(refused > 2000);
}

}  // namespace npy_hostile_tests
