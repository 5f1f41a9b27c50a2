// SPDX-License-Identifier: Apache-2.0
// Stencils: all contenders of a workload side by side. Each is checked against the first one, then
// they take turns, and medians are compared.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <thread>

#include "stencils/workload.h"

namespace perf::stencils {
namespace {

struct Options {
  std::vector<std::string> workloads;
  int size = 0;
  int pairs = 7;
  std::string against = kRows;
  std::string csv;
  std::string only;
  bool check = false;
  bool processorTime = false;
};

/// A sample lasts this long at least, so that starting and waiting do not count.
constexpr double kSampleSeconds = 0.05;

/// A contender of another kind finds the processors idle: threads of OpenMP keep turning a while.
constexpr auto kPause = std::chrono::milliseconds(5);

double seconds(bool processorTime) {
  if (processorTime) {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double timeOf(const Contender& contender, int iterations, bool processorTime) {
  std::this_thread::sleep_for(kPause);
  const double begin = seconds(processorTime);
  contender.run(iterations);
  const double took = seconds(processorTime) - begin;
  return (processorTime ? took / std::max(1u, std::thread::hardware_concurrency()) : took) /
         iterations;
}

std::vector<Contender> contendersOf(const Problem& problem) {
  std::vector<Contender> all = openClContenders(problem);
  for (Contender& contender : openMpContenders(problem)) all.push_back(std::move(contender));
  for (Contender& contender : libraryContenders(problem)) all.push_back(std::move(contender));
  return all;
}

/// Runs a few iterations of each. Returns whether all results agree; says where one does not.
bool agree(const Workload& workload, const Problem& problem, std::vector<Contender>& contenders) {
  std::vector<float> expected;
  bool fine = true;
  for (Contender& contender : contenders) {
    if (!contender.result) continue;
    contender.reset();
    contender.run(3);
    const std::vector<float> values = contender.result();
    if (expected.empty()) {
      expected = values;
      if (std::equal(values.begin(), values.end(), problem.values.begin(), problem.values.end())) {
        std::cout << contender.name << " changes nothing\n";
        fine = false;
      }
      continue;
    }
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      // Not "greater": a NaN is wrong too.
      if (std::abs(values.at(i) - expected[i]) <= workload.tolerance) continue;
      if (wrong++ == 0) first = i;
    }
    if (wrong == 0) continue;
    fine = false;
    std::cout << fmt::format("{} differs from {} in {} values, first in number {}: {} against {}\n",
                             contender.name, contenders.front().name, wrong, first, values[first],
                             expected[first]);
  }
  return fine;
}

struct Row {
  Contender contender;
  int iterations = 1;
  std::vector<double> samples;
  double median() const {
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

bool isWanted(const Contender& contender, const Options& options) {
  return options.only.empty() || contender.name == options.only ||
         contender.name == options.against || contender.name == kCopy;
}

std::vector<Row> measure(std::vector<Contender> contenders, const Options& options) {
  std::vector<Row> rows;
  for (Contender& contender : contenders) {
    if (!isWanted(contender, options)) continue;
    contender.reset();
    contender.run(1);
    const double once = timeOf(contender, 1, options.processorTime);
    const int iterations =
        std::clamp(static_cast<int>(std::ceil(kSampleSeconds / std::max(once, 1e-6))), 1, 200);
    rows.push_back({std::move(contender), iterations, {}});
  }
  for (int pair = 0; pair < options.pairs; ++pair) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Row& row = rows[pair % 2 == 0 ? i : rows.size() - 1 - i];
      row.samples.push_back(timeOf(row.contender, row.iterations, options.processorTime));
    }
  }
  return rows;
}

const Row& named(const std::vector<Row>& rows, const std::string& name) {
  for (const Row& row : rows)
    if (row.contender.name == name) return row;
  return rows.front();
}

void report(const Workload& workload, const Problem& problem, const std::vector<Row>& rows,
            const Options& options, std::ostream* csv) {
  const double points = static_cast<double>(problem.points());
  const Row& alternative = named(rows, options.against);
  const double copied = 8 * points / named(rows, kCopy).median();
  std::string extent = fmt::format("{} x {}", problem.width, problem.height);
  if (workload.dimensions == 3) extent += fmt::format(" x {}", problem.depth);
  std::cout << fmt::format("\n{}, {}\n{:<22}{:>12}{:>9}{:>9}   against {}\n", workload.title,
                           extent, "", "Mpoints/s", "GB/s", "% copy", alternative.contender.name);
  for (const Row& row : rows) {
    const double own = row.contender.bytesPerPoint;
    const double bytes = own > 0 ? own : workload.bytesPerPoint;
    const double rate = points / row.median();
    const double ratio = alternative.median() / row.median();
    std::cout << fmt::format("{:<22}{:>12.1f}{:>9.2f}{:>9.1f}{:>10.3f}\n", row.contender.name,
                             rate * 1e-6, rate * bytes * 1e-9, 100 * rate * bytes / copied, ratio);
    if (csv != nullptr)
      *csv << fmt::format("{},{},{},{},{},{:.6e},{:.4f},{:.2f},{},{:.4f}\n", workload.name,
                          problem.width, problem.height, problem.depth, row.contender.name, rate,
                          rate * bytes * 1e-9, 100 * rate * bytes / copied,
                          alternative.contender.name, ratio);
  }
  std::cout.flush();
}

/// Odd sizes, and some that vectors and groups divide.
bool checkAll(const std::vector<Workload>& chosen) {
  bool fine = true;
  const std::vector<std::pair<int, int>> sizes = {
      {64, 48}, {131, 67}, {kSmallestSide, 41}, {257, 130}};
  for (const Workload& workload : chosen) {
    for (const auto& [width, height] : sizes) {
      const Problem problem =
          makeProblem(workload.name, width, height, workload.dimensions == 3 ? height / 3 : 1);
      std::vector<Contender> contenders = contendersOf(problem);
      const bool good = agree(workload, problem, contenders);
      std::cout << fmt::format("{} {} x {} x {}: {} contenders {}\n", workload.name, width, height,
                               problem.depth, contenders.size(), good ? "agree" : "DISAGREE");
      fine = fine && good;
    }
  }
  return fine;
}

bool benchAll(const std::vector<Workload>& chosen, const Options& options) {
  std::ofstream file;
  if (!options.csv.empty()) {
    file.open(options.csv);
    if (!file) throw std::runtime_error("cannot write " + options.csv);
    file << "workload,width,height,depth,contender,points_per_s,gb_per_s,percent_of_copy,against,"
            "ratio\n";
  }
  bool fine = true;
  for (const Workload& workload : chosen) {
    const std::vector<int> sizes =
        options.size > 0 ? std::vector<int>{options.size} : workload.sizes;
    for (int size : sizes) {
      const Problem problem =
          makeProblem(workload.name, size, size, workload.dimensions == 3 ? size : 1);
      std::vector<Contender> contenders = contendersOf(problem);
      // The first one says what is right.
      if (!options.only.empty())
        contenders.erase(std::remove_if(contenders.begin() + 1, contenders.end(),
                                        [&](const Contender& c) { return !isWanted(c, options); }),
                         contenders.end());
      if (!agree(workload, problem, contenders)) {
        fine = false;
        continue;
      }
      const std::vector<Row> rows = measure(std::move(contenders), options);
      report(workload, problem, rows, options, options.csv.empty() ? nullptr : &file);
    }
  }
  return fine;
}

int run(int argc, char** argv) {
  Options options;
  std::vector<std::string> names;
  for (const Workload& workload : workloads()) names.push_back(workload.name);
  CLI::App app("Stencils: the library, hand-written OpenCL and OpenMP side by side");
  app.add_option("--workload", options.workloads, "Which ones; all by default")
      ->check(CLI::IsMember(names));
  app.add_option("--size", options.size, "Side of the square or cube; by default each workload's")
      ->check(CLI::Range(kSmallestSide, 16384));
  app.add_option("--pairs", options.pairs, "Samples of each contender, taken by turns")
      ->check(CLI::Range(7, 1000));
  app.add_option("--against", options.against, "Contender that the last column compares with");
  app.add_option("--only", options.only, "Measure this contender, --against and copy alone");
  app.add_option("--csv", options.csv, "Write the figures to this file");
  app.add_flag("--check", options.check, "Compare results at small sizes and measure nothing");
  app.add_flag("--processor-time", options.processorTime,
               "Time that the process had the processors for, over their number, instead of the "
               "clock's: for machines that others use too");
  CLI11_PARSE(app, argc, argv);
  std::vector<Workload> chosen;
  for (const Workload& workload : workloads()) {
    const auto& wanted = options.workloads;
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), workload.name) != wanted.end())
      chosen.push_back(workload);
  }
  return (options.check ? checkAll(chosen) : benchAll(chosen, options)) ? 0 : 1;
}

}  // namespace
}  // namespace perf::stencils

int main(int argc, char** argv) {
  try {
    return perf::stencils::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "stencil_bench: " << error.what() << '\n';
    return 1;
  }
}
