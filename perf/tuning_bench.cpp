// SPDX-License-Identifier: Apache-2.0
// Is the tuned choice as good as the best point of an exhaustive sweep? For three kernels: tunes as
// eval(k).tune() does, then measures every point of the space for many rounds, then the two of them
// against each other.
// And what does tuning in a running program cost? `--online` runs one of the kernels for a while,
// to be compared under HPL_TUNE=off and quick.
#include <time.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/launch/detail/tuning_bench.h"
#include "perf/pairs.h"

using namespace hpl;

namespace {

void fivePoint(Array<float, 2> out, const Array<float, 2>& in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] =
        0.25f * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]);
  }
}

void life(Array<int, 2> out, const Array<int, 2>& in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Int alive = in[idy - 1][idx - 1] + in[idy - 1][idx] + in[idy - 1][idx + 1] + in[idy][idx - 1] +
                in[idy][idx + 1] + in[idy + 1][idx - 1] + in[idy + 1][idx] + in[idy + 1][idx + 1];
    out[idy][idx] = where(alive == 3 || (alive == 2 && in[idy][idx] != 0), 1, 0);
  }
}

void gauss(Array<float, 2> out, const Array<float, 2>& in) {
  constexpr int kReach = 5;
  if_(idx >= kReach && idx + kReach < szx && idy >= kReach && idy + kReach < szy) {
    Float sum = 0.0f;
    for (int dy = -kReach; dy <= kReach; ++dy)
      for (int dx = -kReach; dx <= kReach; ++dx)
        sum += (1.0f / static_cast<float>(1 + dy * dy + dx * dx)) * in[idy + dy][idx + dx];
    out[idy][idx] = sum;
  }
}

struct Sweep {
  tune::Point best;
  double seconds = 0;
  std::size_t points = 0;
};

/// The best median of all points, measured in turn.
Sweep sweep(launch::TuningBench& bench, int rounds) {
  const std::vector<tune::Point>& points = bench.points();
  std::vector<std::vector<double>> seconds(points.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t p = 0; p < points.size(); ++p) {
      try {
        seconds[p].push_back(bench.measure(points[p]));
      } catch (const Error&) {
        // A point that the device refuses.
      }
    }
  }
  Sweep result;
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (seconds[p].empty()) continue;
    ++result.points;
    const double median = perf::median(seconds[p]);
    if (result.seconds > 0 && median >= result.seconds) continue;
    result.seconds = median;
    result.best = points[p];
  }
  return result;
}

/// The median over pairs of the first one's time by the second one's.
double ratioOf(launch::TuningBench& bench, const tune::Point& a, const tune::Point& b, int pairs) {
  std::vector<double> ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    const bool forwards = pair % 2 == 0;
    const double first = bench.measure(forwards ? a : b);
    const double second = bench.measure(forwards ? b : a);
    ratios.push_back(forwards ? first / second : second / first);
  }
  return perf::median(ratios);
}

struct Options {
  int rounds = 5;
  double seconds = 60;
  bool processorTime = false;
  int online = 0;
};

/// Seconds of all threads of the process: on a busy machine it says more than the time that has
/// passed.
double processorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class T>
void fill(Array<T, 2>& array) {
  T* values = array.data(HPL_WR);
  for (std::size_t i = 0; i < array.size(); ++i) values[i] = static_cast<T>(i * 7919 % 3 == 0);
}

template <class T, class F>
void measure(const char* name, F kernel, int side, const Options& options) {
  Array<T, 2> in(side, side), out(side, side);
  fill(in);
  const launch::EntryHandle handle = launch::entryOf<F>(kernel);
  const launch::Argument arguments[] = {launch::makeArgument(out), launch::makeArgument(in)};
  launch::TuningBench bench(*handle.entry, launch::resolved({}, false), arguments);
  if (options.processorTime) bench.setClock(&processorSeconds);
  tune::SearchOptions searchOptions;
  searchOptions.seconds = options.seconds;
  const tune::Outcome tuned = tune::search(
      bench.points(), [&](const tune::Point& p) { return bench.measure(p); }, &tune::secondsNow,
      searchOptions);
  const tune::Point& chosen = bench.points()[tuned.best];
  const Sweep best = sweep(bench, options.rounds);
  constexpr int kPairs = 15;
  std::printf("%s,%d,\"%s\",\"%s\",\"%s\",%zu,%zu,%d,%.1f,%.3f,%.3f,%.3f\n", name, side,
              bench.choiceOf({}).c_str(), bench.choiceOf(chosen).c_str(),
              bench.choiceOf(best.best).c_str(), tuned.measured, best.points, tuned.rounds,
              tuned.elapsed, best.seconds * 1e3, ratioOf(bench, chosen, best.best, kPairs),
              ratioOf(bench, tune::Point(), best.best, kPairs));
  std::fflush(stdout);
}

/// A program that computes one generation after the other, and looks at the world now and then.
void runOnline(int launches) {
  constexpr int kSide = 2048;
  Array<int, 2> a(kSide, kSide), b(kSide, kSide);
  fill(a);
  fill(b);
  const double begin = tune::secondsNow();
  const double processor = processorSeconds();
  for (int n = 0; n < launches; n += 2) {
    eval(life)(b, a);
    eval(life)(a, b);
    if (n % 100 == 0) static_cast<void>(a(0, 0).value());
  }
  defaultDevice().sync();
  std::printf("launches,seconds,processor_seconds\n%d,%.2f,%.2f\n", launches,
              tune::secondsNow() - begin, processorSeconds() - processor);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("The tuned choice against the best point of an exhaustive sweep, as CSV");
  app.add_option("--rounds", options.rounds, "Rounds of the sweep")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "For tuning one kernel")->check(CLI::PositiveNumber);
  app.add_flag("--processor-time", options.processorTime,
               "Measure the time that the process had the processors for");
  app.add_option("--online", options.online, "Only run LIFE, so many generations")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (options.online > 0) {
    runOnline(options.online);
    return 0;
  }
  std::puts(
      "kernel,side,default,tuned,best_of_sweep,measured,swept,rounds,tuning_s,best_ms,"
      "tuned_by_best,default_by_best");
  measure<float>("5-point", &fivePoint, 2048, options);
  measure<int>("life", &life, 2048, options);
  measure<float>("gauss-11x11", &gauss, 1024, options);
}
