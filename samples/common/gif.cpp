// SPDX-License-Identifier: Apache-2.0
#include "samples/common/gif.h"

#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "samples/common/files.h"

namespace samples {
namespace {

struct Rectangle {
  int left;
  int top;
  int width;
  int height;
};

std::string describe(int error) {
  const char* text = GifErrorString(error);
  return text != nullptr ? text : fmt::format("giflib error {}", error);
}

/// The smallest rectangle that holds every pixel in which two pictures differ; one pixel if they
/// are equal, because a frame cannot be empty.
Rectangle difference(std::span<const unsigned char> a, std::span<const unsigned char> b, int width,
                     int height) {
  int left = width;
  int right = -1;
  int top = height;
  int bottom = -1;
  for (int y = 0; y < height; ++y) {
    const std::size_t start = static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    const auto rowA = a.subspan(start, static_cast<std::size_t>(width));
    const auto rowB = b.subspan(start, static_cast<std::size_t>(width));
    const auto first = std::mismatch(rowA.begin(), rowA.end(), rowB.begin()).first;
    if (first == rowA.end()) continue;
    const auto last = std::mismatch(rowA.rbegin(), rowA.rend(), rowB.rbegin()).first;
    left = std::min(left, static_cast<int>(first - rowA.begin()));
    right = std::max(right, static_cast<int>(rowA.rend() - last) - 1);
    top = std::min(top, y);
    bottom = y;
  }
  if (bottom < 0) return {0, 0, 1, 1};
  return {left, top, right - left + 1, bottom - top + 1};
}

/// The colours as giflib wants them: a power of two of them.
ColorMapObject* makeColorMap(const std::vector<Color>& palette) {
  std::vector<GifColorType> colors(std::size_t{1} << GifBitSize(static_cast<int>(palette.size())));
  for (std::size_t i = 0; i < palette.size(); ++i) {
    colors[i] = {palette[i].red, palette[i].green, palette[i].blue};
  }
  return GifMakeMapObject(static_cast<int>(colors.size()), colors.data());
}

}  // namespace

struct GifWriter::State {
  /// giflib writes through this stream; its own files would be readable by their owner only.
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream{nullptr, &std::fclose};
  GifFileType* file = nullptr;

  ~State() {
    if (file != nullptr) EGifCloseFile(file, nullptr);
  }

  static int write(GifFileType* file, const GifByteType* bytes, int count) {
    auto* stream = static_cast<std::FILE*>(file->UserData);
    return static_cast<int>(std::fwrite(bytes, 1, static_cast<std::size_t>(count), stream));
  }

  void require(int result, const std::string& fileName) const {
    if (result == GIF_ERROR) {
      throw ImageError(
          fmt::format("{}: cannot write the animation: {}", fileName, describe(file->Error)));
    }
  }
};

GifWriter::GifWriter(const std::string& fileName, int width, int height, std::vector<Color> palette,
                     int delay)
    : fileName_(fileName),
      width_(width),
      height_(height),
      colors_(palette.size()),
      delay_(delay),
      state_(std::make_unique<State>()) {
  if (palette.size() < 2 || palette.size() > 256) {
    throw std::invalid_argument(
        fmt::format("a GIF palette has 2 to 256 colours, this one has {}", palette.size()));
  }
  if (width < 1 || height < 1 || width > 65535 || height > 65535 || delay < 0 || delay > 65535) {
    throw std::invalid_argument(
        fmt::format("a GIF has 1 to 65535 pixels per side and a delay of 0 to 65535, got {} x {} "
                    "pixels and a delay of {}",
                    width, height, delay));
  }
  if (const std::string objection = objectionToWriting(fileName); !objection.empty())
    throw ImageError(fmt::format("{}: cannot write the animation: {}", fileName, objection));
  state_->stream.reset(std::fopen(fileName.c_str(), "wb"));
  if (!state_->stream) {
    throw ImageError(
        fmt::format("{}: cannot write the animation: {}", fileName, std::strerror(errno)));
  }
  int error = 0;
  state_->file = EGifOpen(state_->stream.get(), &State::write, &error);
  if (state_->file == nullptr) {
    throw ImageError(fmt::format("{}: cannot write the animation: {}", fileName, describe(error)));
  }
  EGifSetGifVersion(state_->file, true);
  ColorMapObject* map = makeColorMap(palette);
  const int screen = EGifPutScreenDesc(state_->file, width, height, 8, 0, map);
  GifFreeMapObject(map);
  state_->require(screen, fileName_);
  // The Netscape extension: block 1, then how often to repeat as 16 bits; 0 is for ever.
  const unsigned char forEver[] = {1, 0, 0};
  state_->require(EGifPutExtensionLeader(state_->file, APPLICATION_EXT_FUNC_CODE), fileName_);
  state_->require(EGifPutExtensionBlock(state_->file, 11, "NETSCAPE2.0"), fileName_);
  state_->require(EGifPutExtensionBlock(state_->file, sizeof forEver, forEver), fileName_);
  state_->require(EGifPutExtensionTrailer(state_->file), fileName_);
}

GifWriter::~GifWriter() = default;

void GifWriter::addFrame(std::span<const unsigned char> indices) {
  if (state_->file == nullptr) {
    throw ImageError(fmt::format("{}: the animation is closed already", fileName_));
  }
  const std::size_t size = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  if (indices.size() != size) {
    throw std::invalid_argument(fmt::format("a frame of {} x {} pixels has {} indices, got {}",
                                            width_, height_, size, indices.size()));
  }
  const std::size_t largest = *std::max_element(indices.begin(), indices.end());
  if (largest >= colors_) {
    throw std::invalid_argument(
        fmt::format("palette index {} lies outside a palette of {} colours", largest, colors_));
  }
  const Rectangle box = frames_ == 0 ? Rectangle{0, 0, width_, height_}
                                     : difference(indices, previous_, width_, height_);
  const GraphicsControlBlock control = {DISPOSE_DO_NOT, false, delay_, NO_TRANSPARENT_COLOR};
  GifByteType extension[4];
  const auto length = static_cast<int>(EGifGCBToExtension(&control, extension));
  state_->require(EGifPutExtension(state_->file, GRAPHICS_EXT_FUNC_CODE, length, extension),
                  fileName_);
  state_->require(
      EGifPutImageDesc(state_->file, box.left, box.top, box.width, box.height, false, nullptr),
      fileName_);
  previous_.assign(indices.begin(), indices.end());
  // giflib takes a non-const line and masks the indices in place, hence the copy above.
  for (int y = box.top; y < box.top + box.height; ++y) {
    unsigned char* line = previous_.data() +
                          static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + box.left;
    state_->require(EGifPutLine(state_->file, line, box.width), fileName_);
  }
  ++frames_;
}

void GifWriter::close() {
  if (state_->file == nullptr) return;
  int error = 0;
  GifFileType* file = state_->file;
  state_->file = nullptr;
  if (EGifCloseFile(file, &error) == GIF_ERROR) {
    throw ImageError(
        fmt::format("{}: cannot finish the animation: {}", fileName_, describe(error)));
  }
  // Closing flushes: a full disk is often seen only here.
  if (std::fclose(state_->stream.release()) != 0) {
    throw ImageError(
        fmt::format("{}: cannot finish the animation: {}", fileName_, std::strerror(errno)));
  }
}

namespace {

struct Slurped {
  GifFileType* file = nullptr;
  ~Slurped() {
    if (file != nullptr) DGifCloseFile(file, nullptr);
  }
};

void readControl(const SavedImage& image, Animation& animation) {
  int delay = 0;
  for (int i = 0; i < image.ExtensionBlockCount; ++i) {
    const ExtensionBlock& block = image.ExtensionBlocks[i];
    GraphicsControlBlock control;
    if (block.Function == GRAPHICS_EXT_FUNC_CODE &&
        DGifExtensionToGCB(static_cast<std::size_t>(block.ByteCount), block.Bytes, &control) ==
            GIF_OK) {
      delay = control.DelayTime;
    }
    if (block.Function == APPLICATION_EXT_FUNC_CODE && block.ByteCount == 11 &&
        std::memcmp(block.Bytes, "NETSCAPE2.0", 11) == 0) {
      animation.loops = true;
    }
  }
  animation.delays.push_back(delay);
}

}  // namespace

Animation readGif(const std::string& fileName) {
  int error = 0;
  const Slurped slurped{DGifOpenFileName(fileName.c_str(), &error)};
  GifFileType* file = slurped.file;
  if (file == nullptr || DGifSlurp(file) == GIF_ERROR || file->SColorMap == nullptr) {
    const int code = file != nullptr ? file->Error : error;
    throw ImageError(fmt::format("{}: cannot read the animation: {}", fileName, describe(code)));
  }
  Animation animation;
  animation.width = file->SWidth;
  animation.height = file->SHeight;
  for (int i = 0; i < file->SColorMap->ColorCount; ++i) {
    const GifColorType& color = file->SColorMap->Colors[i];
    animation.palette.push_back({color.Red, color.Green, color.Blue});
  }
  const auto width = static_cast<std::size_t>(file->SWidth);
  std::vector<unsigned char> canvas(width * static_cast<std::size_t>(file->SHeight));
  for (int i = 0; i < file->ImageCount; ++i) {
    const SavedImage& image = file->SavedImages[i];
    const GifImageDesc& box = image.ImageDesc;
    for (int y = 0; y < box.Height; ++y) {
      const auto row = static_cast<std::size_t>(box.Top + y);
      std::copy_n(image.RasterBits + static_cast<std::ptrdiff_t>(y) * box.Width, box.Width,
                  canvas.begin() + static_cast<std::ptrdiff_t>(row * width) + box.Left);
    }
    animation.frames.push_back(canvas);
    readControl(image, animation);
  }
  return animation;
}

}  // namespace samples
