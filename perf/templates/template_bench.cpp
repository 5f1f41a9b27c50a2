// SPDX-License-Identifier: Apache-2.0
// Figure 14 of the stencil paper: what several points per thread and a mask in constant memory make
// of a stencil template, and what the forms of the library for this device do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <thread>

#include "templates/contenders.h"

namespace perf::templates {
namespace {

using stencils::Contender;
using stencils::Problem;

struct Options {
  std::vector<std::string> workloads = {"life", "gauss"};
  std::string size = "paper";
  int pairs = 7;
  std::string csv;
  bool check = false;
  bool processorTime = false;
};

/// A sample lasts this long at least, so that starting and waiting do not count.
constexpr double kSampleSeconds = 0.05;

double seconds(bool processorTime) {
  if (!processorTime)
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)) /
         std::max(1u, std::thread::hardware_concurrency());
}

double timeOf(const Contender& contender, int iterations, bool processorTime) {
  const double begin = seconds(processorTime);
  contender.run(iterations);
  return (seconds(processorTime) - begin) / iterations;
}

/// All results against the last one, the plain kernel's.
bool agree(const Problem& problem, const std::vector<Contender>& all) {
  std::vector<float> expected;
  bool fine = true;
  for (auto contender = all.rbegin(); contender != all.rend(); ++contender) {
    contender->reset();
    contender->run(3);
    const std::vector<float> values = contender->result();
    if (expected.empty()) {
      expected = values;
      if (values == problem.values) {
        std::cout << contender->name << " changes nothing\n";
        fine = false;
      }
      continue;
    }
    const float tolerance = problem.workload == "life" ? 0.0f : 1e-5f;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      wrong += std::abs(values[i] - expected[i]) <= tolerance ? 0 : 1;
    if (wrong == 0) continue;
    fine = false;
    std::cout << fmt::format("{}, {}: {} values differ from the plain kernel's\n", problem.workload,
                             contender->name, wrong);
  }
  return fine;
}

bool checkAll(const Options& options) {
  bool fine = applicationsAgree();
  for (const std::string& workload : options.workloads) {
    const Problem problem = stencils::makeProblem(workload, 131, 67, 1);
    const std::vector<Contender> all = contenders(problem);
    const bool good = agree(problem, all);
    std::cout << fmt::format("{}: {} ways {}\n", workload, all.size(), good ? "agree" : "DISAGREE");
    fine = fine && good;
  }
  return fine;
}

int sideOf(const std::string& workload, const std::string& size) {
  if (size != "paper") return std::stoi(size);
  return workload == "life" ? 2048 : 4096;
}

bool bench(const Options& options) {
  std::ofstream file;
  if (!options.csv.empty()) {
    file.open(options.csv);
    if (!file) throw std::runtime_error("cannot write " + options.csv);
    file << "figure,application,devices,style,ghost_width,pair,seconds\n";
  }
  for (const std::string& workload : options.workloads) {
    const int side = sideOf(workload, options.size);
    const Problem problem = stencils::makeProblem(workload, side, side, 1);
    const std::vector<Contender> all = contenders(problem);
    if (!agree(problem, all)) return false;
    std::vector<int> iterations;
    for (const Contender& contender : all) {
      const double once = std::max(timeOf(contender, 1, options.processorTime), 1e-6);
      iterations.push_back(std::clamp(static_cast<int>(std::ceil(kSampleSeconds / once)), 1, 200));
    }
    std::vector<std::vector<double>> samples(all.size());
    for (int pair = 0; pair < options.pairs; ++pair) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        const std::size_t i = pair % 2 == 0 ? k : all.size() - 1 - k;
        samples[i].push_back(timeOf(all[i], iterations[i], options.processorTime));
        file << fmt::format("figure14,{},1,\"{}\",0,{}-{},{:.7f}\n", workload, all[i].name,
                            workload, pair, samples[i].back());
      }
    }
    std::cout << fmt::format("\n{}, {} x {}\n{:<30}{:>14}{:>12}\n", workload, side, side, "",
                             "ms per step", "speed-up");
    for (std::vector<double>& s : samples) std::sort(s.begin(), s.end());
    const std::size_t middle = samples.front().size() / 2;
    for (std::size_t i = 0; i < all.size(); ++i)
      std::cout << fmt::format("{:<30}{:>14.3f}{:>12.2f}\n", all[i].name, 1e3 * samples[i][middle],
                               samples[0][middle] / samples[i][middle]);
  }
  return true;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Stencil templates: one or several points per thread, masks in constant memory");
  app.add_option("--workload", options.workloads, "life, gauss or both")
      ->check(CLI::IsMember({"life", "gauss"}));
  app.add_option("--size", options.size, "Side of the square, or paper: 2048 for life, 4096")
      ->check(CLI::Range(stencils::kSmallestSide, 16384) | CLI::IsMember({"paper"}));
  app.add_option("--pairs", options.pairs, "Samples of each, taken by turns")
      ->check(CLI::Range(1, 1000));
  app.add_option("--csv", options.csv, "Write the seconds to this file");
  app.add_flag("--check", options.check, "Compare results at small sizes and measure nothing");
  app.add_flag("--processor-time", options.processorTime,
               "Time that the process had the processors for, over their number, instead of the "
               "clock's: for machines that others use too");
  CLI11_PARSE(app, argc, argv);
  return (options.check ? checkAll(options) : bench(options)) ? 0 : 1;
}

}  // namespace
}  // namespace perf::templates

int main(int argc, char** argv) {
  try {
    return perf::templates::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "template_bench: " << error.what() << '\n';
    return 1;
  }
}
