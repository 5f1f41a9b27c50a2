// SPDX-License-Identifier: Apache-2.0
// Measures rows of the table of perf/peers.sh, as CSV: the median time of each contender of a row,
// which take turns. Contenders must agree on the result before they are measured.
#include "peers/peers.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>

#include <time.h>

using namespace perf::peers;

namespace {

std::vector<NamedRow> allRows() {
  std::vector<NamedRow> all;
  for (const auto& rows : {pointRows, pictureRows, ringRows, loopRows, gridRows, acousticRows,
                           solverRows, tiledRows, maskRows, streamRows, matrixRows, edgeRows}) {
    const std::vector<NamedRow> some = rows();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

struct Options {
  std::vector<std::string> rows;
  int rounds = 15;
  bool checksOnly = false;
  bool processorTime = false;
};

double secondsNow(const Options& options) {
  timespec now{};
  clock_gettime(options.processorTime ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs each contender once and compares.
bool agree(const Row& row) {
  for (const Contender& contender : row.contenders) contender.run();
  const double expected = row.contenders.front().checksum();
  for (const Contender& contender : row.contenders) {
    if (!contender.checksum) continue;
    const double got = contender.checksum();
    if (std::abs(got - expected) <= 1e-4 * std::max(1.0, std::abs(expected))) continue;
    fmt::print(stderr, "{}: {} computes {}, {} computes {}\n", row.name,
               row.contenders.front().name, expected, contender.name, got);
    return false;
  }
  return true;
}

void measure(const Row& row, const Options& options) {
  std::vector<std::vector<double>> seconds(row.contenders.size());
  for (int round = 0; round < options.rounds; ++round)
    for (std::size_t i = 0; i < row.contenders.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % row.contenders.size();
      const double begin = secondsNow(options);
      row.contenders[turn].run();
      seconds[turn].push_back(secondsNow(options) - begin);
    }
  for (std::size_t i = 0; i < row.contenders.size(); ++i) {
    std::sort(seconds[i].begin(), seconds[i].end());
    fmt::print("\"{}\",{},{},{:.1f}\n", row.name, row.goal, row.contenders[i].name,
               seconds[i][seconds[i].size() / 2] * 1e6);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<NamedRow> all = allRows();
  std::string names;
  for (const NamedRow& row : all) names += " " + row.name;
  Options options;
  CLI::App app("Measures the library beside others; rows:" + names);
  app.add_option("--row", options.rows, "Measure these rows only");
  app.add_option("--rounds", options.rounds, "Turns of each contender")->check(CLI::PositiveNumber);
  app.add_flag("--processor-time", options.processorTime,
               "Time of all threads on the processors, for busy machines");
  app.add_flag("--check", options.checksOnly, "Compare results without measuring");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& name : options.rows)
    if (std::none_of(all.begin(), all.end(),
                     [&](const NamedRow& row) { return row.name == name; })) {
      fmt::print(stderr, "there is no row '{}'; there are:{}\n", name, names);
      return 2;
    }
  if (!options.checksOnly) fmt::print("row,goal,contender,microseconds\n");
  bool fine = true;
  for (const NamedRow& named : all) {
    if (!options.rows.empty() &&
        std::find(options.rows.begin(), options.rows.end(), named.name) == options.rows.end())
      continue;
    const Row row = named.make();
    const bool agrees = agree(row);
    fine = fine && agrees;
    if (agrees && !options.checksOnly) measure(row, options);
  }
  return fine ? 0 : 1;
}
