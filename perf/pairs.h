// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

/// Paired measurements: every repetition times ours and the hand-written twin one after the other,
/// in alternating order, and the result is the ratio of the medians. The machines are noisy, and
/// what disturbs one half of a pair disturbs the other.
namespace perf {

/// --processor-time: time that all threads of the process had the processors for, instead of the
/// clock's; for machines that others use too.
inline bool processorTime = false;

inline double secondsNow() {
  if (!processorTime)
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds of `work`; `settle` follows outside of the measurement.
inline double secondsOf(const std::function<void()>& work, const std::function<void()>& settle) {
  const double begin = secondsNow();
  work();
  const double took = secondsNow() - begin;
  if (settle) settle();
  return took;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Registers a benchmark `name`: `ours` and `twin` each do `calls` units of work. Reported are the
/// medians per unit in microseconds (`ours_us`, `twin_us`) and their ratio. `settle` runs after
/// each, not measured: where only the host's cost is of interest it waits for the device.
inline void registerPair(const std::string& name, double calls, std::function<void()> ours,
                         std::function<void()> twin, std::function<void()> settle = {},
                         int pairs = 15) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 secondsOf(ours, settle);
                                 secondsOf(twin, settle);
                                 std::vector<double> a;
                                 std::vector<double> b;
                                 for (auto _ : state) {
                                   if (a.size() % 2 == 0) {
                                     a.push_back(secondsOf(ours, settle));
                                     b.push_back(secondsOf(twin, settle));
                                   } else {
                                     b.push_back(secondsOf(twin, settle));
                                     a.push_back(secondsOf(ours, settle));
                                   }
                                   state.SetIterationTime(a.back() / calls);
                                 }
                                 state.counters["ours_us"] = median(a) / calls * 1e6;
                                 state.counters["twin_us"] = median(b) / calls * 1e6;
                                 state.counters["ratio"] = median(a) / median(b);
                               })
      ->UseManualTime()
      ->Iterations(pairs)
      ->Unit(benchmark::kMicrosecond);
}

/// Runs what was registered; `--benchmark_format=csv` and `--benchmark_out=FILE` as usual, and
/// --processor-time.
inline int runAll(int argc, char** argv) {
  char** const end = std::remove_if(argv + 1, argv + argc, [](const char* argument) {
    return std::strcmp(argument, "--processor-time") == 0;
  });
  processorTime = end != argv + argc;
  argc = static_cast<int>(end - argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace perf
