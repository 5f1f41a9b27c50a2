// SPDX-License-Identifier: Apache-2.0
// The k colours that suit a picture best, by Lloyd's method (1957): each pixel goes to the nearest
// colour, each colour to the mean of its pixels. Groups add up in local memory, then with atomics.
// kmeans --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/device_choice.h"

using namespace hpl;

namespace {

/// Pixels of a picture hold 0 to 255 per channel, centres sixteenths of that: integers, so that
/// every device computes the same.
constexpr int kParts = 16, kMostColours = 64;

/// Numbers of one group's share of a centre: red, green, blue, pixels.
constexpr int kSums = 4;

// nearest: which centre each pixel belongs to; sums: those of the centres' pixels.
void assign(Array<unsigned char, 1> nearest, Array<unsigned, 1> sums,
            const Array<unsigned char, 2>& pixels, const Array<int, 2>& centres, Int colours) {
  Array<unsigned, 1, Local> share(kMostColours * kSums);
  for_(Int i = lidx, i < colours * kSums, i += cast<int>(lszx)) {
    share[i] = 0;
  }
  barrier(LOCAL);
  Int best = 0, least = std::numeric_limits<int>::max();
  for_(Int k = 0, k < colours, k++) {
    Int distance = 0;
    for (int c = 0; c < 3; ++c) {
      Int far = kParts * cast<int>(pixels[idx][c]) - centres[k][c];
      distance += far * far;
    }
    if_(distance < least) {
      least = distance;
      best = k;
    }
  }
  nearest[idx] = cast<unsigned char>(best);
  for (int c = 0; c < 3; ++c) atomic_add(share[kSums * best + c], cast<unsigned>(pixels[idx][c]));
  atomic_inc(share[kSums * best + 3]);
  barrier(LOCAL);
  for_(Int i = lidx, i < colours * kSums, i += cast<int>(lszx)) {
    atomic_add(sums[i], share[i]);
  }
}

/// A picture of pixels in a row, three numbers each.
struct Picture {
  int height, width;
  std::vector<unsigned char> pixels;

  std::size_t count() const { return pixels.size() / 3; }
};

/// A sky at dusk over hills, the same everywhere.
Picture landscape(int side) {
  Picture picture{side, side * 3 / 2, {}};
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const double down = static_cast<double>(y) / picture.height,
                   across = static_cast<double>(x) / picture.height;
      const double hill = 0.62 + 0.06 * std::sin(5 * across) + 0.03 * std::sin(13 * across + 1);
      const double ridge = 0.76 + 0.07 * std::sin(3 * across + 2) + 0.02 * std::sin(17 * across);
      const double sun = std::exp(-40 * (std::pow(across - 0.9, 2) + std::pow(down - 0.5, 2)));
      double red = 60 + 190 * down + 90 * sun, green = 80 + 60 * down + 130 * sun,
             blue = 150 - 70 * down + 40 * sun;
      if (down > hill) red = 70 - 40 * (down - hill), green = 60 + 30 * (down - hill), blue = 90;
      if (down > ridge)
        red = 25 + 40 * (down - ridge), green = 50 + 160 * (down - ridge), blue = 35;
      HostRandom grain(5, static_cast<std::uint64_t>(y) * static_cast<unsigned>(picture.width) +
                              static_cast<unsigned>(x));
      const double dust = 6 * grain.normalDouble();
      for (const double channel : {red, green, blue})
        picture.pixels.push_back(
            static_cast<unsigned char>(std::clamp(channel + dust, 0.0, 255.0)));
    }
  }
  return picture;
}

Picture readPicture(const std::string& file) {
  const Array<unsigned char, 3> image = io::readPng<unsigned char, 3>(file);
  if (image.getDimension(2) < 3)
    throw std::invalid_argument(
        file + ": the picture has no colours; choose one with red, green and blue");
  Picture picture{
      static_cast<int>(image.getDimension(0)), static_cast<int>(image.getDimension(1)), {}};
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      for (int c = 0; c < 3; ++c) picture.pixels.push_back(image(y, x, c));
  return picture;
}

/// Centres are pixels from all over the picture at first.
std::vector<int> firstCentres(const Picture& picture, int colours) {
  std::vector<int> centres;
  for (int k = 0; k < colours; ++k) {
    const std::size_t pixel = (2 * static_cast<std::size_t>(k) + 1) * picture.count() /
                              (2 * static_cast<std::size_t>(colours));
    for (std::size_t c = 0; c < 3; ++c) centres.push_back(kParts * picture.pixels[3 * pixel + c]);
  }
  return centres;
}

/// Moves the centres to the means of their pixels; false: they are there.
template <class Sums>
bool moveCentres(std::vector<int>& centres, const Sums& sums) {
  bool moved = false;
  for (std::size_t k = 0; k < centres.size() / 3; ++k) {
    const std::uint64_t pixels = sums[kSums * k + 3];
    for (std::size_t c = 0; c < 3 && pixels > 0; ++c) {
      const auto mean =
          static_cast<int>((kParts * std::uint64_t{sums[kSums * k + c]} + pixels / 2) / pixels);
      moved = moved || mean != centres[3 * k + c];
      centres[3 * k + c] = mean;
    }
  }
  return moved;
}

/// The same in plain C++: the centre of each pixel.
std::vector<unsigned char> onHost(const Picture& picture, std::vector<int> centres, int most) {
  std::vector<unsigned char> nearest(picture.count());
  for (int round = 0; round < most; ++round) {
    std::vector<std::uint64_t> sums(kSums * centres.size() / 3);
    for (std::size_t i = 0; i < picture.count(); ++i) {
      const auto distance = [&](std::size_t k) {
        int sum = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          const int far = kParts * picture.pixels[3 * i + c] - centres[3 * k + c];
          sum += far * far;
        }
        return sum;
      };
      std::size_t best = 0;
      for (std::size_t k = 1; k < centres.size() / 3; ++k)
        if (distance(k) < distance(best)) best = k;
      nearest[i] = static_cast<unsigned char>(best);
      for (std::size_t c = 0; c < 3; ++c) sums[kSums * best + c] += picture.pixels[3 * i + c];
      ++sums[kSums * best + 3];
    }
    if (!moveCentres(centres, sums)) break;
  }
  return nearest;
}

io::Image colored(const Picture& picture, const unsigned char* nearest,
                  const std::vector<int>& centres) {
  io::Image image(picture.width, picture.height, io::Image::Format::Palette);
  std::copy_n(nearest, picture.count(), image.pixels.begin());
  for (std::size_t k = 0; k < centres.size() / 3; ++k) {
    const auto channel = [&](std::size_t c) {
      return static_cast<unsigned char>((centres[3 * k + c] + kParts / 2) / kParts);
    };
    image.palette.push_back({channel(0), channel(1), channel(2)});
  }
  return image;
}

}  // namespace

int main(int argc, char** argv) try {
  int side = 480, colours = 8, most = 200;
  bool check = false, noProgress = false;
  std::string input, png, device;
  CLI::App app("The k colours that suit a picture best, on an OpenCL device.", "kmeans");
  app.add_option("-k,--colours", colours, "how many")
      ->check(CLI::Range(1, kMostColours))
      ->capture_default_str();
  app.add_option("--size", side, "rows of the picture that is drawn without --input")
      ->check(CLI::Range(8, 3000))
      ->capture_default_str();
  app.add_option("--input", input, "a PNG picture in colour")->type_name("FILE");
  app.add_option("-n,--rounds", most, "at most")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--png", png, "write the picture in its colours")->type_name("FILE");
  app.add_flag("--no-progress", noProgress, "draw no progress bar");
  app.add_flag("--check", check, "compare with the same rounds on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  if (device == "list") return samples::listDevices(), 0;

  const Picture picture = input.empty() ? landscape(side) : readPicture(input);
  // Sums count 32 bits.
  if (picture.count() > (1u << 24))
    throw std::invalid_argument(
        input + ": the picture has more than 16,777,216 pixels; choose a smaller one");
  std::vector<int> middles = firstCentres(picture, colours);
  Array<unsigned char, 2> pixels(picture.count(), 3);
  Array<unsigned char, 1> nearest(picture.count());
  Array<int, 2> centres(colours, 3);
  Array<unsigned, 1> sums(kSums * colours);
  pixels.copyFrom(picture.pixels.data());
  const Device chosen = samples::chooseDevice(device);
  io::Progress progress(most, "rounds at most",
                        noProgress ? io::Progress::Mode::Off : io::Progress::Mode::Auto);
  int round = 0;
  for (bool moved = true; moved && round < most; ++round) {
    centres.copyFrom(middles.data());
    sums = 0u;
    eval(assign).device(chosen).local(64)(nearest, sums, pixels, centres, colours);
    moved = moveCentres(middles, sums.data(HPL_RD));
    progress.update(round);
  }
  progress.finish();
  const unsigned char* result = nearest.data(HPL_RD);
  std::printf("%d colours for %zu pixels after %d rounds\n", colours, picture.count(), round);
  if (!png.empty()) {
    io::writePng(png, colored(picture, result, middles));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!check) return 0;
  const std::vector<unsigned char> expected = onHost(picture, firstCentres(picture, colours), most);
  const bool isRight = std::equal(expected.begin(), expected.end(), result);
  std::printf("check: %s\n",
              isRight ? "all pixels have the host's colour" : "pixels differ from the host's");
  return isRight ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "kmeans: %s\n", error.what());
  return 1;
}
