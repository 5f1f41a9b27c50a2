// SPDX-License-Identifier: Apache-2.0
// The time loop inside the kernel (CPU-free execution), on all devices of HPL_DEVICES: the paper's
// programs of small domains, Jacobi in one to three dimensions, and a program of waves, each in
// several ways, in turns:
//
//     waits       one launch per step, for each of which the host waits (the paper's baseline)
//     launches    one launch per step, none of which the host waits for
//     tiles       what the library does without persistent kernels: time tiles where they pay
//     persistent  all steps are one launch, whose groups exchange the rims of their tiles
//     barrier     the same, but that all groups wait for all at each exchange (a device barrier)
//     looks       as persistent, with a look at the residual every 100 steps, which the groups take
//     auto        what the library chooses
//
// With HPL_RANKS=2 two processes have a device each; MPI may start them on several nodes.
//
// Usage: hpl_cpu_free_bench [--csv FILE] [--rounds N] [--milliseconds M] [--only DIMS]
// Appends lines to the file: devices, domain, way, microseconds per step (median, least, most),
// rounds. Prints microseconds per step, medians, and how much longer `auto` takes than the best of
// those before it. Without a way: it is impossible for that size.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>

#include "cpu_free/options.h"
#include "hpl/memory/operations.h"
#include "hpl/ranks/session.h"
#include "hpl/runtime/settings.h"
#include "pairs.h"
#include "stencil_templates/stencil_templates.h"
#ifdef HPL_BENCH_HAS_MPI
#include "hpl/mpi/session.h"
using Session = hpl::mpi::Session;
#else
using Session = hpl::ranks::Session;
#endif

using namespace hpl;

namespace {

/// The first rank reports.
bool isFirstRank = true;
int nodes = 1;

struct Options {
  std::string csv;
  int rounds;
  double milliseconds;
  int only;
};

Options parsed(int argc, char** argv) {
  const auto option = [&](const char* name, const char* otherwise) {
    return cpu_free::optionOf(argc, argv, name, otherwise);
  };
  return {option("--csv", ""), std::atoi(option("--rounds", "9")),
          std::atof(option("--milliseconds", "20")), std::atoi(option("--only", "0"))};
}

std::string devicesNamed() {
  if (nodes > 1) return std::to_string(nodes) + " nodes";
  if (const char* const ranks = std::getenv("HPL_RANKS")) return std::string(ranks) + " ranks";
  const char* const named = std::getenv("HPL_DEVICES");
  return named != nullptr ? named : "all";
}

struct Way {
  const char* name;
  std::function<void(int steps)> run;
  std::vector<double> perStep;
  int steps = 64;
};

/// Until all devices of this process have done what they were given.
void waitForAll() {
  for (const Device& device : devices(defaultDevice().type()))
    if (device.isLocal()) device.sync();
}

/// The longest that a rank has taken: all decide by the same times.
double secondsOf(Way& way, int steps) {
  const double begin = perf::secondsNow(perf::Time::Wall);
  way.run(steps);
  waitForAll();
  double longest = 0;
  for (const std::vector<double>& said :
       memory::detail::tellRanks("measurement", {perf::secondsNow(perf::Time::Wall) - begin}))
    longest = std::max(longest, said.at(0));
  return longest;
}

/// The least of a few: a launch that the machine has held up says nothing of steps.
double leastSecondsOf(Way& way, int steps) {
  double least = secondsOf(way, steps);
  for (int k = 0; k < 3; ++k) least = std::min(least, secondsOf(way, steps));
  return least;
}

/// Finds out how many steps take long enough; false for what is impossible.
bool prepare(Way& way, double seconds) {
  try {
    secondsOf(way, way.steps);
    while (leastSecondsOf(way, way.steps) < seconds / 2 && way.steps < 1 << 22) way.steps *= 2;
  } catch (const Error& error) {
    if (isFirstRank) std::fprintf(stderr, "%s: %s\n", way.name, error.what());
    return false;
  }
  return true;
}

/// Groups wait for all others as long as this lives.
class Barrier {
 public:
  Barrier() : before_(runtime::settings()) {
    runtime::Settings all = before_;
    all.groupsWait = runtime::GroupsWait::All;
    runtime::overrideSettings(all);
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  ~Barrier() { runtime::overrideSettings(before_); }

 private:
  runtime::Settings before_;
};

/// On all devices, which lie side by side along the rows if they are to be `columns`.
StencilLauncher everywhereOf(const Stencil& stencil, bool columns) {
  StencilLauncher launcher = stencil.devices();
  if (columns) launcher.blocks(static_cast<std::size_t>(getDeviceNumber()), 1);
  return launcher;
}

/// `other`: the same stencil, for another way to wait.
template <class A>
std::vector<Way> waysOf(const Stencil& stencil, const Stencil& other, A& a, A& b,
                        bool columns = false) {
  const auto everywhere = [&stencil, columns] { return everywhereOf(stencil, columns); };
  // A residual that is never below the bound.
  const auto looking = everywhere().persistent().until(
      0.5, 100, [](Float now, Float before) { return fabs(now - before) + 1.0f; });
  return {{"waits",
           [&, everywhere](int steps) {
             for (int s = 0; s < steps; s += 2) {
               everywhere()(a, b);
               waitForAll();
               everywhere()(b, a);
               waitForAll();
             }
           },
           {}},
          {"launches",
           [&, everywhere](int steps) {
             everywhere().timeTile(1).persistent(false).iterate(steps)(a, b);
           },
           {}},
          {"tiles",
           [&, everywhere](int steps) { everywhere().persistent(false).iterate(steps)(a, b); },
           {}},
          {"persistent",
           [&, everywhere](int steps) { everywhere().persistent().iterate(steps)(a, b); },
           {}},
          {"barrier",
           [&, columns](int steps) {
             const Barrier barrier;
             everywhereOf(other, columns).persistent().iterate(steps)(a, b);
           },
           {}},
          {"looks", [&, looking](int steps) { looking.iterate(steps)(a, b); }, {}},
          {"auto", [&, everywhere](int steps) { everywhere().iterate(steps)(a, b); }, {}}};
}

void report(const Options& options, const std::string& domain, std::vector<Way> ways) {
  std::erase_if(ways, [&](Way& way) { return !prepare(way, 1e-3 * options.milliseconds); });
  for (int round = 0; round < options.rounds; ++round)
    for (Way& way : ways) way.perStep.push_back(secondsOf(way, way.steps) / way.steps);
  double best = 1e9;
  double chosen = 1e9;
  std::string line;
  std::ofstream csv;
  if (!options.csv.empty() && isFirstRank) csv.open(options.csv, std::ios::app);
  for (const Way& way : ways) {
    const double median = perf::median(way.perStep);
    const auto [low, high] = std::minmax_element(way.perStep.begin(), way.perStep.end());
    if (std::strcmp(way.name, "auto") == 0) {
      chosen = median;
    } else if (std::strcmp(way.name, "looks") != 0 && std::strcmp(way.name, "barrier") != 0) {
      best = std::min(best, median);
    }
    char text[64];
    std::snprintf(text, sizeof text, "  %s %.2f", way.name, 1e6 * median);
    line += text;
    if (csv)
      csv << devicesNamed() << ',' << domain << ',' << way.name << ',' << 1e6 * median << ','
          << 1e6 * *low << ',' << 1e6 * *high << ',' << way.perStep.size() << '\n';
  }
  if (!isFirstRank) return;
  std::printf("%-14s%s  best/auto %.2f\n", domain.c_str(), line.c_str(), best / chosen);
  std::fflush(stdout);
}

void line(const Options& options, std::size_t n) {
  const auto made = [] {
    Stencil stencil([](Neighbourhood<float, 1> p) { return 0.5f * (p(-1) + p(1)); });
    stencil.boundary(Fixed(1.0f)).label("jacobi1d");
    return stencil;
  };
  const Stencil stencil = made(), other = made();
  Array<float, 1> a(n), b(n);
  a = 0.0f;
  report(options, std::to_string(n), waysOf(stencil, other, a, b));
}

/// `columns`: each of several devices has some, whose borders lie apart in memory.
void square(const Options& options, std::size_t n, bool columns) {
  const auto made = [] {
    Stencil stencil([](Neighbourhood<float, 2> p) {
      return 0.25f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
    });
    stencil.boundary(Fixed(1.0f)).label("jacobi2d");
    return stencil;
  };
  const Stencil stencil = made(), other = made();
  Array<float, 2> a(n, n), b(n, n);
  a = 0.0f;
  report(options, std::to_string(n) + (columns ? "^2 columns" : "^2"),
         waysOf(stencil, other, a, b, columns));
}

/// Waves: a program of three functions. None of its ways waits after each step.
void waves(const Options& options, std::size_t n) {
  using Field = Neighbourhood<float, 2>;
  const auto last = static_cast<std::int64_t>(n) - 1;
  Array<float, 2> ex(n, n), ey(n, n), hz(n, n);
  ex = 0.0f;
  ey = 0.0f;
  hz = 1.0f;
  const auto program = [&] {
    StencilProgram made;
    made.label("waves").devices();
    made.apply([](Field y, Field h) { return y(0, 0) - 0.5f * (h(0, 0) - h(-1, 0)); })
        .over(Range(1, last), Range(0, last))(ey, hz, ey);
    made.apply([](Field x, Field h) { return x(0, 0) - 0.5f * (h(0, 0) - h(0, -1)); })
        .over(Range(0, last), Range(1, last))(ex, hz, ex);
    made.apply([](Field h, Field x, Field y) {
          return h(0, 0) - 0.7f * (x(0, 1) - x(0, 0) + y(1, 0) - y(0, 0));
        })
        .over(Range(0, last - 1), Range(0, last - 1))(hz, ex, ey, hz);
    return made;
  };
  StencilProgram launches = program(), tiles = program(), persistent = program(), any = program();
  launches.timeTile(1).persistent(false);
  tiles.persistent(false);
  persistent.persistent();
  report(options, "waves " + std::to_string(n) + "^2",
         {{"launches", [&](int steps) { launches.run(steps); }, {}},
          {"tiles", [&](int steps) { tiles.run(steps); }, {}},
          {"persistent", [&](int steps) { persistent.run(steps); }, {}},
          {"auto", [&](int steps) { any.run(steps); }, {}}});
}

void cube(const Options& options, std::size_t n) {
  const auto made = [] {
    Stencil stencil([](Neighbourhood<float, 3> p) {
      return (1.0f / 6) *
             (p(-1, 0, 0) + p(1, 0, 0) + p(0, -1, 0) + p(0, 1, 0) + p(0, 0, -1) + p(0, 0, 1));
    });
    stencil.boundary(Fixed(1.0f)).label("jacobi3d");
    return stencil;
  };
  const Stencil stencil = made(), other = made();
  Array<float, 3> a(n, n, n), b(n, n, n);
  a = 0.0f;
  report(options, std::to_string(n) + "^3", waysOf(stencil, other, a, b));
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(argc, argv);
  isFirstRank = session.rank() == 0;
  nodes = session.nodes();
  const Options options = parsed(argc, argv);
  // Nothing is to be tried meanwhile.
  runtime::Settings settings = runtime::settings();
  settings.tune = runtime::TuneMode::Off;
  runtime::overrideSettings(settings);
  if (options.only == 0 || options.only == 1)
    for (const std::size_t n : {1024, 4096, 16384, 65536, 262144}) line(options, n);
  if (options.only == 0 || options.only == 2)
    for (const std::size_t n : {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024})
      square(options, n, false);
  if ((options.only == 0 || options.only == 2) && getDeviceNumber() > 1)
    for (const std::size_t n : {64, 128, 256, 512}) square(options, n, true);
  if (options.only == 0 || options.only == 3)
    for (const std::size_t n : {16, 24, 32, 48, 64}) cube(options, n);
  // With the other squares.
  if (options.only == 0 || options.only == 2)
    for (const std::size_t n : {64, 128, 256}) waves(options, n);
  return 0;
}
