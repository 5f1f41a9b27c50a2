// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "hpl/array/array.h"
#include "hpl/io/color_map.h"
#include "hpl/io/detail/cells.h"
#include "hpl/io/file_error.h"
#include "hpl/io/image.h"

/// PNG pictures.
namespace hpl::io {

/// A channel of a pixel: unsigned char from 0 to 255, unsigned short from 0 to 65535, or float from
/// 0 to 1.
template <class T>
concept Channel = std::is_same_v<T, unsigned char> || std::is_same_v<T, unsigned short> ||
                  std::is_same_v<T, float>;

namespace detail {
template <class T>
struct IsPixel : std::bool_constant<Channel<T>> {};
template <class T, int Lanes>
struct IsPixel<Vec<T, Lanes>> : std::bool_constant<Channel<T> && Lanes <= 4> {};

void writePng(const std::string& file, const Cells& cells);
}  // namespace detail

/// The elements of an array that is a picture: a Channel, or a vector of 2 (gray, alpha), 3 (red,
/// green, blue) or 4 (and alpha) of them.
template <class T>
concept Pixel = detail::IsPixel<T>::value;

/// Writes an array or a view as a PNG file, row 0 at the top. Array<Channel, 2> is gray; pixels are
/// Array<Vec, 2>, or Array<Channel, 3> with 1 to 4 channels as the last extent. Unsigned char gives
/// 8 bits per channel; unsigned short and float give 16, with values outside of 0 to 1 cut and NaN
/// as 0. The file appears complete or not at all. Throws FileError, and ArgumentError for a last
/// extent that is no number of channels.
template <Pixel T, int N>
  requires(N == 2 || (N == 3 && Channel<T>))
void writePng(const std::string& file, const Array<T, N>& picture) {
  detail::writePng(file, detail::cellsOf(picture));
}

/// Writes a picture of the host. Throws FileError, and ArgumentError if an index lies outside the
/// palette.
void writePng(const std::string& file, const Image& image);

/// Writes numbers in colours: colorImage() in a file.
///
///     io::writePng("t.png", t, io::viridis());
template <Scalable T>
void writePng(const std::string& file, const Array<T, 2>& values, const ColorScale& scale) {
  writePng(file, colorImage(values, scale));
}

/// A PNG file whose header has been read: it tells the size before an array is made for it.
/// Palettes count as the colours that they stand for, transparent entries as alpha.
class PngFile {
 public:
  /// Throws FileError for files that are missing, no PNG file, or too short for the picture that
  /// they claim to hold; nothing is allocated for the pixels.
  explicit PngFile(const std::string& file);
  ~PngFile();
  PngFile(PngFile&&) noexcept;
  PngFile& operator=(PngFile&&) noexcept;

  int width() const noexcept;
  int height() const noexcept;
  /// 1 gray, 2 gray and alpha, 3 red, green and blue, 4 these and alpha.
  int channels() const noexcept;
  /// Bits per channel: 8 (fewer in the file count as 8) or 16.
  int bits() const noexcept;

  /// A new array with the picture: of shape (height, width), or (height, width, channels()) for
  /// three dimensions. Unsigned short and float read both depths, scaled to their range; unsigned
  /// char reads 8 bits. Vectors with more lanes than the file has channels get gray as red, green
  /// and blue, and alpha as opaque. Throws FileError where something would be lost, and for damaged
  /// files.
  template <Pixel T, int N>
    requires(N == 2 || (N == 3 && Channel<T>))
  Array<T, N> read() {
    require(irType<T>(), N);
    Array<T, N> picture = detail::makeArray<T, N>({height(), width(), channels()});
    readInto(detail::layoutOf(picture), picture.data(HPL_WR));
    return picture;
  }

 private:
  void require(const ir::Type& type, int rank) const;
  void readInto(const detail::CellLayout& layout, void* first);

  struct State;
  std::unique_ptr<State> state_;
};

/// The picture in a PNG file. Throws FileError as PngFile does.
template <Pixel T, int N>
Array<T, N> readPng(const std::string& file) {
  return PngFile(file).read<T, N>();
}

}  // namespace hpl::io
