// SPDX-License-Identifier: Apache-2.0
#include "samples/life/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "samples/common/arguments.h"

namespace samples {
namespace {

namespace fs = std::filesystem;

constexpr int kSoupSide = 512;
constexpr int kSmallestSide = 256;
constexpr int kLargestSide = 100000;
constexpr int kPngPixels = 1024;
constexpr int kGifPixels = 512;
constexpr int kGifFrames = 200;

/// The command line as it was typed; 0, empty and negative values mean "not given".
struct Arguments {
  std::string pattern = "gosper-glider-gun";
  double density = -1;
  std::uint64_t seed = 1;
  int size = 0;
  int width = 0;
  int height = 0;
  std::string edges;
  std::string rule;
  int every = 0;
  int cell = 0;
  int block = 0;
};

fs::path patternFolder() { return fs::path(HPL_SAMPLES_DIR) / "life" / "patterns"; }

const char* const kExamples =
    "Examples:\n"
    "  life                                          the Gosper glider gun\n"
    "  life --pattern r-pentomino --size 512 -n 1103 --show\n"
    "  life --pattern breeder --size 4096 -n 3000 --png breeder.png\n"
    "  life --pattern my.rle --edges torus -n 500 --every 5 --gif my.gif\n"
    "  life --random 0.3 --size 500 -n 100 --check   a soup, checked against the host\n"
    "  life --device list                            the devices of this machine\n"
    "  life --device gpu                             run on the first GPU\n"
    "  life --devices 2                              the rows over two devices\n";

void addStartOptions(CLI::App& app, Arguments& given) {
  auto* pattern =
      app.add_option("-p,--pattern", given.pattern,
                     fmt::format("RLE file, or one of: {}", fmt::join(shippedPatterns(), ", ")))
          ->type_name("FILE|NAME")
          ->capture_default_str();
  app.add_option("--random", given.density, "start from a soup of this density instead")
      ->type_name("DENSITY")
      ->check(finiteNumber)
      ->check(CLI::Range(0.0, 1.0))
      ->excludes(pattern);
  app.add_option("--seed", given.seed, "which soup")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--rule", given.rule,
                 "rule such as B36/S23 (default: the pattern's, else B3/S23)");
  const CLI::Range side(1, kLargestSide);
  auto* size =
      app.add_option("-s,--size", given.size, "width and height of the grid in cells")->check(side);
  app.add_option("--width", given.width, "width alone (default: 256, or twice a larger pattern)")
      ->check(side)
      ->excludes(size);
  app.add_option("--height", given.height, "height alone (default: likewise)")
      ->check(side)
      ->excludes(size);
  app.add_option("-e,--edges", given.edges,
                 "torus: the edges meet; dead: cells beyond the edge are dead (default: the "
                 "pattern's, else dead)")
      ->check(CLI::IsMember({"torus", "dead"}));
}

void addOutputOptions(CLI::App& app, Arguments& given, LifeOptions& options) {
  app.add_option("--png", options.png, "write the last generation as a picture")->type_name("FILE");
  app.add_option("--gif", options.gif, "write an animation")->type_name("FILE");
  app.add_option(
         "--every", given.every,
         fmt::format("generations between two frames (default: {} frames in all)", kGifFrames))
      ->check(CLI::PositiveNumber);
  app.add_option("--delay", options.delay, "hundredths of a second per frame")
      ->check(CLI::Range(2, 65535))
      ->capture_default_str();
  auto* cell = app.add_option("--cell", given.cell,
                              "draw a cell as a square of this many pixels (default: fits)")
                   ->check(CLI::Range(1, 64));
  app.add_option("--block", given.block,
                 "draw a square of this many cells as one pixel (default: fits)")
      ->check(CLI::Range(1, 4096))
      ->excludes(cell);
  app.add_flag("--show", options.show, "print the last generation in the terminal");
}

/// The extent to use on one axis: the option, the board that the rule names, or a default that
/// leaves the pattern room to grow.
int extent(int axis, int both, int board, int pattern) {
  if (axis > 0) return axis;
  if (both > 0) return both;
  if (board > 0) return board;
  return std::max(kSmallestSide, static_cast<int>(std::min<std::int64_t>(2 * std::int64_t{pattern},
                                                                         kLargestSide)));
}

/// The grid of a soup or a pattern. Throws std::invalid_argument for one of more cells than this
/// machine can work with: several copies of them are made.
Grid gridOf(int height, int width) {
  constexpr double kCopies = 4;
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (kCopies * height * width > memory)
    throw std::invalid_argument(
        fmt::format("a grid of {} x {} cells (width x height) needs about {:.0f} GB, and this "
                    "machine has {:.0f}: choose a smaller --width and --height",
                    width, height, 1e-9 * kCopies * height * width, 1e-9 * memory));
  return Grid(height, width);
}

/// Throws std::invalid_argument for a board, or a grid that follows from the size of a pattern,
/// that cannot be meant. Sizes that the command line asks for are not checked here.
void checkBoard(const Board& board, const Pattern& pattern, const std::string& file) {
  const int largest = std::max({board.width, board.height, pattern.width, pattern.height});
  if (largest > kLargestSide)
    throw std::invalid_argument(
        fmt::format("{}: the pattern or its board has {} cells on a side, and a grid has at most "
                    "{}: choose a smaller pattern",
                    file, largest, kLargestSide));
}

void checkImplied(const Arguments& given, int height, int width, const std::string& file) {
  constexpr std::int64_t kMostImplied = std::int64_t{1} << 28;
  const bool isAsked = given.size > 0 || (given.width > 0 && given.height > 0);
  if (!isAsked && std::int64_t{height} * width > kMostImplied)
    throw std::invalid_argument(
        fmt::format("{}: the grid would have {} x {} cells (width x height), more than {} million: "
                    "give --size, or --width and --height, if that is meant",
                    file, width, height, kMostImplied >> 20));
}

void placeStart(const Arguments& given, LifeOptions& options) {
  if (given.density >= 0) {
    options.title = fmt::format("random soup, density {}, seed {}", given.density, given.seed);
    if (!given.rule.empty()) options.rule = parseRule(given.rule);
    const int side = given.size > 0 ? given.size : kSoupSide;
    options.start = gridOf(extent(given.height, side, 0, 0), extent(given.width, side, 0, 0));
    fillWithSoup(options.start, given.density, given.seed);
    return;
  }
  const std::string file = findPattern(given.pattern);
  const Pattern pattern = readRle(file);
  options.title = pattern.name.empty() ? fs::path(file).stem().string() : pattern.name;
  options.rule = given.rule.empty() ? pattern.rule : parseRule(given.rule);
  const Board& board = options.rule.board;
  checkBoard(board, pattern, file);
  const int height = extent(given.height, given.size, board.height, pattern.height);
  const int width = extent(given.width, given.size, board.width, pattern.width);
  checkImplied(given, height, width, file);
  options.start = gridOf(height, width);
  placePattern(options.start, pattern);
}

void resolve(const Arguments& given, LifeOptions& options) {
  placeStart(given, options);
  const bool torus =
      given.edges.empty() ? options.rule.board.kind == Board::Kind::Torus : given.edges == "torus";
  options.edges = torus ? Edges::Torus : Edges::Dead;
  options.every = given.every > 0
                      ? given.every
                      : std::max(1, (options.run.iterations + kGifFrames - 1) / kGifFrames);
  if (given.cell > 0 || given.block > 0) {
    options.scale = options.gifScale = {std::max(1, given.cell), std::max(1, given.block)};
  } else {
    options.scale = Scale::fitting(options.start, kPngPixels);
    options.gifScale = Scale::fitting(options.start, kGifPixels);
  }
}

}  // namespace

std::vector<std::string> shippedPatterns() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(patternFolder(), ignored)) {
    if (entry.path().extension() == ".rle") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string findPattern(const std::string& nameOrFile) {
  const fs::path path(nameOrFile);
  if (fs::exists(path) || path.has_parent_path() || path.extension() == ".rle") return nameOrFile;
  const fs::path shipped = patternFolder() / (nameOrFile + ".rle");
  if (fs::exists(shipped)) return shipped.string();
  throw PatternError(
      fmt::format("{}: no such file, and no pattern of that name in {}. The patterns there: {}",
                  nameOrFile, patternFolder().string(), fmt::join(shippedPatterns(), ", ")),
      nameOrFile, 0, 0);
}

std::optional<LifeOptions> parseLifeOptions(int argc, const char* const* argv, std::ostream& out,
                                            std::ostream& errors, int& exitCode) {
  Arguments given;
  LifeOptions options;
  options.run.iterations = 1000;
  CLI::App app("Runs the Game of Life, or a rule like it, on an OpenCL device.", "life");
  app.footer(kExamples);
  addStartOptions(app, given);
  addRunOptions(app, options.run, "how many generations to compute");
  app.add_option("--generations", options.run.iterations, "the same as --iterations")
      ->check(CLI::NonNegativeNumber);
  addDeviceOptions(app, options.run);
  addOutputOptions(app, given, options);
  const auto resolveAll = [&] { resolve(given, options); };
  if (!parseCommandLine(app, argc, argv, options.run, resolveAll, out, errors, exitCode)) return {};
  return options;
}

}  // namespace samples
