// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpl/io/detail/new_file.h"
#include "hpl/io/detail/source_file.h"
#include "hpl/io/image.h"

/// The library's only user of libpng.
namespace hpl::io::detail {

/// The description of a picture in a PNG file.
struct PngHeader {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;            ///< 1 to 4: gray, gray and alpha, RGB, RGB and alpha
  int bits = 8;                ///< 8 or 16
  std::vector<Color> palette;  ///< when writing: pixels of one channel are its indices

  std::size_t rowBytes() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels * bits / 8);
  }
};

/// Writes a picture; `fill(row, bytes)` provides each row: bytes, or 16-bit numbers in this
/// machine's byte order. Throws FileError.
void writePngRows(NewFile& file, const PngHeader& header,
                  const std::function<void(std::int64_t row, unsigned char* bytes)>& fill);

/// A picture that is being read.
class PngReader {
 public:
  /// Reads the header. Throws FileError.
  explicit PngReader(SourceFile& file);
  ~PngReader();
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  const PngHeader& header() const { return header_; }
  /// All pixels, 16-bit numbers in this machine's byte order, with as many channels as asked for,
  /// which is as many as there are or more. Throws FileError. To be called once.
  std::vector<unsigned char> pixels(int channels);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
  PngHeader header_;
};

}  // namespace hpl::io::detail
