// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/gif.h"

#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "hpl/error.h"
#include "hpl/io/detail/new_file.h"
#include "hpl/io/detail/scaling.h"

namespace hpl::io {
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
  detail::NewFile out;
  GifFileType* file = nullptr;
  bool isBroken = false;  ///< a frame could not be written

  explicit State(const std::string& name) : out(name, "the animation") {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (file != nullptr) EGifCloseFile(file, nullptr);
  }

  static int write(GifFileType* file, const GifByteType* bytes, int count) {
    auto* stream = static_cast<std::FILE*>(file->UserData);
    return static_cast<int>(std::fwrite(bytes, 1, static_cast<std::size_t>(count), stream));
  }

  void require(int result) {
    if (result != GIF_ERROR) return;
    isBroken = true;
    out.fail(describe(file->Error));
  }
};

GifWriter::GifWriter(const std::string& fileName, int width, int height,
                     const std::vector<Color>& palette, int delay)
    : fileName_(fileName), width_(width), height_(height), colors_(palette.size()), delay_(delay) {
  if (palette.size() < 2 || palette.size() > 256) {
    throw ArgumentError(
        fmt::format("a GIF palette has 2 to 256 colours, this one has {}", palette.size()));
  }
  if (width < 1 || height < 1 || width > 65535 || height > 65535 || delay < 0 || delay > 65535) {
    throw ArgumentError(
        fmt::format("a GIF has 1 to 65535 pixels per side and a delay of 0 to 65535, got {} x {} "
                    "pixels and a delay of {}",
                    width, height, delay));
  }
  state_ = std::make_unique<State>(fileName);
  int error = 0;
  state_->file = EGifOpen(state_->out.stream(), &State::write, &error);
  if (state_->file == nullptr) state_->out.fail(describe(error));
  EGifSetGifVersion(state_->file, true);
  ColorMapObject* map = makeColorMap(palette);
  const int screen = EGifPutScreenDesc(state_->file, width, height, 8, 0, map);
  GifFreeMapObject(map);
  state_->require(screen);
  // The Netscape extension: block 1, then how often to repeat as 16 bits; 0 is for ever.
  const unsigned char forEver[] = {1, 0, 0};
  state_->require(EGifPutExtensionLeader(state_->file, APPLICATION_EXT_FUNC_CODE));
  state_->require(EGifPutExtensionBlock(state_->file, 11, "NETSCAPE2.0"));
  state_->require(EGifPutExtensionBlock(state_->file, sizeof forEver, forEver));
  state_->require(EGifPutExtensionTrailer(state_->file));
}

GifWriter::~GifWriter() {
  try {
    close();
  } catch (const Error&) {  // close() tells; a destructor cannot
  }
}

void GifWriter::addFrame(std::span<const unsigned char> indices) {
  if (state_->file == nullptr) {
    throw FileError(fmt::format("{}: the animation is closed already", fileName_), fileName_);
  }
  const std::size_t size = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  if (indices.size() != size) {
    throw ArgumentError(fmt::format("a frame of {} x {} pixels has {} indices, got {}", width_,
                                    height_, size, indices.size()));
  }
  const std::size_t largest = *std::max_element(indices.begin(), indices.end());
  if (largest >= colors_) {
    throw ArgumentError(
        fmt::format("palette index {} lies outside a palette of {} colours", largest, colors_));
  }
  const Rectangle box = frames_ == 0 ? Rectangle{0, 0, width_, height_}
                                     : difference(indices, previous_, width_, height_);
  const GraphicsControlBlock control = {DISPOSE_DO_NOT, false, delay_, NO_TRANSPARENT_COLOR};
  GifByteType extension[4];
  const auto length = static_cast<int>(EGifGCBToExtension(&control, extension));
  state_->require(EGifPutExtension(state_->file, GRAPHICS_EXT_FUNC_CODE, length, extension));
  state_->require(
      EGifPutImageDesc(state_->file, box.left, box.top, box.width, box.height, false, nullptr));
  previous_.assign(indices.begin(), indices.end());
  // giflib takes a non-const line and masks the indices in place, hence the copy above.
  for (int y = box.top; y < box.top + box.height; ++y) {
    unsigned char* line = previous_.data() +
                          static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + box.left;
    state_->require(EGifPutLine(state_->file, line, box.width));
  }
  ++frames_;
}

void GifWriter::close() {
  if (!state_ || state_->file == nullptr) return;
  GifFileType* file = std::exchange(state_->file, nullptr);
  int error = 0;
  if (state_->isBroken) {
    EGifCloseFile(file, nullptr);
    state_->out.fail("an earlier frame could not be written");
  }
  if (EGifCloseFile(file, &error) == GIF_ERROR) state_->out.fail(describe(error));
  state_->out.finish();
}

namespace {

/// The colours of an animation: 255 of the map, and that of NaN as the last one.
std::vector<Color> paletteOf(const ColorScale& scale) {
  const std::vector<Color>& colors = scale.colors();
  const std::size_t count = std::min<std::size_t>(colors.size(), 255);
  std::vector<Color> palette;
  for (std::size_t i = 0; i < count; ++i)
    palette.push_back(colors[(i * (colors.size() - 1) + (count - 1) / 2) / (count - 1)]);
  palette.push_back(scale.nan());
  return palette;
}

}  // namespace

struct Animation::State {
  std::string file;
  ColorScale scale;
  int delay;
  std::vector<std::int64_t> shape;
  std::pair<double, double> range{0, 1};
  std::optional<GifWriter> writer;

  State(std::string name, ColorScale colors, int hundredths)
      : file(std::move(name)), scale(std::move(colors)), delay(hundredths) {}
};

Animation::Animation(std::string file, ColorScale scale, int delay)
    : state_(std::make_unique<State>(std::move(file), std::move(scale), delay)) {}
Animation::~Animation() = default;
Animation::Animation(Animation&&) noexcept = default;
Animation& Animation::operator=(Animation&&) noexcept = default;

int Animation::frames() const noexcept { return state_->writer ? state_->writer->frames() : 0; }

void Animation::addCells(const detail::Cells& cells) {
  State& s = *state_;
  const auto [width, height] = detail::pixelsOf(cells.layout, s.scale.zoom());
  const std::vector<Color> palette = paletteOf(s.scale);
  if (!s.writer) {
    s.shape = cells.layout.shape();
    s.range = detail::rangeFor(cells, s.scale);
    s.writer.emplace(s.file, width, height, palette, s.delay);
  }
  if (s.shape != cells.layout.shape()) {
    throw ArgumentError(fmt::format(
        "{}: the frames of this animation are arrays of {}, and {} has {}: frames have one shape",
        s.file, detail::shapeText(s.shape),
        detail::describeArray(cells.layout.type, 2, cells.layout.label),
        detail::shapeText(cells.layout.shape())));
  }
  const auto colors = static_cast<int>(palette.size());
  const std::vector<short> indices = detail::indicesOf(cells, s.range, colors - 1);
  std::vector<unsigned char> pixels;
  pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const std::int64_t columns = cells.layout.extents[1];
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const short index =
          indices[static_cast<std::size_t>(y / s.scale.zoom() * columns + x / s.scale.zoom())];
      pixels.push_back(static_cast<unsigned char>(index == detail::kNan ? colors - 1 : index));
    }
  }
  s.writer->addFrame(pixels);
}

void Animation::close() {
  if (state_->writer) state_->writer->close();
}

}  // namespace hpl::io
