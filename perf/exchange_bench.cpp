// SPDX-License-Identifier: Apache-2.0
// Exchanges of the small ghosts of three fields on all devices there are (HPL_DEVICES="cpu:0*2" or
// "cpu:0/2" makes several of one CPU): syncGhosts(a, b, c) against an exchange of one field, and
// against the alternative, one call after the other. Each measured exchange follows a launch that
// has made the ghosts stale and that the devices have finished.
//
// exchange/host: until the call returns. exchange/wall: until the devices have finished, too.
// exchange/host_processor: time that the calling thread had a processor for, which hardly depends
// on what else the machine does. The counters are microseconds per exchange and their ratios to one
// field.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "hpl/hpl.h"
#include "pairs.h"

using namespace hpl;

namespace {

using Field = Array<float, 2>;

void touch(Field a, Field b, Field c) {
  a[idy][idx] += 1.0f;
  b[idy][idx] += 2.0f;
  c[idy][idx] += 3.0f;
}

void finishAll() {
  for (const Device& device : devices(defaultDevice().type())) device.sync();
}

/// Three fields of 64 x 64 cells in bands of rows: ghosts of 256 bytes.
class Fields {
 public:
  Fields() {
    for (Field* field : {&a_, &b_, &c_}) *field = 0.0f;
  }

  void one() { a_.syncGhosts(); }
  void together() { syncGhosts(a_, b_, c_); }
  void oneByOne() {
    a_.syncGhosts();
    b_.syncGhosts();
    c_.syncGhosts();
  }
  /// Makes all ghosts stale.
  void prepare() {
    eval(touch)(PART1(a_, 1), PART1(b_, 1), PART1(c_, 1));
    finishAll();
  }
  bool areRight() {
    const auto isAll = [](Field& field, float value) {
      const float* cells = field.data();
      for (std::size_t i = 0; i < field.size(); ++i)
        if (cells[i] != value) return false;
      return true;
    };
    const float launches = a_(0, 0);
    return isAll(a_, launches) && isAll(b_, 2 * launches) && isAll(c_, 3 * launches);
  }

 private:
  Field a_{64, 64}, b_{64, 64}, c_{64, 64};
};

constexpr int kExchanges = 200;

/// Microseconds of one exchange.
double measure(Fields& fields, void (Fields::*exchange)(), perf::Time time, bool waits) {
  double seconds = 0;
  for (int i = 0; i < kExchanges; ++i) {
    fields.prepare();
    seconds += perf::secondsOf(
        [&] {
          (fields.*exchange)();
          if (waits) finishAll();
        },
        finishAll, time);
  }
  return seconds / kExchanges * 1e6;
}

void registerExchanges(const char* name, Fields& fields, perf::Time time, bool waits) {
  benchmark::RegisterBenchmark(
      name,
      [&fields, time, waits](benchmark::State& state) {
        constexpr std::array kWays = {&Fields::one, &Fields::together, &Fields::oneByOne};
        for (const auto way : kWays) measure(fields, way, time, waits);
        std::array<std::vector<double>, kWays.size()> found;
        std::size_t first = 0;
        for (auto _ : state) {
          for (std::size_t i = 0; i < kWays.size(); ++i) {
            const std::size_t way = (first + i) % kWays.size();
            found[way].push_back(measure(fields, kWays[way], time, waits));
          }
          ++first;
          state.SetIterationTime(found[1].back() * 1e-6);
        }
        const double one = perf::median(found[0]);
        const double together = perf::median(found[1]);
        const double oneByOne = perf::median(found[2]);
        state.counters["one_field_us"] = one;
        state.counters["three_together_us"] = together;
        state.counters["three_one_by_one_us"] = oneByOne;
        state.counters["together_by_one"] = together / one;
        state.counters["one_by_one_by_one"] = oneByOne / one;
      })
      ->UseManualTime()
      ->Iterations(15)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  Fields fields;
  registerExchanges("exchange/host", fields, perf::Time::Wall, false);
  registerExchanges("exchange/host_processor", fields, perf::Time::Thread, false);
  registerExchanges("exchange/wall", fields, perf::Time::Wall, true);
  const int code = perf::runAll(argc, argv);
  if (fields.areRight()) return code;
  std::fprintf(stderr, "the fields are wrong\n");
  return 1;
}
