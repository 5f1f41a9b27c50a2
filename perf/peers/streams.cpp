// SPDX-License-Identifier: Apache-2.0
// Kernels that wait for memory: a fill, sums, a triad and histograms of 2^26 elements.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"

using namespace hpl;

namespace perf::peers {
namespace {

constexpr std::int64_t kCells = std::int64_t{1} << 26;
constexpr int kBins = 256;
using Cells = Array<float, 1>;

std::shared_ptr<Cells> someCells(float first) {
  auto cells = std::make_shared<Cells>(kCells);
  float* p = cells->data(HPL_WR);
  for (std::int64_t i = 0; i < kCells; ++i) p[i] = first + static_cast<float>(i % 3);
  return cells;
}

double sumOf(Cells& cells) {
  double total = 0;
  const float* p = cells.data(HPL_RD);
  for (std::int64_t i = 0; i < kCells; ++i) total += static_cast<double>(p[i]) * (1 + i % 5);
  return total;
}

Row fillRow() {
  auto ours = someCells(0), byHand = someCells(0);
  float* p = byHand->data(HPL_RDWR);
  // Ones in all bytes: some machines write zeros faster than anything else.
  return {
      "fill of 2^26 floats",
      1.11,
      {{"HPL",
        [ours] {
          *ours = 1.0f;
          defaultDevice().sync();
        },
        [ours] { return sumOf(*ours); }},
       {"g++ OpenMP memset", [p] { twins::setBytes(p, 1, kCells); }, nullptr},
       {"g++ OpenMP", [p] { twins::fill(p, 1.0f, kCells); }, [byHand] { return sumOf(*byHand); }}}};
}

constexpr int kItems = 4096;

/// Neighbours read neighbours: GPUs want it so.
void stridedSum(Cells sums, const Cells& x, Long cells) {
  Float sum = 0.0f;
  for_(Long at = cast<long>(idx), at < cells, at += cast<long>(szx)) {
    sum += x[at];
  }
  sums[idx] = sum;
}

constexpr int kGroup = 256;

void sumOfGroup(Cells sums, const Cells& x) {
  Array<float, 1, Local> tree(kGroup);
  tree[lidx] = x[idx];
  barrier(LOCAL);
  for (int half = kGroup / 2; half > 0; half /= 2) {
    if_(lidx < half) {
      tree[lidx] += tree[lidx + half];
    }
    barrier(LOCAL);
  }
  if_(lidx == 0) {
    sums[gidx] = tree[0];
  }
}

/// The kernel adds up into an array, the host adds up that.
template <class Kernel>
std::function<void()> partialSums(Kernel runner, std::shared_ptr<Cells> sums,
                                  std::shared_ptr<double> total) {
  return [=]() mutable {
    runner.run();
    *total = 0;
    const float* p = sums->data(HPL_RD);
    for (std::size_t i = 0; i < sums->size(); ++i) *total += static_cast<double>(p[i]);
  };
}

Row sumRow(const std::string& name, double goal, std::function<void()> run,
           std::shared_ptr<double> result, std::shared_ptr<Cells> x) {
  const float* p = x->data(HPL_RD);
  auto twin = std::make_shared<double>(0);
  return {name,
          goal,
          {{"HPL", std::move(run), [result, x] { return *result; }},
           {"g++ OpenMP", [=] { *twin = static_cast<double>(twins::sum(p, kCells)); },
            [twin] { return *twin; }}}};
}

Row plainSum() {
  auto x = someCells(1);
  auto result = std::make_shared<double>(0);
  return sumRow(
      "sum(x) of 2^26 floats", 1.05,
      [=] { *result = static_cast<double>(static_cast<float>(sum(*x))); }, result, x);
}

Row stridedRow() {
  auto x = someCells(1);
  auto sums = std::make_shared<Cells>(kItems);
  auto result = std::make_shared<double>(0);
  const FRunner runner = eval(stridedSum).global(kItems)(*sums, *x, kCells);
  return sumRow("sum of 2^26 floats, strided kernel", 1.5, partialSums(runner, sums, result),
                result, x);
}

Row groupsRow() {
  auto x = someCells(1);
  auto sums = std::make_shared<Cells>(kCells / kGroup);
  auto result = std::make_shared<double>(0);
  const FRunner runner = eval(sumOfGroup).global(kCells).local(kGroup)(*sums, *x);
  return sumRow("sum of 2^26 floats, trees in groups", 1.5, partialSums(runner, sums, result),
                result, x);
}

void triad(Cells a, const Cells& b, const Cells& c, Float factor) {
  a[idx] = b[idx] + factor * c[idx];
}

Row triadRow() {
  auto b = someCells(1), c = someCells(2), ours = someCells(0), byHand = someCells(0);
  FRunner runner = eval(triad)(*ours, *b, *c, 3.0f);
  float* out = byHand->data(HPL_RDWR);
  const float* p = b->data(HPL_RD);
  const float* q = c->data(HPL_RD);
  return {"triad of 2^26 floats",
          1.02,
          {{"HPL",
            [runner, ours, b, c]() mutable {
              runner.run();
              runner.wait();
            },
            [ours] { return sumOf(*ours); }},
           {"non-temporal stores by hand",
            [=] { twins::triad(out, p, q, 3.0f, kCells, /*pastCaches=*/true); },
            [byHand] { return sumOf(*byHand); }},
           {"g++ OpenMP", [=] { twins::triad(out, p, q, 3.0f, kCells, /*pastCaches=*/false); },
            [byHand] { return sumOf(*byHand); }}}};
}

using Counts = Array<unsigned, 1>;
using Bytes = Array<std::uint8_t, 1>;

void countAtomically(const Bytes& bytes, Counts counts) {
  atomic_inc(counts[cast<int>(bytes[idx])]);
}

double checksum(Counts& counts) {
  double total = 0;
  const unsigned* p = counts.data(HPL_RD);
  for (int i = 0; i < kBins; ++i) total += static_cast<double>(p[i]) * (1 + i % 7);
  return total;
}

struct Histogram {
  Bytes bytes{kCells};
  Counts ours{kBins}, byHand{kBins};
  Histogram() {
    std::uint8_t* p = bytes.data(HPL_WR);
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < kCells; ++i) {
      state = state * 1664525 + 1013904223;
      p[i] = static_cast<std::uint8_t>(state >> 24);
    }
  }
};

Row histogramRow(const std::string& name, std::shared_ptr<Histogram> data,
                 std::function<void()> run) {
  const std::uint8_t* bytes = data->bytes.data(HPL_RD);
  std::uint32_t* counts = data->byHand.data(HPL_WR);
  return {name,
          1.1,
          {{"HPL", std::move(run), [data] { return checksum(data->ours); }},
           {"private copies by hand", [=] { twins::histogram(counts, bytes, kCells); },
            [data] { return checksum(data->byHand); }}}};
}

Row atomicRow() {
  auto data = std::make_shared<Histogram>();
  FRunner runner = eval(countAtomically).global(kCells)(data->bytes, data->ours);
  return histogramRow("histogram of 2^26 bytes, atomics", data, [runner, data]() mutable {
    data->ours = 0u;
    runner.run();
    runner.wait();
  });
}

Row countedRow() {
  auto data = std::make_shared<Histogram>();
  return histogramRow("histogram of 2^26 bytes, histogram()", data, [data] {
    histogram(data->ours, data->bytes);
    defaultDevice().sync();
  });
}

}  // namespace

std::vector<NamedRow> streamRows() {
  return {{"fill", fillRow},         {"sum", plainSum},   {"sum_strided", stridedRow},
          {"sum_groups", groupsRow}, {"triad", triadRow}, {"histogram_atomics", atomicRow},
          {"histogram", countedRow}};
}

}  // namespace perf::peers
