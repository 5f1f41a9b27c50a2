// SPDX-License-Identifier: Apache-2.0
// A rank holds its own cells and their ghosts in memory, and 5 % more, however it came by them.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <functional>
#include <string>

#include "hpl/ranks/world.h"
#include "program_on_ranks.h"
#include "stencil_templates/stencil.h"
#include "tests/resident_memory.h"

namespace memory_tests {

using namespace hpl;
using namespace ranks_tests;

namespace {

constexpr std::size_t kColumns = 4096;
constexpr std::size_t kRows = 4096;  // 64 MiB

/// Bytes of its own memory that this process has touched.
std::size_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0, shared = 0;
  file >> all >> resident >> shared;
  return (resident - shared) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

int valueAt(std::size_t row, std::size_t column) {
  return static_cast<int>((row * 7 + column) % 64);
}

void initOnOwners(Grid& array) {
  forEachLocal(array, [](const LocalPart<int, 2>& part) {
    for (std::size_t i = 0; i < part.extents()[0]; ++i)
      for (std::size_t j = 0; j < part.extents()[1]; ++j)
        part.data()[i * part.strides()[0] + j] = valueAt(part.first()[0] + i, part.first()[1] + j);
  });
}

void initKernel(Grid a) { a[idy][idx] = (idy * 7 + idx) % 64; }

/// Waits until all devices of all ranks are done.
void waitForAll() {
  for (const Device& device : devices())
    if (device.isLocal()) device.sync();
  ranks::world()->courier().allAgree(true);
}

/// Works on two arrays, of which each rank owns half.
using Work = std::function<void(Grid& a, Grid& b)>;

/// "fits", or by how much it does not.
std::string heldBy(const Work& work) {
  {
    // The driver's compiler keeps a hundred megabytes; queues and messages take some, too.
    Grid a(kRows, kColumns), b(kRows, kColumns);
    work(a, b);
    waitForAll();
  }
  const std::size_t before = residentBytes();
  Grid a(kRows, kColumns), b(kRows, kColumns);
  work(a, b);
  waitForAll();
  // Half of two arrays, and a row of ghosts each.
  const std::size_t own = (kRows + 2) * kColumns * sizeof(int);
  const std::size_t after = residentBytes();
  const std::size_t grown = after > before ? after - before : 0;
  if (sum(a) == 0) return "the cells are gone";
  const bool fits = grown <= own + own / 20;
  return fits ? "fits" : "too much: " + std::to_string(grown) + " of " + std::to_string(own);
}

}  // namespace

TEST_CASE("a rank holds its own cells and ghosts in memory, and 5 % more") {
  if (!hpl_tests::kMeasuresMemory) return;
  const auto exchanging = [](Grid& a, Grid& b) {
    initOnOwners(a);
    initOnOwners(b);
    for (int i = 0; i < 4; ++i)
      eval(fivePoint).devices(2)(PART1(i % 2 == 0 ? b : a, 1, AUTO_SYNC),
                                 PART1(i % 2 == 0 ? a : b, 1, AUTO_SYNC));
  };
  const auto byKernels = [](Grid& a, Grid& b) {
    eval(initKernel).devices(2)(a);
    eval(initKernel).devices(2)(b);
    for (int i = 0; i < 4; ++i) eval(fivePoint).devices(2)(i % 2 == 0 ? b : a, i % 2 == 0 ? a : b);
  };
  const auto byViews = [](Grid& a, Grid& b) {
    const std::vector<Device> all = devices();
    const std::size_t half = kRows / 2;
    // The halves with a row of the other one each.
    const Range first(0, half), last(half - 1, kRows - 1), across(0, kColumns - 1);
    eval(initKernel).device(all[0])(a(first, across));
    eval(initKernel).device(all[1])(a(last, across));
    eval(initKernel).device(all[0])(b(first, across));
    eval(initKernel).device(all[1])(b(last, across));
    for (int i = 0; i < 4; ++i) {
      Grid& in = i % 2 == 0 ? a : b;
      Grid& out = i % 2 == 0 ? b : a;
      eval(fivePoint).device(all[0])(out(first, across), in(first, across));
      eval(fivePoint).device(all[1])(out(last, across), in(last, across));
      out.syncGhosts();
    }
  };
  const auto iterating = [](Grid& a, Grid& b) {
    initOnOwners(a);
    initOnOwners(b);
    Stencil sumOf([](Neighbourhood<int, 2> n) { return n(-1, 0) + n(1, 0) + n(0, -1) + n(0, 1); });
    sumOf.devices().iterate(4)(a, b);
  };
  const auto withBoundary = [](Grid& a, Grid& b) {
    initOnOwners(a);
    Stencil sumOf([](Neighbourhood<int, 2> n) { return n(-1, 0) + n(1, 0) + n(0, -1) + n(0, 1); });
    sumOf.boundary(Periodic());
    sumOf.devices().iterate(4)(a, b);
  };
  struct Named {
    const char* name;
    Work work;
  };
  for (const Named& way : {Named{"parts that exchange", exchanging},
                           {"kernels", byKernels},
                           {"views", byViews},
                           {"iterate", iterating},
                           {"iterate, periodic", withBoundary}}) {
    const std::string name = way.name;
    INFO(name);
    CHECK(saidOn(2, 1, [&] { return heldBy(way.work); }) == "fits");
  }
}

}  // namespace memory_tests
