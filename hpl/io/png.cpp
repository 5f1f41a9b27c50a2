// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/png.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "hpl/error.h"
#include "hpl/io/detail/png_stream.h"

namespace hpl::io {
namespace {

using detail::CellLayout;
using detail::PngHeader;
using detail::PngReader;
using detail::SourceFile;

/// Channels of pixels in memory: `strides` in scalars, for rows, columns and channels.
struct PixelLayout {
  ir::Scalar scalar;
  int channels;
  std::int64_t height, width;
  std::int64_t rows, columns, lanes;
};

PixelLayout pixelsIn(const CellLayout& layout) {
  const ir::Type& type = layout.type;
  const std::int64_t inCell = type.lanes == 3 ? 4 : type.lanes;
  PixelLayout pixels{type.scalar,
                     type.lanes,
                     layout.extents[0],
                     layout.extents[1],
                     layout.strides[0] * inCell,
                     layout.strides[1] * inCell,
                     1};
  if (layout.rank < 3) return pixels;
  if (layout.extents[2] > 4) {
    throw ArgumentError(fmt::format(
        "{} of {} is no picture: its last extent is the number of channels, 1 to 4",
        detail::describeArray(type, layout.rank, layout.label), detail::shapeText(layout.shape())));
  }
  pixels.channels = static_cast<int>(layout.extents[2]);
  pixels.lanes = layout.strides[2];
  return pixels;
}

/// Calls `act(offset in scalars, number in the row)` for each channel of each pixel of a row.
template <class Act>
void forEachChannel(const PixelLayout& pixels, std::int64_t row, Act act) {
  std::int64_t number = 0;
  for (std::int64_t x = 0; x < pixels.width; ++x)
    for (int c = 0; c < pixels.channels; ++c)
      act(row * pixels.rows + x * pixels.columns + c * pixels.lanes, number++);
}

std::uint16_t deepened(float value) {
  // Negated, so that NaN becomes 0.
  return static_cast<std::uint16_t>(!(value > 0) ? 0 : std::lround(65535 * std::min(value, 1.0f)));
}

void fillRow(const PixelLayout& pixels, const void* first, std::int64_t row, unsigned char* bytes) {
  forEachChannel(pixels, row, [&](std::int64_t at, std::int64_t number) {
    if (pixels.scalar == ir::Scalar::Uchar) {
      bytes[number] = static_cast<const unsigned char*>(first)[at];
      return;
    }
    const std::uint16_t value = pixels.scalar == ir::Scalar::Ushort
                                    ? static_cast<const std::uint16_t*>(first)[at]
                                    : deepened(static_cast<const float*>(first)[at]);
    std::memcpy(bytes + 2 * number, &value, sizeof value);
  });
}

/// A channel of a row as 16 bits.
std::uint16_t channelOf(const unsigned char* bytes, int bits, std::int64_t number) {
  // 8 bits become 16 by repetition, so that 255 becomes 65535.
  if (bits == 8) return static_cast<std::uint16_t>(bytes[number] * 257);
  std::uint16_t value = 0;
  std::memcpy(&value, bytes + 2 * number, sizeof value);
  return value;
}

void takeRow(const PixelLayout& pixels, void* first, std::int64_t row, const unsigned char* bytes,
             int bits) {
  forEachChannel(pixels, row, [&](std::int64_t at, std::int64_t number) {
    if (pixels.scalar == ir::Scalar::Uchar) {
      static_cast<unsigned char*>(first)[at] = bytes[number];
    } else if (pixels.scalar == ir::Scalar::Ushort) {
      static_cast<std::uint16_t*>(first)[at] = channelOf(bytes, bits, number);
    } else {
      static_cast<float*>(first)[at] =
          static_cast<float>(channelOf(bytes, bits, number)) / 65535.0f;
    }
  });
}

void checkPalette(const Image& image) {
  if (image.palette.empty() || image.palette.size() > 256) {
    throw ArgumentError(
        fmt::format("a palette has 1 to 256 colours, this one has {}", image.palette.size()));
  }
  const unsigned largest = *std::max_element(image.pixels.begin(), image.pixels.end());
  if (largest >= image.palette.size()) {
    throw ArgumentError(fmt::format("palette index {} lies outside a palette of {} colours",
                                    largest, image.palette.size()));
  }
}

}  // namespace

void writePng(const std::string& file, const Image& image) {
  PngHeader header{image.width, image.height, image.channels(), 8, {}};
  if (image.format == Image::Format::Palette) {
    checkPalette(image);
    header.palette = image.palette;
  }
  detail::NewFile out(file, "the picture");
  writePngRows(out, header, [&](std::int64_t row, unsigned char* bytes) {
    std::copy_n(image.pixel(0, static_cast<int>(row)), header.rowBytes(), bytes);
  });
  out.finish();
}

namespace detail {

void writePng(const std::string& file, const Cells& cells) {
  const PixelLayout pixels = pixelsIn(cells.layout);
  const PngHeader header{pixels.width,
                         pixels.height,
                         pixels.channels,
                         pixels.scalar == ir::Scalar::Uchar ? 8 : 16,
                         {}};
  NewFile out(file, "the picture");
  writePngRows(out, header, [&](std::int64_t row, unsigned char* bytes) {
    fillRow(pixels, cells.first, row, bytes);
  });
  out.finish();
}

}  // namespace detail

struct PngFile::State {
  SourceFile file;
  std::unique_ptr<PngReader> reader;
  bool isRead = false;

  explicit State(const std::string& name)
      : file(name, "the picture"), reader(std::make_unique<PngReader>(file)) {}
};

PngFile::PngFile(const std::string& file) : state_(std::make_unique<State>(file)) {}
PngFile::~PngFile() = default;
PngFile::PngFile(PngFile&&) noexcept = default;
PngFile& PngFile::operator=(PngFile&&) noexcept = default;

int PngFile::width() const noexcept { return static_cast<int>(state_->reader->header().width); }
int PngFile::height() const noexcept { return static_cast<int>(state_->reader->header().height); }
int PngFile::channels() const noexcept { return state_->reader->header().channels; }
int PngFile::bits() const noexcept { return state_->reader->header().bits; }

void PngFile::require(const ir::Type& type, int rank) const {
  if (type.scalar == ir::Scalar::Uchar && bits() == 16) {
    state_->file.fail(
        "it has 16 bits per channel, of which unsigned char keeps 8: read it as unsigned short or "
        "float");
  }
  if (rank == 3) return;
  const int has = channels();
  const bool losesColor = has >= 3 && type.lanes < 3;
  const bool losesAlpha = has % 2 == 0 && type.lanes % 2 == 1;
  if (!losesColor && !losesAlpha) return;
  state_->file.fail(fmt::format(
      "its pixels have {} channels ({}), and those of {} have {}: read it as an array of {}{}{} or "
      "of three dimensions",
      has,
      has == 2   ? "gray and alpha"
      : has == 3 ? "RGB"
                 : "RGB and alpha",
      detail::describeArray(type, rank), static_cast<int>(type.lanes), toString(type.element()),
      has, has == 3 ? " or more" : ""));
}

void PngFile::readInto(const CellLayout& layout, void* first) {
  if (state_->isRead) {
    state_->file.seek(0);
    state_->reader = std::make_unique<PngReader>(state_->file);
  }
  state_->isRead = true;
  const PixelLayout pixels = pixelsIn(layout);
  const std::vector<unsigned char> bytes = state_->reader->pixels(pixels.channels);
  PngHeader header = state_->reader->header();
  header.channels = pixels.channels;
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    takeRow(pixels, first, y, bytes.data() + static_cast<std::size_t>(y) * header.rowBytes(),
            header.bits);
  }
}

}  // namespace hpl::io
