// SPDX-License-Identifier: Apache-2.0
#include "tests/io/read_gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace io_tests {
namespace {

struct Slurped {
  GifFileType* file = nullptr;
  ~Slurped() {
    if (file != nullptr) DGifCloseFile(file, nullptr);
  }
};

void readControl(const SavedImage& image, Film& film) {
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
      film.loops = true;
    }
  }
  film.delays.push_back(delay);
}

}  // namespace

Film readGif(const std::string& fileName) {
  int error = 0;
  const Slurped slurped{DGifOpenFileName(fileName.c_str(), &error)};
  GifFileType* file = slurped.file;
  if (file == nullptr || DGifSlurp(file) == GIF_ERROR || file->SColorMap == nullptr)
    throw std::runtime_error(fileName + " is no animation");
  Film film;
  film.width = file->SWidth;
  film.height = file->SHeight;
  for (int i = 0; i < file->SColorMap->ColorCount; ++i) {
    const GifColorType& color = file->SColorMap->Colors[i];
    film.palette.push_back({color.Red, color.Green, color.Blue});
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
    film.frames.push_back(canvas);
    readControl(image, film);
  }
  return film;
}

}  // namespace io_tests
