// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/io/color_map.h"
#include "hpl/io/detail/cells.h"
#include "hpl/io/file_error.h"
#include "hpl/io/image.h"

/// Animated GIF files.
namespace hpl::io {

/// Writes an animated GIF frame by frame; only the previous frame is kept in memory.
///
///     io::GifWriter gif("life.gif", 640, 480, {{0, 0, 0}, {255, 255, 255}}, 5);
///     for (...) gif.addFrame(indices);
///     gif.close();
class GifWriter {
 public:
  /// `palette`: 2 to 256 colours. `delay`: hundredths of a second per frame (viewers slow down
  /// frames of less than 2). The animation repeats for ever.
  /// Throws FileError if the file cannot be opened, ArgumentError for impossible values.
  GifWriter(const std::string& fileName, int width, int height, const std::vector<Color>& palette,
            int delay);
  /// Finishes the file with the frames that it has; errors are lost here, so call close() to see
  /// them.
  ~GifWriter();
  GifWriter(const GifWriter&) = delete;
  GifWriter& operator=(const GifWriter&) = delete;

  /// Adds a frame of width * height palette indices, rows from top to bottom. Only the rectangle
  /// that differs from the previous frame is stored.
  /// Throws FileError, and ArgumentError for a wrong size or an index outside the palette.
  void addFrame(std::span<const unsigned char> indices);

  /// Finishes the file, which gets its name only now. Throws FileError; nothing is left of the file
  /// then. Later calls do nothing.
  void close();

  /// Frames so far.
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

/// Draws arrays as the frames of an animated GIF.
///
///     io::Animation film("wave.gif", io::ColorScale(io::coolwarm()).range(-1, 1));
///     program.every(10, [&](std::int64_t) { return film.add(u), false; }).run(1000);
///     film.close();
class Animation {
 public:
  /// Colours are those of the scale's map, thinned to 255, and that of NaN. Without a range the
  /// scale takes that of the first frame for all. `delay`: hundredths of a second per frame. The
  /// file is made with the first frame.
  explicit Animation(std::string file, ColorScale scale = {}, int delay = 5);
  /// Finishes the file with the frames that it has; errors are lost here.
  ~Animation();
  Animation(Animation&&) noexcept;
  Animation& operator=(Animation&&) noexcept;

  /// Adds the array or view as a frame. Throws FileError if the file cannot be written, and
  /// ArgumentError for another shape than that of the first frame or sides of more than 65,535
  /// pixels.
  template <Scalable T>
  void add(const Array<T, 2>& values) {
    addCells(detail::cellsOf(values));
  }
  /// Frames so far.
  int frames() const noexcept;
  /// Finishes the file, which gets its name only now. Throws FileError. Without a frame there is no
  /// file.
  void close();

 private:
  void addCells(const detail::Cells& cells);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hpl::io
