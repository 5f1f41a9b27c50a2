// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <time.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

/// Paired measurements: every repetition times ours and the hand-written twin one after the other,
/// in alternating order, and the result is the ratio of the medians. The machines are noisy, and
/// what disturbs one half of a pair disturbs the other.
namespace perf {

/// The time to measure: time that passes, or that the calling thread has the processor for, which
/// other programs disturb less.
enum class Time { Wall, Thread };

/// --processor-time: time that all threads of the process had the processors for, instead of time
/// that passes; for machines that others use too.
inline bool processorTime = false;

inline double secondsNow(Time time) {
  const clockid_t wall = processorTime ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  timespec now{};
  clock_gettime(time == Time::Wall ? wall : CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of `work`; `settle` follows outside of the measurement.
inline double secondsOf(const std::function<void()>& work, const std::function<void()>& settle,
                        Time time = Time::Wall) {
  const double begin = secondsNow(time);
  work();
  const double took = secondsNow(time) - begin;
  if (settle) settle();
  return took;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Registers a benchmark `name`: `ours` and `twin` each do `calls` units of work. Reported are the
/// medians per unit in microseconds (`ours_us`, `twin_us`) and their ratio. `settle` runs after
/// each, not measured: where only the host's cost is of interest it waits for the device. `prepare`
/// runs before each, not measured either.
inline void registerPair(const std::string& name, double calls, std::function<void()> ours,
                         std::function<void()> twin, std::function<void()> settle = {},
                         int pairs = 15, std::function<void()> prepare = {},
                         Time time = Time::Wall) {
  const auto measure = [=](const std::function<void()>& work) {
    if (prepare) prepare();
    return secondsOf(work, settle, time);
  };
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 measure(ours);
                                 measure(twin);
                                 std::vector<double> a;
                                 std::vector<double> b;
                                 for (auto _ : state) {
                                   if (a.size() % 2 == 0) {
                                     a.push_back(measure(ours));
                                     b.push_back(measure(twin));
                                   } else {
                                     b.push_back(measure(twin));
                                     a.push_back(measure(ours));
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
