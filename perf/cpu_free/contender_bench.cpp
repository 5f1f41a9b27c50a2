// SPDX-License-Identifier: Apache-2.0
// The contenders of the thesis on CPU-free execution (J. Baydamirli, Koç University 2023), by hand
// in OpenCL, and this library, on one device and on two of HPL_DEVICES, in turns:
//
//     alone        kernels that are not waited for, without exchange: computing alone
//     copy         a launch per step, then copies of border slices, for all of which the host waits
//     overlap      borders first, copies beside the interior, the host waits
//     peer stores  kernels write the neighbour's ghosts themselves, the host waits
//     signalled    launches in a row, whose kernels wait for each other's flags
//     cpu-free     all steps in one launch
//     resident     the same, on slices that stay in local memory
//     hpl          Stencil::iterate, as the library chooses
//
// each (but hpl) also without arithmetic. Jacobi in two dimensions with 256^2, 2048^2 and 8192^2
// cells per device (Fig. 6.1), in three with 32^3 to 128^3 per device, and 128^3 for all devices
// together (Fig. 6.2). Usage: hpl_cpu_free_contenders [--csv FILE] [--rounds N] [--milliseconds M]
// [--largest CELLS] Appends lines to the file: devices, domain of each, number of devices,
// arithmetic, contender, microseconds per step (median, least, most), rounds. Exits with 1 if
// contenders leave different cells.
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>

#include "../pairs.h"
#include "contenders.h"
#include "hpl/runtime/settings.h"
#include "options.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

namespace {

struct Options {
  std::string csv;
  int rounds;
  double milliseconds;
  double largest;
};

Options parsed(int argc, char** argv) {
  const auto option = [&](const char* name, const char* otherwise) {
    return cpu_free::optionOf(argc, argv, name, otherwise);
  };
  return {option("--csv", ""), std::atoi(option("--rounds", "9")),
          std::atof(option("--milliseconds", "20")), std::atof(option("--largest", "1e9"))};
}

struct Timed {
  cpu_free::Contender contender;
  std::vector<double> perStep;
  int steps = 2;
};

double secondsOf(const Timed& one, int steps) {
  const double begin = perf::secondsNow(perf::Time::Wall);
  one.contender.run(steps);
  return perf::secondsNow(perf::Time::Wall) - begin;
}

void waitForAll(const std::vector<Device>& devices) {
  for (const Device& device : devices) device.sync();
}

/// The library on the same grid: the contenders' ghosts beyond the ends are rows of its own.
template <int N>
cpu_free::Contender library(const std::vector<Device>& devices, const cpu_free::Domain& domain);

template <>
cpu_free::Contender library<2>(const std::vector<Device>& devices, const cpu_free::Domain& domain) {
  const auto rows = static_cast<std::size_t>(domain.slices) * devices.size();
  auto a = std::make_shared<Array<float, 2>>(rows, static_cast<std::size_t>(domain.nx));
  auto b = std::make_shared<Array<float, 2>>(rows, static_cast<std::size_t>(domain.nx));
  *a = 1.0f;
  *b = 1.0f;
  auto stencil = std::make_shared<Stencil>(
      [](Neighbourhood<float, 2> p) { return 0.25f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1)); });
  stencil->boundary(Fixed(1.0f)).label("jacobi2d");
  return {"hpl",
          [=](int steps) {
            stencil->devices(devices).iterate(steps)(*a, *b);
            waitForAll(devices);
          },
          {}};
}

template <>
cpu_free::Contender library<3>(const std::vector<Device>& devices, const cpu_free::Domain& domain) {
  const auto planes = static_cast<std::size_t>(domain.slices) * devices.size();
  const auto ny = static_cast<std::size_t>(domain.ny), nx = static_cast<std::size_t>(domain.nx);
  auto a = std::make_shared<Array<float, 3>>(planes, ny, nx);
  auto b = std::make_shared<Array<float, 3>>(planes, ny, nx);
  *a = 1.0f;
  *b = 1.0f;
  auto stencil = std::make_shared<Stencil>([](Neighbourhood<float, 3> p) {
    return (1.0f / 6) *
           (p(-1, 0, 0) + p(1, 0, 0) + p(0, -1, 0) + p(0, 1, 0) + p(0, 0, -1) + p(0, 0, 1));
  });
  stencil->boundary(Fixed(1.0f)).label("jacobi3d");
  return {"hpl",
          [=](int steps) {
            stencil->devices(devices).iterate(steps)(*a, *b);
            waitForAll(devices);
          },
          {}};
}

std::string nameOf(const cpu_free::Domain& domain) {
  std::string name = std::to_string(domain.slices) + "x";
  if (domain.ny > 1) name += std::to_string(domain.ny) + "x";
  return name + std::to_string(domain.nx);
}

/// All that exchange borders do the same.
bool areEqual(std::vector<Timed>& all) {
  std::vector<float> expected;
  for (Timed& one : all) {
    if (!one.contender.cells || one.contender.name == "alone") continue;
    one.contender.run(6);
    const std::vector<float> cells = one.contender.cells();
    if (expected.empty()) expected = cells;
    if (cells == expected) continue;
    std::fprintf(stderr, "%s leaves other cells than the first contender\n",
                 one.contender.name.c_str());
    return false;
  }
  return true;
}

bool measure(const Options& options, const std::vector<Device>& devices,
             const cpu_free::Domain& domain) {
  const double cells = static_cast<double>(domain.slice()) * domain.slices;
  if (cells > options.largest) return true;
  std::vector<Timed> all;
  for (cpu_free::Contender& contender : cpu_free::contendersOn(devices, domain))
    all.push_back({std::move(contender), {}});
  if (domain.computes)
    all.push_back({domain.ny > 1 ? library<3>(devices, domain) : library<2>(devices, domain), {}});
  if (domain.computes && !areEqual(all)) return false;
  for (Timed& one : all) {
    // The library does several steps of large domains at once.
    if (one.contender.name == "hpl") one.steps = 32;
    one.contender.run(one.steps);
    while (std::min(secondsOf(one, one.steps), secondsOf(one, one.steps)) <
               5e-4 * options.milliseconds &&
           one.steps < 1 << 20)
      one.steps *= 2;
  }
  for (int round = 0; round < options.rounds; ++round)
    for (Timed& one : all) one.perStep.push_back(secondsOf(one, one.steps) / one.steps);
  std::ofstream csv;
  if (!options.csv.empty()) csv.open(options.csv, std::ios::app);
  const char* const named = std::getenv("HPL_DEVICES");
  std::printf("%zu x %-13s%-11s", devices.size(), nameOf(domain).c_str(),
              domain.computes ? "" : "no compute");
  for (const Timed& one : all) {
    const double median = perf::median(one.perStep);
    const auto [low, high] = std::minmax_element(one.perStep.begin(), one.perStep.end());
    std::printf("  %s %.2f", one.contender.name.c_str(), 1e6 * median);
    if (csv)
      csv << (named != nullptr ? named : "all") << ',' << nameOf(domain) << ',' << devices.size()
          << ',' << (domain.computes ? "yes" : "no") << ',' << one.contender.name << ','
          << 1e6 * median << ',' << 1e6 * *low << ',' << 1e6 * *high << ',' << one.perStep.size()
          << '\n';
  }
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parsed(argc, argv);
  // Nothing is to be tried meanwhile.
  runtime::Settings settings = runtime::settings();
  settings.tune = runtime::TuneMode::Off;
  runtime::overrideSettings(settings);
  const std::vector<Device> all = devices(defaultDevice().type());
  std::vector<std::vector<Device>> sets{{all[0]}};
  if (all.size() > 1) sets.push_back({all[0], all[1]});
  std::vector<cpu_free::Domain> domains;
  for (const int n : {256, 2048, 8192}) domains.push_back({n, 1, n});
  for (const int n : {32, 64, 128}) domains.push_back({n, n, n});
  for (cpu_free::Domain domain : domains)
    for (const std::vector<Device>& set : sets)
      for (const bool computes : {true, false}) {
        domain.computes = computes;
        if (!measure(options, set, domain)) return 1;
      }
  // Half of the largest cube each: strong scaling.
  if (all.size() > 1)
    for (const bool computes : {true, false})
      if (!measure(options, sets[1], {64, 128, 128, computes})) return 1;
  return 0;
}
