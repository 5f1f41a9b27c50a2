// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "samples/common/png.h"

namespace samples {

/// Writes an animated GIF frame by frame; only the previous frame is kept in memory.
///
///     GifWriter gif("life.gif", 640, 480, {{0, 0, 0}, {255, 255, 255}}, 5);
///     for (...) gif.addFrame(indices);
///     gif.close();
class GifWriter {
 public:
  /// `palette`: 2 to 256 colours. `delay`: hundredths of a second per frame (viewers slow down
  /// frames of less than 2). The animation repeats for ever.
  /// Throws ImageError if the file cannot be opened, std::invalid_argument for impossible values.
  GifWriter(const std::string& fileName, int width, int height, std::vector<Color> palette,
            int delay);
  /// Finishes the file; errors are lost here, so call close() to see them.
  ~GifWriter();
  GifWriter(const GifWriter&) = delete;
  GifWriter& operator=(const GifWriter&) = delete;

  /// Adds a frame of width * height palette indices, rows from top to bottom. Only the rectangle
  /// that differs from the previous frame is stored.
  /// Throws ImageError, and std::invalid_argument for a wrong size or an index outside the palette.
  void addFrame(std::span<const unsigned char> indices);

  /// Finishes the file. Throws ImageError. Later calls do nothing.
  void close();

  int frames() const { return frames_; }

 private:
  struct State;

  std::string fileName_;
  int width_;
  int height_;
  std::size_t colors_;
  int delay_;
  int frames_ = 0;
  std::vector<unsigned char> previous_;
  std::unique_ptr<State> state_;
};

/// An animation as readGif returns it: every frame complete, as palette indices.
struct Animation {
  int width = 0;
  int height = 0;
  std::vector<Color> palette;
  std::vector<std::vector<unsigned char>> frames;
  std::vector<int> delays;  ///< hundredths of a second, per frame
  bool loops = false;
};

/// Reads an animated GIF with a global palette and without transparency, such as GifWriter makes.
/// Throws ImageError.
Animation readGif(const std::string& fileName);

}  // namespace samples
