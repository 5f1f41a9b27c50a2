// SPDX-License-Identifier: Apache-2.0
// The Mandelbrot set with smooth colours, as a PNG: mandelbrot --help.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "hpl/hpl.h"
#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/device_choice.h"

using namespace hpl;

/// The part of the plane that is drawn: point (x, y) of the picture's upper left corner and the
/// side of a pixel.
struct View {
  float left, top, pixel;
};

// For each pixel the number of steps z -> z^2 + c after which |z| exceeds 256, with a fraction that
// makes it continuous; -1 for points that never do.
void mandelbrot(Array<float, 2> steps, Float left, Float top, Float pixel, Int limit) {
  Float cx = left + cast<float>(idx) * pixel, cy = top - cast<float>(idy) * pixel;
  Float x = 0.0f, y = 0.0f;
  Int n = 0;
  while_(n < limit && x * x + y * y < 65536.0f) {
    Float square = x * x - y * y;
    y = 2.0f * x * y + cy;
    x = square + cx;
    n += 1;
  }
  steps[idy][idx] = where(n == limit, -1.0f, cast<float>(n) - log2(0.5f * log2(x * x + y * y)));
}

/// The same for one pixel, on the host.
float onHost(const View& view, int row, int column, int limit) {
  const float cx = view.left + static_cast<float>(column) * view.pixel;
  const float cy = view.top - static_cast<float>(row) * view.pixel;
  float x = 0, y = 0;
  int n = 0;
  for (; n < limit && x * x + y * y < 65536.0f; ++n) {
    const float square = x * x - y * y;
    y = 2.0f * x * y + cy;
    x = square + cx;
  }
  if (n == limit) return -1.0f;
  return static_cast<float>(n) - std::log2(0.5f * std::log2(x * x + y * y));
}

io::Image colored(const float* steps, int height, int width) {
  io::Image image(width, height, io::Image::Format::Rgb);
  constexpr float phases[] = {1.3f, 1.8f, 2.4f};  // red, green, blue
  for (int i = 0; i < height * width; ++i) {
    if (steps[i] < 0) continue;  // inside the set: black
    for (int c = 0; c < 3; ++c) {
      const float wave = std::cos(phases[c] + 0.75f * std::sqrt(steps[i] + 4.0f));
      image.pixels[static_cast<std::size_t>(3 * i + c)] =
          static_cast<unsigned char>(std::lround(127.5f + 127.5f * wave));
    }
  }
  return image;
}

/// Compares every 61st pixel with the host. Without contraction both compute the same numbers, up
/// to the rounding of the logarithms; one pixel in a hundred may differ in case a host compiler
/// contracts nevertheless, which the orbit of a point near the border amplifies.
bool isRight(const float* steps, const View& view, int height, int width, int limit) {
  int compared = 0, wrong = 0;
  for (int i = 0; i < height * width; i += 61, ++compared) {
    const float expected = onHost(view, i / width, i % width, limit);
    if (!(std::abs(steps[i] - expected) <= 0.01f)) ++wrong;
  }
  std::printf("mandelbrot: %d of %d pixels differ from the host\n", wrong, compared);
  return wrong * 100 <= compared;
}

int main(int argc, char** argv) try {
  int width = 1200, height = 800, limit = 1000;
  float x = -0.7f, y = 0.0f, across = 3.6f;
  std::string png, device;
  CLI::App app("Draws the Mandelbrot set on an OpenCL device.", "mandelbrot");
  app.footer("Example: mandelbrot --x -0.7453 --y 0.1127 --across 0.0065 --png seahorses.png");
  app.add_option("--width", width, "pixels")->check(CLI::Range(1, 30000))->capture_default_str();
  app.add_option("--height", height, "pixels")->check(CLI::Range(1, 30000))->capture_default_str();
  app.add_option("--x", x, "centre, real part")
      ->check(samples::finiteNumber)
      ->check(CLI::Range(-1000.0, 1000.0))
      ->capture_default_str();
  app.add_option("--y", y, "centre, imaginary part")
      ->check(samples::finiteNumber)
      ->check(CLI::Range(-1000.0, 1000.0))
      ->capture_default_str();
  app.add_option("--across", across, "width of the view; below 0.0005 float pixels get visible")
      ->check(samples::finiteNumber)
      ->check(CLI::PositiveNumber)
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  app.add_option("-n,--iterations", limit, "steps before a point counts as inside")
      ->check(CLI::Range(1, 60000))
      ->capture_default_str();
  app.add_option("--png", png, "write the picture")->type_name("FILE");
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  if (device == "list") return samples::listDevices(), 0;

  const float pixel = across / static_cast<float>(width);
  const View view = {x - 0.5f * across, y + 0.5f * pixel * static_cast<float>(height), pixel};
  Array<float, 2> steps(height, width);
  eval(mandelbrot)
      .device(samples::chooseDevice(device))
      .fp(STRICT)(steps, view.left, view.top, view.pixel, limit);
  const float* result = steps.data(HPL_RD);
  if (!png.empty()) io::writePng(png, colored(result, height, width));
  return isRight(result, view, height, width, limit) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "mandelbrot: %s\n", error.what());
  return 1;
}
