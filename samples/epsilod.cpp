// SPDX-License-Identifier: Apache-2.0
// The stencils of EPSILOD's evaluation (de Castro et al. 2023, Fig. 6) on all devices of all ranks,
// by the skeleton: no array, launch or exchange is named here. epsilod --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/comparison.h"
#include "samples/common/device_choice.h"
#include "samples/common/run_options.h"
#include "stencil_templates/stencil_templates.h"
#ifdef SAMPLES_HAVE_MPI
#include "hpl/mpi.h"
#endif

using namespace hpl;

namespace {

#ifdef SAMPLES_HAVE_MPI
using Session = hpl::mpi::Session;  // HPL_RANKS=4 and mpirun
#else
using Session = hpl::ranks::Session;  // HPL_RANKS=4
#endif

/// The paper's strong scaling.
constexpr samples::SizeRange kSizes{{44000, 44000}, 5, 1 << 29};

struct Options {
  std::string size = "512", stencil = "2d4", kernel = "specific", blocks, weights, png, csv, device;
  int iterations = 1000, devices = 0;
  bool check = false, noProgress = false;
};

/// The paper gives the neighbours, not their weights. These are means, so that values stay bounded.
StencilPattern patternOf(const std::string& name) {
  if (name == "2d4") return {{{-1, 1}, {-1, 1}}, {0, 1, 0, 1, 0, 1, 0, 1, 0}, 4};
  if (name == "2d9") return {{{-1, 1}, {-1, 1}}, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16};
  if (name == "2d9nc")
    return {{{-2, 2}, {-2, 2}},
            {0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 1, 2, 4, 2, 1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0},
            16};
  if (name == "2d5") return {{{-2, 0}, {-2, 0}}, {0, 0, 1, 0, 0, 3, 1, 3, 8}, 16};
  return StencilPattern::read(name);
}

/// Listing 6: a kernel by hand for the pattern 2d4.
void jacobi2d4(InOut<Array<float, 2>>, In<Array<float, 2>>) {}
const char* const kJacobi2d4 = R"(
  kernel void jacobi2d4(global float* matrix, global const float* copy) {
    const size_t x = get_global_id(0), y = get_global_id(1), row = get_global_size(0);
    if (x == 0 || y == 0 || x + 1 >= row || y + 1 >= get_global_size(1)) return;
    const size_t i = y * row + x;
    matrix[i] = (copy[i - row] + copy[i - 1] + copy[i + 1] + copy[i + row]) / 4;
  })";

/// Hot discs in a plate whose upper edge is kept warm.
float startOf(std::size_t y, std::size_t x, std::size_t rows, std::size_t columns) {
  constexpr float kDiscs[][4] = {{0.30f, 0.25f, 0.12f, 100},
                                 {0.62f, 0.42f, 0.20f, 60},
                                 {0.35f, 0.72f, 0.16f, 80},
                                 {0.78f, 0.80f, 0.08f, 100}};
  float value = y == 0 ? 100.0f : 0.0f;
  for (const auto& [cy, cx, radius, heat] : kDiscs) {
    const float dy = static_cast<float>(y) / static_cast<float>(rows) - cy;
    const float dx = static_cast<float>(x) / static_cast<float>(columns) - cx;
    if (dy * dy + dx * dx < radius * radius) value = heat;
  }
  return value;
}

/// Listing 5: sets the cells of one part.
void initData(const LocalPart<float, 2>& part) {
  const auto [y0, x0] = part.first();
  const auto [height, width] = part.extents();
  const auto [rows, columns] = part.wholeExtents();
  for (std::size_t y = y0; y < y0 + height; ++y)
    for (std::size_t x = x0; x < x0 + width; ++x) part(y, x) = startOf(y, x, rows, columns);
}

/// The same steps in plain C++.
std::vector<float> onHost(const StencilPattern& pattern, int rows, int columns, int steps) {
  const auto at = [columns](int y, int x) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(x);
  };
  std::vector<float> now(at(rows, 0));
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      now[at(y, x)] = startOf(static_cast<std::size_t>(y), static_cast<std::size_t>(x),
                              static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  std::vector<float> next = now;
  const auto [up, down] = pattern.shape()[0];
  const auto [left, right] = pattern.shape()[1];
  for (int step = 0; step < steps; ++step) {
    for (int y = -up; y + down < rows; ++y) {
      for (int x = -left; x + right < columns; ++x) {
        float sum = 0;
        for (const PatternNeighbour& n : pattern.neighbours())
          sum += static_cast<float>(n.weight) * now[at(y + n.offset[0], x + n.offset[1])];
        next[at(y, x)] = sum / static_cast<float>(pattern.factor());
      }
    }
    std::swap(now, next);
  }
  return now;
}

/// Slowest dimension first.
std::vector<std::int64_t> parseBlocks(const std::string& text) {
  std::int64_t across = 0, down = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, across);
  const bool isPair = first.ec == std::errc() && first.ptr != end && *first.ptr == 'x';
  const auto second = isPair ? std::from_chars(first.ptr + 1, end, down) : first;
  if (!isPair || second.ec != std::errc() || second.ptr != end || across < 1 || down < 1)
    throw std::invalid_argument("--blocks " + text +
                                ": expected two numbers from 1 on, such as 2x2");
  return {down, across};
}

std::vector<Device> devicesOf(const Options& options) {
  std::vector<Device> all = hpl::devices(samples::chooseDevice(options.device).type());
  const auto wanted = static_cast<std::size_t>(options.devices);
  if (wanted > all.size())
    throw std::invalid_argument("--devices " + std::to_string(wanted) + ": there are " +
                                std::to_string(all.size()));
  if (wanted > 0) all.erase(all.begin() + options.devices, all.end());
  return all;
}

void choose(StencilSkeleton<float, 2>& skeleton, const Options& options) {
  if (options.kernel == "generic") skeleton.generic();
  if (options.kernel == "native") {
    if (options.stencil != "2d4")
      throw std::invalid_argument("--kernel native: there is one for --stencil 2d4 only");
    nativeHandle(jacobi2d4, "jacobi2d4", kJacobi2d4);
    skeleton.kernel(jacobi2d4);
  }
  skeleton.devices(devicesOf(options));
  if (!options.blocks.empty()) skeleton.blocks(parseBlocks(options.blocks));
  if (options.weights == "measured") {
    skeleton.weights(MEASURED);
  } else if (!options.weights.empty()) {
    skeleton.weights(samples::parseWeights(options.weights));
  }
}

/// One line for perf/epsilod.sh. A neighbour counts as two operations, the division as one.
void report(const Options& options, const samples::Extent& size, const StencilPattern& pattern,
            const Session& session, const SkeletonResult<float, 2>& result) {
  const double cells = 1.0 * size.height * size.width * static_cast<double>(result.iterations);
  const double operations = 2.0 * static_cast<double>(pattern.neighbours().size()) + 1;
  const double speed = result.seconds > 0 ? 1e-9 * cells * operations / result.seconds : 0;
  const std::size_t devices = devicesOf(options).size();
  std::printf(
      "%s, %s kernel: %lld iterations on %d x %d cells in %.3f s, %.2f GFLOPS, %zu device%s "
      "of %d rank%s\n",
      options.stencil.c_str(), options.kernel.c_str(), static_cast<long long>(result.iterations),
      size.height, size.width, result.seconds, speed, devices, devices == 1 ? "" : "s",
      session.size(), session.size() == 1 ? "" : "s");
  if (options.csv.empty()) return;
  // A pipe without a reader would be waited for.
  if (std::filesystem::exists(options.csv) && !std::filesystem::is_regular_file(options.csv))
    throw std::runtime_error("--csv " + options.csv + ": it is no regular file");
  std::ofstream csv(options.csv, std::ios::app);
  char line[256];
  std::snprintf(line, sizeof line, "%s,%s,%d,%d,%lld,%d,%zu,%.6f,%.4f\n", options.stencil.c_str(),
                options.kernel.c_str(), size.height, size.width,
                static_cast<long long>(result.iterations), session.size(), devices, result.seconds,
                speed);
  csv << line << std::flush;
  if (!csv) throw std::runtime_error("--csv " + options.csv + ": it cannot be written");
}

/// Whether the cells of this rank are those of the host's loop. Each rank looks at its own.
bool isRight(const SkeletonResult<float, 2>& result, const std::vector<float>& expected) {
  double worst = 0;
  forEachLocal(result.fields.front(), [&](const LocalPart<const float, 2>& part) {
    const auto [y0, x0] = part.first();
    const auto [height, width] = part.extents();
    for (std::size_t y = y0; y < y0 + height; ++y)
      for (std::size_t x = x0; x < x0 + width; ++x) {
        const double off = std::abs(part(y, x) - expected[y * part.wholeExtents()[1] + x]);
        worst = off <= worst ? worst : off;  // NaN is worse than all
      }
  });
  // The device may contract products and sums; values are up to 100.
  const double tolerance = samples::strictFloatingPoint() ? 0 : 1e-3;
  return worst <= tolerance;
}

int run(const Options& options, const Session& session) {
  const samples::Extent size = samples::parseExtent(options.size, kSizes);
  const StencilPattern pattern = patternOf(options.stencil);
  StencilSkeleton<float, 2> skeleton(pattern);
  choose(skeleton, options);
  io::Progress progress(options.iterations, "iterations",
                        options.noProgress || session.rank() != 0 ? io::Progress::Mode::Off
                                                                  : io::Progress::Mode::Auto);
  // A dry run computes nothing, and may be of arrays that no host holds.
  if (!isDryRun()) skeleton.init(initData);
  if (!options.noProgress) skeleton.every(std::max(1, options.iterations / 50), std::ref(progress));
  SkeletonResult<float, 2> result = skeleton.run({size.height, size.width}, options.iterations);
  progress.finish();
  if (session.rank() == 0) report(options, size, pattern, session, result);
  if (!options.png.empty()) {
    // Reading the cells of all ranks is for all of them, writing the file for one.
    io::ColorScale scale;
    scale.range(0, 100).zoom(std::max(1, 512 / std::max(size.height, size.width)));
    const io::Image picture = io::colorImage(result.cells(), scale);
    if (session.rank() == 0) io::writePng(options.png, picture);
    if (session.rank() == 0) std::printf("picture: %s\n", options.png.c_str());
  }
  if (!options.check || isDryRun()) return 0;
  const bool right = isRight(result, onHost(pattern, size.height, size.width, options.iterations));
  if (session.rank() == 0 || !right)
    std::printf("check: the cells of rank %d are %s\n", session.rank(), right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  Session session(argc, argv);
  Options options;
  CLI::App app("Iterative stencils on all devices of all ranks.", "epsilod");
  app.add_option("--size", options.size, samples::sizeHelp(kSizes))->capture_default_str();
  app.add_option("--stencil", options.stencil,
                 "2d4, 2d9 (compact), 2d9nc (not compact), 2d5 (asymmetric), or a pattern file of "
                 "two dimensions")
      ->capture_default_str();
  app.add_option("--kernel", options.kernel,
                 "specific to the stencil, generic (reads weights), or native (by hand, 2d4)")
      ->check(CLI::IsMember({"specific", "generic", "native"}))
      ->capture_default_str();
  app.add_option("-n,--iterations", options.iterations, "iterations")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  app.add_option("--blocks", options.blocks,
                 "blocks instead of bands, one for each device: WIDTHxHEIGHT");
  app.add_option("--weights", options.weights, "shares of the devices: W1,W2,... or 'measured'");
  app.add_option("-d,--device", options.device,
                 "list, or the type of devices: gpu, cpu, accelerator");
  app.add_option("--devices", options.devices, "the first n of them; default: all")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--png", options.png, "write the picture")->type_name("FILE");
  app.add_option("--csv", options.csv, "append a line with the time")->type_name("FILE");
  app.add_flag("--no-progress", options.noProgress, "draw no progress bar");
  app.add_flag("--check,--verify", options.check, "compare with the same steps on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  if (options.device == "list") return samples::listDevices(), 0;
  return run(options, session);
} catch (const std::exception& error) {
  std::fprintf(stderr, "epsilod: %s\n", error.what());
  return 1;
}
