// SPDX-License-Identifier: Apache-2.0
// Time tiling: the ten programs of the overlapped tiling paper (its figure 6: un-tiled against
// tiled) and the game of life, and some of them for all depths and tiles (its figure 7), with the
// model's choice and the tuned one against the best. hpl_time_tile_bench --help.
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "hpl/runtime/settings.h"
#include "time_tiles/programs.h"

namespace perf::time_tiles {
namespace {

struct Options {
  std::vector<std::string> programs;
  int pairs = 7;
  int mostPairs = 41;
  int size = 0;
  bool check = false;
  std::string csv;
  std::string sweep;
  double tune = 0;
  bool processorTime = false;
  bool withoutOpenMp = false;
};

/// Seconds of all threads of the process: on a busy machine it says more than the time that has
/// passed.
double processorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double secondsOf(const std::function<void()>& work, const Options& options) {
  // Threads of OpenMP keep turning a while.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto begin = std::chrono::steady_clock::now();
  const double processor = processorSeconds();
  work();
  if (options.processorTime)
    return (processorSeconds() - processor) / hpl::Device().getProperties().computeUnits;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double cellsOf(const Extents& n) { return double(n[0]) * double(n[1]) * double(n[2]); }

Extents resized(Extents extents, int size) {
  for (int& extent : extents)
    if (extent > 1 && size > 0) extent = size;
  return extents;
}

/// Runs a few steps on a small grid in both ways; false, with a message, where they are wrong.
bool isRight(Program& program, const Extents& extents) {
  const Extents small = resized(extents, extents[1] == 1 ? 3001 : extents[0] == 1 ? 203 : 41);
  bool right = true;
  for (const int depth : {1, 5}) {
    program.begin(small);
    try {
      program.run(13, {depth, {}});
    } catch (const hpl::LaunchError& refused) {
      // GPUs have less local memory than CPUs say they have.
      fmt::print("{}, {} steps per pass: {}\n", program.name(), depth, refused.what());
      continue;
    }
    const double difference = program.difference(13);
    if (difference <= 1e-4) continue;
    fmt::print("{}, {} steps per pass: WRONG by {:.3g}\n", program.name(), depth, difference);
    right = false;
  }
  return right;
}

/// Medians of interleaved runs, in billions of cells per second.
std::vector<double> speeds(const std::vector<std::function<void()>>& contenders,
                           const Options& options, double cells) {
  std::vector<std::vector<double>> seconds(contenders.size());
  for (const auto& run : contenders) run();
  for (int pair = 0; pair < options.pairs; ++pair) {
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t which = pair % 2 == 0 ? k : contenders.size() - 1 - k;
      seconds[which].push_back(secondsOf(contenders[which], options));
    }
  }
  std::vector<double> result;
  for (auto& times : seconds) result.push_back(1e-9 * cells / median(times));
  return result;
}

/// The median of ratios and what it lies between, but for one case in twenty.
struct Ratio {
  double median = 0;
  double low = 0;
  double high = 0;
};
Ratio ratioOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto first = static_cast<std::size_t>(std::max(0.0, (n - 1.96 * std::sqrt(n)) / 2));
  return {values[values.size() / 2], values[first], values[values.size() - 1 - first]};
}

/// Measurements of a program, in seconds.
struct Comparison {
  std::vector<double> untiled, tiled, openMp;
  /// How many times as fast as one by one, pair by pair: what disturbs one half of a pair disturbs
  /// the other.
  Ratio speedUp;
};

/// Until the median of the pairs is known within a hundredth, or there are too many of them.
Comparison compare(Entry& entry, const Options& options) {
  Program& program = *entry.program;
  const auto run = [&](int depth) {
    return secondsOf(
        [&] {
          program.run(entry.steps, {depth, {}});
          program.finish();
        },
        options);
  };
  const auto openMp = [&] { return secondsOf([&] { program.runOpenMp(entry.steps); }, options); };
  const bool isWithOpenMp = hasOpenMp() && !options.withoutOpenMp;
  run(1), run(0);
  if (isWithOpenMp) openMp();
  Comparison result;
  std::vector<double> ratios;
  for (int pair = 0; pair < options.mostPairs; ++pair) {
    const bool tiledFirst = pair % 2 != 0;
    const double first = run(tiledFirst ? 0 : 1);
    const double second = run(tiledFirst ? 1 : 0);
    result.untiled.push_back(tiledFirst ? second : first);
    result.tiled.push_back(tiledFirst ? first : second);
    ratios.push_back(result.untiled.back() / result.tiled.back());
    result.speedUp = ratioOf(ratios);
    if (pair + 1 <= options.pairs && isWithOpenMp) result.openMp.push_back(openMp());
    const double uncertain = (result.speedUp.high - result.speedUp.low) / result.speedUp.median;
    if (pair + 1 >= options.pairs && uncertain < 0.02) break;
  }
  return result;
}

void comparePrograms(std::vector<Entry>& entries, const Options& options) {
  std::ofstream csv;
  if (!options.csv.empty()) csv.open(options.csv);
  if (csv.is_open()) csv << "program,cells,steps,untiled,tiled,openmp,speedup,low,high,pairs\n";
  fmt::print("{:<20} {:>10} {:>9} {:>9} {:>8} {:>13} {:>6} {:>10}\n", "10^9 cells/s", "one by one",
             "tiled", "OpenMP", "tiled/1", "between", "pairs", "tiled/OMP");
  for (Entry& entry : entries) {
    const Extents extents = resized(entry.extents, options.size);
    entry.program->begin(extents);
    const double cells = cellsOf(extents) * entry.steps;
    const Comparison found = compare(entry, options);
    const auto speedOf = [&](const std::vector<double>& seconds) {
      return seconds.empty() ? 0 : 1e-9 * cells / median(seconds);
    };
    const double untiled = speedOf(found.untiled), tiled = speedOf(found.tiled),
                 openMp = speedOf(found.openMp);
    const Ratio& ratio = found.speedUp;
    fmt::print("{:<20} {:>10.2f} {:>9.2f} {:>9.2f} {:>8.2f} {:>13} {:>6} {:>10.2f}\n",
               entry.program->name(), untiled, tiled, openMp, ratio.median,
               fmt::format("{:.2f} to {:.2f}", ratio.low, ratio.high), found.tiled.size(),
               openMp > 0 ? tiled / openMp : 0);
    std::fflush(stdout);
    if (csv.is_open())
      csv << fmt::format("{},{:.0f},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{}\n",
                         entry.program->name(), cellsOf(extents), entry.steps, untiled, tiled,
                         openMp, ratio.median, ratio.low, ratio.high, found.tiled.size());
  }
}

/// Depths and tiles, and the library's choice before them.
std::vector<Shape> shapesFor(const Extents& extents) {
  std::vector<Shape> shapes{{0, {}}};
  if (extents[1] == 1) {
    for (const int depth : {2, 4, 8, 12, 16, 24, 32, 48})
      for (const std::size_t width : {2048, 4096, 8192, 16384, 32768})
        shapes.push_back({depth, hpl::Domain(width)});
  } else if (extents[0] == 1) {
    for (const int depth : {2, 4, 8, 12, 16, 20, 24, 32})
      for (const std::size_t height : {32, 64, 128, 256})
        for (const std::size_t width : {128, 256, 512})
          shapes.push_back({depth, hpl::Domain(width, height)});
  } else {
    const auto whole = static_cast<std::size_t>(extents[2]);
    for (const int depth : {2, 3, 4, 5, 6, 8})
      for (const std::size_t planes : {8, 4, 2})
        for (const std::size_t height : {16, 32, 64, 128})
          for (const std::size_t width : {whole / 2, whole})
            shapes.push_back(
                {depth, hpl::Domain(width, height, static_cast<std::size_t>(extents[0]) / planes)});
  }
  return shapes;
}

/// Runs the model's choice, whatever has been tuned: programs keep their choice.
void runUntuned(Program& program, int steps) {
  const hpl::runtime::Settings before = hpl::runtime::settings();
  hpl::runtime::Settings off = before;
  off.tune = hpl::runtime::TuneMode::Off;
  hpl::runtime::overrideSettings(off);
  program.run(steps, {});
  program.finish();
  hpl::runtime::overrideSettings(before);
}

/// The median over pairs of the second one's time by the first one's.
double speedUp(const std::function<void()>& first, const std::function<void()>& second,
               const Options& options) {
  constexpr int kPairs = 15;
  std::vector<double> ratios;
  for (int pair = 0; pair < kPairs; ++pair) {
    const double a = secondsOf(pair % 2 == 0 ? first : second, options);
    const double b = secondsOf(pair % 2 == 0 ? second : first, options);
    ratios.push_back(pair % 2 == 0 ? b / a : a / b);
  }
  return median(ratios);
}

/// The tuned choice and the model's against the best point of a sweep, side by side.
void tuneAgainst(const Entry& entry, const Extents& extents, const std::function<void()>& model,
                 const std::function<void()>& best, const Options& options) {
  for (Entry& other : allPrograms()) {
    if (other.program->name() != entry.program->name()) continue;
    other.program->begin(extents);
    const hpl::TuneResult found =
        other.program->tune(other.steps, {.seconds = options.tune, .progress = true});
    const auto tuned = [&other] {
      other.program->run(other.steps, {});
      other.program->finish();
    };
    tuned();
    fmt::print("  tuned in at most {} s ({} of {} points): {}; default: {}\n", options.tune,
               found.measured, found.variants, found.choice, found.defaultChoice);
    fmt::print("  speed by that of the best: tuned {:.3f}, model {:.3f}\n",
               speedUp(tuned, best, options), speedUp(model, best, options));
  }
}

/// All depths and tiles of a program, and the library's choice among them.
void sweep(Entry& entry, const Options& options, std::ofstream& csv) {
  Program& program = *entry.program;
  const Extents extents = resized(entry.extents, options.size);
  program.begin(extents);
  const double cells = cellsOf(extents) * entry.steps;
  std::vector<std::function<void()>> contenders;
  std::vector<Shape> fitting;
  runUntuned(program, entry.steps);
  for (const Shape& shape : shapesFor(extents)) {
    const auto run = [&program, &entry, shape] {
      program.run(entry.steps, shape);
      program.finish();
    };
    try {
      run();
    } catch (const hpl::LaunchError&) {
      continue;  // the boxes do not fit into local memory
    }
    contenders.push_back(run);
    fitting.push_back(shape);
  }
  const std::vector<double> speed = speeds(contenders, options, cells);
  std::size_t best = 1;
  for (std::size_t k = 0; k < fitting.size(); ++k) {
    csv << fmt::format("{},{},{},{},{:.4f}\n", program.name(), fitting[k].depth,
                       fitting[k].tile.size[1], fitting[k].tile.size[0], speed[k]);
    if (k > 0 && speed[k] > speed[best]) best = k;
  }
  const hpl::Domain& tile = fitting[best].tile;
  fmt::print(
      "{}: the library's choice {:.2f}, the best of {} points {:.2f} ({} steps, {} x {} x {}): "
      "{:.3f}\n",
      program.name(), speed[0], fitting.size() - 1, speed[best], fitting[best].depth, tile.size[2],
      tile.size[1], tile.size[0], speed[0] / speed[best]);
  if (options.tune > 0) tuneAgainst(entry, extents, contenders[0], contenders[best], options);
}

void sweepPrograms(std::vector<Entry>& entries, const Options& options) {
  std::ofstream csv(options.sweep);
  csv << "program,depth,height,width,speed\n";
  for (Entry& entry : entries) sweep(entry, options, csv);
}

int run(const Options& options) {
  std::vector<Entry> entries;
  for (Entry& entry : allPrograms()) {
    const bool wanted =
        options.programs.empty() ||
        std::any_of(options.programs.begin(), options.programs.end(), [&](const auto& part) {
          return entry.program->name().find(part) != std::string::npos;
        });
    if (wanted) entries.push_back(std::move(entry));
  }
  if (entries.empty()) throw std::invalid_argument("no program has such a name");
  bool right = true;
  for (Entry& entry : entries) right = isRight(*entry.program, entry.extents) && right;
  if (!right) return 1;
  if (options.check) {
    fmt::print("{} programs are right, one by one and tiled\n", entries.size());
    return 0;
  }
  if (!options.sweep.empty()) {
    sweepPrograms(entries, options);
  } else {
    comparePrograms(entries, options);
  }
  return 0;
}

}  // namespace
}  // namespace perf::time_tiles

int main(int argc, char** argv) try {
  perf::time_tiles::Options options;
  CLI::App app("Time tiling against one step after another", "hpl_time_tile_bench");
  app.add_option("--program", options.programs, "only programs whose names contain this");
  app.add_option("--pairs", options.pairs, "interleaved runs, at least")
      ->check(CLI::Range(1, 1000));
  app.add_option(
         "--most-pairs", options.mostPairs,
         "as many while the median of the pairs' ratios is uncertain by a hundredth or more")
      ->check(CLI::Range(1, 1000));
  app.add_option("--size", options.size, "cells along each dimension")
      ->check(CLI::Range(8, 1 << 26));
  app.add_option("--csv", options.csv, "write the speeds")->type_name("FILE");
  app.add_option("--sweep", options.sweep, "all depths and tiles instead")->type_name("FILE");
  app.add_option("--tune", options.tune,
                 "after a sweep, tune for so many seconds, and compare with its best point")
      ->check(CLI::PositiveNumber);
  app.add_flag("--processor-time", options.processorTime,
               "count the time that the process had the processors for");
  app.add_flag("--without-openmp", options.withoutOpenMp, "leave out the loops of the host");
  app.add_flag("--check", options.check, "only compare with plain C++ on small grids");
  CLI11_PARSE(app, argc, argv);
  options.mostPairs = std::max(options.pairs, options.mostPairs);
  return perf::time_tiles::run(options);
} catch (const std::exception& error) {
  fmt::print(stderr, "hpl_time_tile_bench: {}\n", error.what());
  return 1;
}
