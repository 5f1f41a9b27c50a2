// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/raw.h"

#include <doctest/doctest.h>

#include <random>

#include "hpl/hpl.h"
#include "tests/io/npy_bytes.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

namespace raw_tests {

using namespace hpl;
using namespace io_tests;
using hpl_tests::messageOf;

TEST_CASE("a raw file is the elements in row-major order, for arrays and views") {
  const TemporaryFolder folder;
  const unsigned seed = 4;
  MESSAGE("seed ", seed);
  std::mt19937 engine(seed);
  for (int round = 0; round < 20; ++round) {
    const int rows = 2 + static_cast<int>(engine() % 9),
              columns = 2 + static_cast<int>(engine() % 9);
    Array<double, 2> a(rows, columns);
    std::vector<double> whole, part;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        whole.push_back(a(i, j) = static_cast<double>(engine()));
        if (i > 0 && j < columns - 1) part.push_back(whole.back());
      }
    io::writeRaw(folder.file("a.raw"), a);
    io::writeRaw(folder.file("v.raw"), a(Range(1, rows - 1), Range(0, columns - 2)));
    CHECK(contentOf(folder.file("a.raw")) == bytesOf(whole));
    CHECK(contentOf(folder.file("v.raw")) == bytesOf(part));

    Array<double, 2> b(rows, columns);
    b = 0.0;
    io::readRaw(folder.file("v.raw"), b(Range(0, rows - 2), Range(1, columns - 1)));
    for (int i = 0; i + 1 < rows; ++i)
      for (int j = 0; j + 1 < columns; ++j) {
        CHECK(b(i, j + 1) == a(i + 1, j));
        CHECK(b(i, 0) == 0.0);
      }
    Array<double, 2> c = io::readRaw<double, 2>(folder.file("a.raw"), {rows, columns});
    CHECK(c(rows - 1, 0) == a(rows - 1, 0));
  }
}

TEST_CASE("headers, bytes behind and the other byte order are passed over when that is said") {
  const TemporaryFolder folder;
  const std::string name = folder.file("a.raw");
  writeFile(name, "HEAD" + bytesOf<short>({1, 2, 3, 4}, true) + "TAIL!");
  io::RawFormat format;
  format.offset = 4;
  format.moreFollows = true;
  format.otherByteOrder = true;
  Array<short, 2> a = io::readRaw<short, 2>(name, {2, 2}, format);
  CHECK(a(0, 1) == 2);
  CHECK(a(1, 1) == 4);
  format.moreFollows = false;
  CHECK(
      messageOf<io::FileError>([&] {
        io::readRaw<short, 2>(name, {2, 2}, format);
      }) ==
      name +
          ": cannot read the array: Array<short, 2> of shape (2, 2) takes 8 bytes from byte 4 on, "
          "and the file has 13 there: give another shape, or RawFormat::moreFollows if more is in "
          "the file");
}

TEST_CASE(
    "a raw file of another size, or a shape that is none, is refused before there is an array") {
  const TemporaryFolder folder;
  const std::string name = folder.file("a.raw");
  writeFile(name, "12345678");
  CHECK(messageOf<io::FileError>([&] {
          io::readRaw<float, 2>(name, {1000000000, 1000000000});
        }) ==
        name +
            ": cannot read the array: Array<float, 2> of shape (1000000000, 1000000000) takes "
            "4000000000000000000 bytes from byte 0 on, and the file has 8 there: give another "
            "shape or offset, or write the file again");
  CHECK(messageOf<io::FileError>([&] {
          io::readRaw<float, 2>(name, {10000000000, 10000000000});
        }).find("takes more than 2^63 bytes") != std::string::npos);
  CHECK(messageOf<ArgumentError>([&] {
          io::readRaw<float, 2>(name, {0, 2});
        }) == name + ": a raw file cannot be read as shape (0, 2): extents are at least 1");
  io::RawFormat format;
  format.offset = -1;
  CHECK(messageOf<ArgumentError>([&] { io::readRaw<float, 1>(name, {2}, format); }) ==
        name + ": a raw file cannot be read from byte -1 on: the offset is at least 0");
  format.offset = 9;
  CHECK_THROWS_AS((io::readRaw<float, 1>(name, {1}, format)), io::FileError);
  Array<float, 1> a(3);
  a = 5.0f;
  CHECK_THROWS_AS(io::readRaw(name, a), io::FileError);
  CHECK(a(2) == 5.0f);
}

}  // namespace raw_tests
