// SPDX-License-Identifier: Apache-2.0
// Time tiling: the ten programs of the overlapped tiling paper (its figure 6: un-tiled against
// tiled), and one of them for all depths and tiles (its figure 7). hpl_time_tile_bench --help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "time_tiles/programs.h"

namespace perf::time_tiles {
namespace {

struct Options {
  std::vector<std::string> programs;
  int pairs = 7;
  int size = 0;
  bool check = false;
  std::string csv;
  std::string sweep;
};

double secondsOf(const std::function<void()>& work) {
  // Threads of OpenMP keep turning a while.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto begin = std::chrono::steady_clock::now();
  work();
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
    program.run(13, {depth, {}});
    const double difference = program.difference(13);
    if (difference <= 1e-4) continue;
    fmt::print("{}, {} steps per pass: WRONG by {:.3g}\n", program.name(), depth, difference);
    right = false;
  }
  return right;
}

/// Medians of interleaved runs, in billions of cells per second.
std::vector<double> speeds(const std::vector<std::function<void()>>& contenders, int pairs,
                           double cells) {
  std::vector<std::vector<double>> seconds(contenders.size());
  for (const auto& run : contenders) run();
  for (int pair = 0; pair < pairs; ++pair) {
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t which = pair % 2 == 0 ? k : contenders.size() - 1 - k;
      seconds[which].push_back(secondsOf(contenders[which]));
    }
  }
  std::vector<double> result;
  for (auto& times : seconds) result.push_back(1e-9 * cells / median(times));
  return result;
}

void comparePrograms(std::vector<Entry>& entries, const Options& options) {
  std::ofstream csv;
  if (!options.csv.empty()) csv.open(options.csv);
  if (csv.is_open()) csv << "program,cells,steps,untiled,tiled,openmp\n";
  fmt::print("{:<20} {:>9} {:>9} {:>9} {:>8} {:>10}\n", "10^9 cells/s", "one by one", "tiled",
             "OpenMP", "tiled/1", "tiled/OMP");
  for (Entry& entry : entries) {
    Program& program = *entry.program;
    const Extents extents = resized(entry.extents, options.size);
    program.begin(extents);
    std::vector<std::function<void()>> contenders;
    for (const int depth : {1, 0})
      contenders.push_back([&program, &entry, depth] {
        program.run(entry.steps, {depth, {}});
        program.finish();
      });
    if (hasOpenMp()) contenders.push_back([&] { program.runOpenMp(entry.steps); });
    const double cells = cellsOf(extents) * entry.steps;
    std::vector<double> speed = speeds(contenders, options.pairs, cells);
    speed.resize(3, 0);
    fmt::print("{:<20} {:>9.2f} {:>9.2f} {:>9.2f} {:>8.2f} {:>10.2f}\n", program.name(), speed[0],
               speed[1], speed[2], speed[1] / speed[0], speed[2] > 0 ? speed[1] / speed[2] : 0);
    if (csv.is_open())
      csv << fmt::format("{},{:.0f},{},{:.4f},{:.4f},{:.4f}\n", program.name(), cellsOf(extents),
                         entry.steps, speed[0], speed[1], speed[2]);
  }
}

/// All depths and tiles of a two-dimensional program, and the library's choice among them.
void sweep(Entry& entry, const Options& options) {
  std::ofstream csv(options.sweep);
  csv << "program,depth,height,width,speed\n";
  Program& program = *entry.program;
  const Extents extents = resized(entry.extents, options.size);
  program.begin(extents);
  const double cells = cellsOf(extents) * entry.steps;
  std::vector<std::function<void()>> contenders;
  std::vector<Shape> shapes{{0, {}}};
  for (const int depth : {2, 4, 6, 8, 10, 12, 16, 20, 24})
    for (const std::size_t height : {32, 64, 128, 256})
      for (const std::size_t width : {128, 256, 512})
        shapes.push_back({depth, hpl::Domain(width, height)});
  std::vector<Shape> fitting;
  for (const Shape& shape : shapes) {
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
  const std::vector<double> speed = speeds(contenders, options.pairs, cells);
  std::size_t best = 1;
  for (std::size_t k = 0; k < fitting.size(); ++k) {
    csv << fmt::format("{},{},{},{},{:.4f}\n", program.name(), fitting[k].depth,
                       fitting[k].tile.size[1], fitting[k].tile.size[0], speed[k]);
    if (k > 0 && speed[k] > speed[best]) best = k;
  }
  fmt::print(
      "{}: the library's choice {:.2f}, the best of {} points {:.2f} ({} steps, {} x {}): "
      "{:.3f}\n",
      program.name(), speed[0], fitting.size() - 1, speed[best], fitting[best].depth,
      fitting[best].tile.size[1], fitting[best].tile.size[0], speed[0] / speed[best]);
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
    for (Entry& entry : entries)
      if (entry.extents[0] == 1 && entry.extents[1] > 1) return sweep(entry, options), 0;
    throw std::invalid_argument("--sweep wants a two-dimensional program");
  }
  comparePrograms(entries, options);
  return 0;
}

}  // namespace
}  // namespace perf::time_tiles

int main(int argc, char** argv) try {
  perf::time_tiles::Options options;
  CLI::App app("Time tiling against one step after another", "hpl_time_tile_bench");
  app.add_option("--program", options.programs, "only programs whose names contain this");
  app.add_option("--pairs", options.pairs, "interleaved runs")->check(CLI::Range(1, 1000));
  app.add_option("--size", options.size, "cells along each dimension")
      ->check(CLI::Range(8, 1 << 26));
  app.add_option("--csv", options.csv, "write the speeds")->type_name("FILE");
  app.add_option("--sweep", options.sweep, "all depths and tiles of the first 2-D program instead")
      ->type_name("FILE");
  app.add_flag("--check", options.check, "only compare with plain C++ on small grids");
  CLI11_PARSE(app, argc, argv);
  return perf::time_tiles::run(options);
} catch (const std::exception& error) {
  fmt::print(stderr, "hpl_time_tile_bench: {}\n", error.what());
  return 1;
}
