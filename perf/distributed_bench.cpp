// SPDX-License-Identifier: Apache-2.0
// Launches on all devices there are (HPL_DEVICES="cpu:0/2" or "cpu:0*2" makes several of one CPU)
// with exchanges of ghosts, against the same programs written by hand in OpenCL.
//
// distributed/host_cost: the host's time for one annotated launch and one syncGhosts, per device
// and step, beside that of a hand-written step; distributed/host_cost_automatic: that of a launch
// which the library divides, and which fetches its ghosts by itself;
// distributed/host_cost_auto_sync: that of an annotated launch which does so (AUTO_SYNC).
// distributed/life and jacobi3d: whole runs, the exchange included, of kernels as a scientist
// writes them, against the best kernels that we know (perf/stencils). distributed/..._processor:
// the same in time that the calling thread, for whole runs all threads of the process, had a
// processor for; it hardly depends on what else the machine does, but leaves out what is waited.
// --check compares results at small sizes and measures nothing.
#include <time.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "pairs.h"
#include "raw_devices.h"

using namespace hpl;

namespace {

using Cells = Array<unsigned char, 2>;
using Words = Array<int, 2>;
using Cube = Array<float, 3>;

void life(Cells out, Cells in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Int n = in[idy - 1][idx - 1] + in[idy - 1][idx] + in[idy - 1][idx + 1] + in[idy][idx - 1] +
            in[idy][idx + 1] + in[idy + 1][idx - 1] + in[idy + 1][idx] + in[idy + 1][idx + 1];
    out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] != 0), 1, 0);
  }
}

const char* const kLife = R"(
__kernel void life(__global uchar* out, __global const uchar* in) {
  size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
  if (x > 0 && x + 1 < w && y > 0 && y + 1 < h) {
    __global const uchar* p = in + y * w + x;
    int n = p[-w - 1] + p[-w] + p[-w + 1] + p[-1] + p[1] + p[w - 1] + p[w] + p[w + 1];
    out[y * w + x] = n == 3 || (n == 2 && p[0] != 0) ? 1 : 0;
  }
})";

/// Everything beyond the edges is dead, for each device beyond its part's, too: those cells are
/// ghosts, which the exchange brings.
void lifeOfWords(Words out, Words in) {
  Int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dy == 0 && dx == 0) continue;
      Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
      if_(y >= 0 && y < cast<int>(szy) && x >= 0 && x < cast<int>(szx)) {
        neighbours += in[y][x];
      }
    }
  }
  out[idy][idx] = neighbours == 3 || (in[idy][idx] != 0 && neighbours == 2);
}

void jacobi(Cube out, Cube in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy && idz > 0 && idz + 1 < szz) {
    out[idz][idy][idx] = (in[idz - 1][idy][idx] + in[idz + 1][idy][idx] + in[idz][idy - 1][idx] +
                          in[idz][idy + 1][idx] + in[idz][idy][idx - 1] + in[idz][idy][idx + 1]) *
                         (1.0f / 6.0f);
  }
}

const std::string kRows =
#include "stencils/rows.cl.h"
    ;
const std::string kBestLife = kRows +
#include "stencils/life.cl.h"
    ;
const std::string kBestJacobi = kRows +
#include "stencils/jacobi3d.cl.h"
    ;

std::vector<Device> devicesHere() { return devices(defaultDevice().type()); }
void syncAll() {
  for (const Device& device : devicesHere()) device.sync();
}

struct LifePair {
  static constexpr std::size_t kLocal = 256;
  std::size_t size;
  int steps;
  Cells a, b;
  perf::RawStencil raw;
  std::vector<std::array<std::size_t, 2>> globals;

  LifePair(std::size_t n, int count)
      : size(n), steps(count), a(n, n), b(n, n), raw(devicesHere(), kLife, "life", n, n) {
    std::vector<unsigned char> cells(n * n);
    std::uint32_t random = 1;
    for (unsigned char& cell : cells) cell = (random = random * 1664525u + 1013904223u) >> 30 == 0;
    a.copyFrom(cells.data());
    b.copyFrom(cells.data());
    raw.upload(cells.data());
    for (std::size_t d = 0; d < raw.devices(); ++d) globals.push_back({n, raw.slicesOf(d)});
  }
  void ours() {
    for (int i = 0; i < steps; ++i) {
      eval(life).local(std::min(size, kLocal), 1)(PART1(b, 1), PART1(a, 1));
      b.syncGhosts();
      swap(a, b);
    }
  }
  /// The launch exchanges what it needs.
  void autoSync() {
    for (int i = 0; i < steps; ++i) {
      eval(life).local(std::min(size, kLocal), 1)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      swap(a, b);
    }
  }
  /// As the library divides it.
  void automatic() {
    const int count = static_cast<int>(raw.devices());
    for (int i = 0; i < steps; ++i) {
      eval(life).local(std::min(size, kLocal), 1).devices(count)(b, a);
      swap(a, b);
    }
  }
  void twin() {
    for (int i = 0; i < steps; ++i) raw.step<2>(globals, {std::min(size, kLocal), 1});
  }
  bool agree() {
    std::vector<unsigned char> mine(size * size), other(size * size);
    a.copyTo(mine.data());
    raw.download(other.data());
    return mine == other;
  }
};

std::size_t groups(std::size_t cells, std::size_t perGroup) {
  return (cells + perGroup - 1) / perGroup;
}

void setSizes(cl_kernel kernel, std::initializer_list<std::size_t> sizes) {
  cl_uint position = 2;  // after the output and the input
  for (std::size_t size : sizes) perf::Raw::set(kernel, position++, static_cast<cl_int>(size));
}

struct BestLifePair {
  static constexpr std::size_t kBand = 16;
  std::size_t size;
  int steps;
  Words a, b;
  perf::RawStencil raw;
  std::vector<std::array<std::size_t, 1>> globals;

  BestLifePair(std::size_t n, int count)
      : size(n),
        steps(count),
        a(n, n),
        b(n, n),
        raw(devicesHere(), kBestLife.c_str(), "life", n, n * sizeof(int)) {
    std::vector<int> cells(n * n);
    std::uint32_t random = 1;
    for (int& cell : cells) cell = (random = random * 1664525u + 1013904223u) >> 30 == 0;
    a.copyFrom(cells.data());
    b.copyFrom(cells.data());
    raw.upload(cells.data());
    for (std::size_t d = 0; d < raw.devices(); ++d) {
      globals.push_back({groups(raw.slicesOf(d), kBand)});
      setSizes(raw.kernel(d), {n, raw.slicesOf(d), kBand});
    }
  }
  void ours() {
    for (int i = 0; i < steps; ++i) {
      eval(lifeOfWords)(PART1(b, 1), PART1(a, 1));
      b.syncGhosts();
      swap(a, b);
    }
  }
  void twin() {
    for (int i = 0; i < steps; ++i) raw.step<1>(globals, {1});
  }
  bool agree() {
    std::vector<int> mine(size * size), other(size * size);
    a.copyTo(mine.data());
    raw.download(other.data());
    return mine == other;
  }
};

struct BestJacobiPair {
  static constexpr std::size_t kBand = 16;
  static constexpr std::size_t kPlanes = 8;
  std::size_t size;
  int steps;
  Cube a, b;
  perf::RawStencil raw;
  std::vector<std::array<std::size_t, 2>> globals;

  BestJacobiPair(std::size_t n, int count)
      : size(n),
        steps(count),
        a(n, n, n),
        b(n, n, n),
        raw(devicesHere(), kBestJacobi.c_str(), "jacobi7", n, n * n * sizeof(float)) {
    std::vector<float> cells(n * n * n, 0.0f);
    for (std::size_t i = 0; i < n * n; ++i) cells[i] = 1.0f;
    a.copyFrom(cells.data());
    b.copyFrom(cells.data());
    raw.upload(cells.data());
    for (std::size_t d = 0; d < raw.devices(); ++d) {
      globals.push_back({groups(n - 2, kBand), groups(raw.slicesOf(d) - 2, kPlanes)});
      setSizes(raw.kernel(d), {n, n, raw.slicesOf(d), kBand, kPlanes});
    }
  }
  void ours() {
    for (int i = 0; i < steps; ++i) {
      eval(jacobi)(PART1(b, 1), PART1(a, 1));
      b.syncGhosts();
      swap(a, b);
    }
  }
  void twin() {
    for (int i = 0; i < steps; ++i) raw.step<2>(globals, {1, 1});
  }
  /// The last digits depend on how the six neighbours are summed up.
  bool agree() {
    std::vector<float> mine(size * size * size), other(size * size * size);
    a.copyTo(mine.data());
    raw.download(other.data());
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (std::abs(mine[i] - other[i]) > 1e-5f) return false;
    return true;
  }
};

double processorSeconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Medians of processor time per unit of work, as perf::registerPair reports them of time.
template <class Ours, class Twin, class Settle>
void registerProcessorPair(const char* name, clockid_t clock, double calls, Ours ours, Twin twin,
                           Settle settle) {
  const auto secondsOf = [clock, settle](auto& work) {
    const double begin = processorSeconds(clock);
    work();
    const double took = processorSeconds(clock) - begin;
    settle();
    return took;
  };
  const auto measure = [=](benchmark::State& state) mutable {
    std::vector<double> a, b;
    for (auto _ : state) {
      a.push_back(secondsOf(ours));
      b.push_back(secondsOf(twin));
      state.SetIterationTime(a.back() / calls);
    }
    state.counters["ours_us"] = perf::median(a) / calls * 1e6;
    state.counters["twin_us"] = perf::median(b) / calls * 1e6;
    state.counters["ratio"] = perf::median(a) / perf::median(b);
  };
  benchmark::RegisterBenchmark(name, measure)
      ->UseManualTime()
      ->Iterations(15)
      ->Unit(benchmark::kMicrosecond);
}

void require(bool same, const char* what) {
  if (same) return;
  std::fprintf(stderr, "%s: library and twin differ\n", what);
  std::exit(1);
}

/// Nothing is measured: small sizes, which neither devices nor bands nor vectors divide.
template <class Pair>
void checkPair(std::size_t size, const char* what) {
  Pair pair(size, 7);
  pair.ours();
  pair.twin();
  require(pair.agree(), what);
  std::printf("%s: library and twin agree\n", what);
}

int checkAll() {
  checkPair<LifePair>(66, "life of bytes");
  checkPair<BestLifePair>(101, "life");
  checkPair<BestJacobiPair>(37, "jacobi3d");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--check") return checkAll();
  const std::size_t devices = devicesHere().size();
  LifePair small(64, 200);
  BestLifePair large(2048, 50);
  BestJacobiPair cube(160, 30);
  small.ours();
  small.twin();
  require(small.agree(), "life");
  const auto settle = [&] {
    syncAll();
    small.raw.finish();
  };
  perf::registerPair(
      "distributed/host_cost", 200.0 * static_cast<double>(devices), [&] { small.ours(); },
      [&] { small.twin(); }, settle);
  registerProcessorPair(
      "distributed/host_cost_processor", CLOCK_THREAD_CPUTIME_ID,
      200.0 * static_cast<double>(devices), [&] { small.ours(); }, [&] { small.twin(); }, settle);
  const auto registerStep = [&](const char* name, LifePair& pair, void (LifePair::*step)()) {
    (pair.*step)();
    pair.twin();
    require(pair.agree(), name);
    perf::registerPair(
        name, 200.0 * static_cast<double>(devices), [&pair, step] { (pair.*step)(); },
        [&pair] { pair.twin(); },
        [&pair] {
          syncAll();
          pair.raw.finish();
        });
  };
  LifePair divided(64, 200), synced(64, 200);
  registerStep("distributed/host_cost_automatic", divided, &LifePair::automatic);
  registerStep("distributed/host_cost_auto_sync", synced, &LifePair::autoSync);
  const auto largeOurs = [&] {
    large.ours();
    syncAll();
  };
  const auto largeTwin = [&] {
    large.twin();
    large.raw.finish();
  };
  const auto cubeOurs = [&] {
    cube.ours();
    syncAll();
  };
  const auto cubeTwin = [&] {
    cube.twin();
    cube.raw.finish();
  };
  perf::registerPair("distributed/life_2048", 50, largeOurs, largeTwin);
  perf::registerPair("distributed/jacobi3d_160", 30, cubeOurs, cubeTwin);
  registerProcessorPair("distributed/life_2048_processor", CLOCK_PROCESS_CPUTIME_ID, 50, largeOurs,
                        largeTwin, [] {});
  registerProcessorPair("distributed/jacobi3d_160_processor", CLOCK_PROCESS_CPUTIME_ID, 30,
                        cubeOurs, cubeTwin, [] {});
  const int code = perf::runAll(argc, argv);
  require(large.agree(), "life");
  require(cube.agree(), "jacobi3d");
  return code;
}
