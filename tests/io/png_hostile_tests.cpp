// SPDX-License-Identifier: Apache-2.0
// PNG files that are damaged, cut short or lie.
#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdlib>
#include <random>

#include "hpl/hpl.h"
#include "hpl/io/png.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

namespace png_hostile_tests {

using namespace hpl;
using namespace io_tests;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

std::string bigEndian(unsigned long value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const unsigned long sum = crc32(0, reinterpret_cast<const unsigned char*>(body.data()),
                                  static_cast<unsigned>(body.size()));
  return bigEndian(data.size()) + body + bigEndian(sum);
}

std::string compressed(const std::string& data) {
  std::string bytes(compressBound(data.size()), '\0');
  uLongf size = bytes.size();
  compress(reinterpret_cast<unsigned char*>(bytes.data()), &size,
           reinterpret_cast<const unsigned char*>(data.data()), data.size());
  return bytes.substr(0, size);
}

/// A picture of 8-bit gray (0) or with palette (3), whose rows begin with filter 0.
std::string pngOf(unsigned long width, unsigned long height, int type, const std::string& chunks,
                  const std::string& rows, int interlace = 0) {
  const std::string header = bigEndian(width) + bigEndian(height) + '\x08' +
                             static_cast<char>(type) + '\0' + '\0' + static_cast<char>(interlace);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunks + chunk("IDAT", compressed(rows)) +
         chunk("IEND", "");
}

}  // namespace

TEST_CASE("a picture of a hundred bytes that claims a terabyte is refused before there is one") {
  const TemporaryFolder folder;
  const std::string name = folder.file("huge.png");
  writeFile(name, pngOf(1000000, 1000000, 0, "", std::string("\0\1", 2)));
  const std::string message = messageOf<io::FileError>([&] { io::PngFile file(name); });
  CHECK(contains(message,
                 "huge.png: cannot read the picture: its header says 1000000 x 1000000 "
                 "pixels, which a file of "));
  CHECK(contains(message, "bytes cannot hold: it is damaged or cut short"));
  writeFile(name, pngOf(2000000000, 2000000000, 0, "", std::string("\0\1", 2)));
  CHECK_THROWS_AS(io::PngFile file(name), io::FileError);
  writeFile(name, pngOf(0, 4, 0, "", std::string("\0\1", 2)));
  CHECK_THROWS_AS(io::PngFile file(name), io::FileError);
}

TEST_CASE("transparent entries of a palette are alpha, and interlaced pictures are put together") {
  const TemporaryFolder folder;
  const std::string name = folder.file("p.png");
  const std::string palette = chunk("PLTE", "\1\2\3\4\5\6") + chunk("tRNS", std::string("\x80", 1));
  writeFile(name, pngOf(2, 1, 3, palette, std::string("\0\0\1", 3)));
  io::PngFile file(name);
  CHECK(file.channels() == 4);
  Array<uchar4, 2> a = file.read<uchar4, 2>();
  CHECK(static_cast<uchar4>(a(0, 0)) == uchar4(1, 2, 3, 0x80));
  CHECK(static_cast<uchar4>(a(0, 1)) == uchar4(4, 5, 6, 255));
  // Adam7 of 2 x 2: pass 1 has (0, 0), pass 6 (1, 0), pass 7 the second row.
  writeFile(name, pngOf(2, 2, 0, "", std::string("\0\12\0\24\0\36\50", 7), 1));
  Array<uchar, 2> b = io::readPng<uchar, 2>(name);
  CHECK(b(0, 0) == 10);
  CHECK(b(0, 1) == 20);
  CHECK(b(1, 0) == 30);
  CHECK(b(1, 1) == 40);
}

TEST_CASE("what is no picture is refused") {
  const TemporaryFolder folder;
  const std::string name = folder.file("p.png");
  writeFile(name, "this is no picture");
  CHECK(messageOf<io::FileError>([&] { io::PngFile file(name); }) ==
        name + ": cannot read the picture: it is no PNG file");
  writeFile(name, "short");
  CHECK(messageOf<io::FileError>([&] { io::PngFile file(name); }) ==
        name + ": cannot read the picture: it has 5 bytes and is no PNG file");
}

TEST_CASE("a picture cut anywhere is refused") {
  const TemporaryFolder folder;
  Array<uchar, 2> a(9, 11);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 11; ++x) a(y, x) = static_cast<uchar>(y * x);
  io::writePng(folder.file("a.png"), a);
  const std::string whole = contentOf(folder.file("a.png"));
  const std::string name = folder.file("cut.png");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    writeFile(name, whole.substr(0, length));
    const std::string message = messageOf<io::FileError>([&] { io::readPng<uchar, 2>(name); });
    CHECK(message.starts_with(name + ": cannot read the picture: "));
  }
}

TEST_CASE("mutated pictures are read, or refused with an exception") {
  const TemporaryFolder folder;
  const char* given = std::getenv("TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 20252;
  MESSAGE("seed ", seed);
  std::mt19937 engine(seed);
  const std::string palette = chunk("PLTE", "\1\2\3\4\5\6\7\10\11") + chunk("tRNS", "\x40");
  const std::string name = folder.file("m.png");
  int read = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    // The sums of the chunks are right, so that libpng looks at what is in them.
    const unsigned long sides[] = {1, 2, 3, 7, 255, 65536, 1000000, 0x7fffffff, 0xffffffff};
    const bool paletted = engine() % 2 == 0;
    std::string rows;
    for (unsigned i = 0; i < engine() % 40; ++i) rows += static_cast<char>(engine() % 5);
    std::string bytes = pngOf(sides[engine() % 9], sides[engine() % 9], paletted ? 3 : 0,
                              paletted ? palette : "", rows, static_cast<int>(engine() % 2));
    if (engine() % 2 == 0) {
      const std::size_t at = engine() % bytes.size();
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << engine() % 8);
    }
    writeFile(name, bytes);
    try {
      Array<ushort, 3> a = io::readPng<ushort, 3>(name);
      ++read;
      CHECK(a.size() < 4000000);
    } catch (const io::FileError& error) {
      ++refused;
      CHECK(std::string(error.what()).starts_with(name + ": cannot read the picture: "));
    }
  }
  CHECK(read > 20);
  CHECK(refused > 1000);
}

}  // namespace png_hostile_tests
