// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/detail/png_stream.h"

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <bit>
#include <cerrno>
#include <csetjmp>
#include <cstring>

namespace hpl::io::detail {
namespace {

/// The last error of libpng, which jumps out of its functions when it has one.
struct Problem {
  std::array<char, 256> text{};
};

[[noreturn]] void onError(png_structp png, png_const_charp text) {
  auto* problem = static_cast<Problem*>(png_get_error_ptr(png));
  std::strncpy(problem->text.data(), text, problem->text.size() - 1);
  png_longjmp(png, 1);
}
void onWarning(png_structp, png_const_charp) {}

/// Calls libpng; false where it jumped back. Nothing that `call` makes may need a destructor.
template <class Call>
bool succeeds(png_structp png, const Call& call) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  call();
  return true;
}

void writeBytes(png_structp png, png_bytep bytes, std::size_t count) {
  auto* stream = static_cast<std::FILE*>(png_get_io_ptr(png));
  if (std::fwrite(bytes, 1, count, stream) != count) png_error(png, std::strerror(errno));
}
void flushBytes(png_structp) {}

void readBytes(png_structp png, png_bytep bytes, std::size_t count) {
  auto* stream = static_cast<std::FILE*>(png_get_io_ptr(png));
  if (std::fread(bytes, 1, count, stream) != count)
    png_error(png, "the file ends before the picture does: it is cut short");
}

struct Writer {
  Problem problem;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &problem, onError, onWarning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;

  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

int colorType(const PngHeader& header) {
  constexpr std::array types = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
  return header.palette.empty() ? types[static_cast<std::size_t>(header.channels - 1)]
                                : PNG_COLOR_TYPE_PALETTE;
}

/// Bits that an index of the palette takes in the file.
int indexBits(std::size_t colors) {
  return colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8;
}

}  // namespace

void writePngRows(NewFile& file, const PngHeader& header,
                  const std::function<void(std::int64_t, unsigned char*)>& fill) {
  constexpr std::int64_t longest = 1000000;  // what libpng writes and reads unless told otherwise
  if (header.width > longest || header.height > longest) {
    file.fail(
        fmt::format("a PNG picture has at most {} pixels a side, and this one has {} x {}: "
                    "write views of the array, or an NPY file",
                    longest, header.width, header.height));
  }
  Writer writer;
  if (writer.info == nullptr) file.fail("libpng is not the one that hpl::io was built for");
  std::vector<png_color> palette;
  palette.reserve(header.palette.size());
  for (const Color& color : header.palette) palette.push_back({color.red, color.green, color.blue});
  std::vector<unsigned char> row(header.rowBytes());
  png_structp png = writer.png;
  const auto require = [&](bool succeeded) {
    if (!succeeded) file.fail(writer.problem.text.data());
  };
  const int bits = palette.empty() ? header.bits : indexBits(palette.size());
  require(succeeds(png, [&] {
    png_set_write_fn(png, file.stream(), writeBytes, flushBytes);
    png_set_IHDR(png, writer.info, static_cast<png_uint_32>(header.width),
                 static_cast<png_uint_32>(header.height), bits, colorType(header),
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!palette.empty())
      png_set_PLTE(png, writer.info, palette.data(), static_cast<int>(palette.size()));
    png_write_info(png, writer.info);
    if (bits < 8) png_set_packing(png);
    if (bits == 16 && std::endian::native == std::endian::little) png_set_swap(png);
  }));
  for (std::int64_t y = 0; y < header.height; ++y) {
    fill(y, row.data());
    require(succeeds(png, [&] { png_write_row(png, row.data()); }));
  }
  require(succeeds(png, [&] { png_write_end(png, writer.info); }));
}

struct PngReader::Handle {
  SourceFile& file;
  Problem problem;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &problem, onError, onWarning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;

  explicit Handle(SourceFile& source) : file(source) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { png_destroy_read_struct(&png, &info, nullptr); }

  template <class Call>
  void require(const Call& call) {
    if (!succeeds(png, call)) file.fail(problem.text.data());
  }
};

namespace {

/// Deflate makes one byte of at most 1,032; a file that claims to hold more does not.
void requirePlausible(const SourceFile& file, const PngHeader& header, std::size_t rowBytes) {
  constexpr std::int64_t kMostDense = 1032;
  // libpng reads sides of up to a million pixels of 8 bytes, so this does not overflow.
  if (static_cast<std::int64_t>(rowBytes) * header.height / kMostDense <= file.size()) return;
  file.fail(
      fmt::format("its header says {} x {} pixels, which a file of {} bytes cannot hold: it is "
                  "damaged or cut short",
                  header.width, header.height, file.size()));
}

}  // namespace

PngReader::PngReader(SourceFile& file) : handle_(std::make_unique<Handle>(file)) {
  Handle& h = *handle_;
  if (h.info == nullptr) file.fail("libpng is not the one that hpl::io was built for");
  std::array<unsigned char, 8> magic{};
  if (file.size() < 8) file.fail(fmt::format("it has {} bytes and is no PNG file", file.size()), 0);
  file.read(magic.data(), magic.size());
  if (png_sig_cmp(magic.data(), 0, magic.size()) != 0) file.fail("it is no PNG file", 0);
  h.require([&] {
    png_set_read_fn(h.png, file.stream(), readBytes);
    png_set_sig_bytes(h.png, 8);
    png_read_info(h.png, h.info);
  });
  header_.width = png_get_image_width(h.png, h.info);
  header_.height = png_get_image_height(h.png, h.info);
  const int type = png_get_color_type(h.png, h.info);
  const bool hasColor = (type & PNG_COLOR_MASK_COLOR) != 0;
  const bool hasAlpha =
      (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(h.png, h.info, PNG_INFO_tRNS) != 0;
  header_.channels = (hasColor ? 3 : 1) + (hasAlpha ? 1 : 0);
  header_.bits = png_get_bit_depth(h.png, h.info) == 16 ? 16 : 8;
  requirePlausible(file, header_, png_get_rowbytes(h.png, h.info));
}

PngReader::~PngReader() = default;

std::vector<unsigned char> PngReader::pixels(int channels) {
  Handle& h = *handle_;
  PngHeader wanted = header_;
  wanted.channels = channels;
  std::vector<unsigned char> bytes(wanted.rowBytes() * static_cast<std::size_t>(header_.height));
  std::vector<png_bytep> rows;
  for (std::int64_t y = 0; y < header_.height; ++y)
    rows.push_back(bytes.data() + static_cast<std::size_t>(y) * wanted.rowBytes());
  h.require([&] {
    png_set_expand(h.png);
    if (header_.channels < 3 && channels >= 3) png_set_gray_to_rgb(h.png);
    const bool addsAlpha = header_.channels % 2 == 1 && channels % 2 == 0;
    if (addsAlpha) png_set_add_alpha(h.png, 0xffff, PNG_FILLER_AFTER);
    if (header_.bits == 16 && std::endian::native == std::endian::little) png_set_swap(h.png);
    png_set_interlace_handling(h.png);
    png_read_update_info(h.png, h.info);
    if (png_get_rowbytes(h.png, h.info) != wanted.rowBytes())
      png_error(h.png, "its rows have another length than its header says");
    png_read_image(h.png, rows.data());
    png_read_end(h.png, nullptr);
  });
  return bytes;
}

}  // namespace hpl::io::detail
