// SPDX-License-Identifier: Apache-2.0
// Kernels with barriers: group by group in loops of the library's against the kernel as it is
// written, whose groups the device's driver runs.
#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "pairs.h"

using namespace hpl;

namespace {

using Line = Array<float, 1>;
using Plane = Array<float, 2>;
constexpr int kCells = 1 << 22, kBodies = 1 << 14, kSide = 2048, kProduct = 512, kTile = 16;

template <int kGroup>
void turned(Line out, const Line& in) {
  Array<float, 1, Local> tile(kGroup);
  tile[lidx] = in[idx];
  barrier(LOCAL);
  out[idx] = tile[kGroup - 1 - cast<int>(lidx)];
}

template <int kGroup>
void neighbours(Line out, const Line& in) {
  Array<float, 1, Local> tile(kGroup);
  tile[lidx] = in[idx];
  barrier(LOCAL);
  Float sum = tile[lidx];
  if_(lidx > 0) {
    sum += tile[lidx - 1];
  }
  if_(lidx + 1 < kGroup) {
    sum += tile[lidx + 1];
  }
  out[idx] = 0.3f * sum;
}

template <int kGroup>
void tree(Line out, const Line& in) {
  Array<float, 1, Local> sums(kGroup);
  sums[lidx] = in[idx];
  barrier(LOCAL);
  for (int half = kGroup / 2; half > 0; half /= 2) {
    if_(lidx < half) {
      sums[lidx] += sums[lidx + half];
    }
    barrier(LOCAL);
  }
  if_(lidx == 0) {
    out[gidx] = sums[0];
  }
}

template <int kGroup>
void loopedTree(Line out, const Line& in) {
  Array<float, 1, Local> sums(kGroup);
  sums[lidx] = in[idx];
  barrier(LOCAL);
  for_(Int half = kGroup / 2, half > 0, half /= 2) {
    if_(cast<int>(lidx) < half) {
      sums[lidx] += sums[cast<int>(lidx) + half];
    }
    barrier(LOCAL);
  }
  if_(lidx == 0) {
    out[gidx] = sums[0];
  }
}

template <int kGroup>
void scan(Line out, const Line& in) {
  Array<float, 1, Local> sums(kGroup);
  sums[lidx] = in[idx];
  barrier(LOCAL);
  for_(Int apart = 1, apart < kGroup, apart *= 2) {
    Float other = 0.0f;
    if_(cast<int>(lidx) >= apart) {
      other = sums[cast<int>(lidx) - apart];
    }
    barrier(LOCAL);
    sums[lidx] += other;
    barrier(LOCAL);
  }
  out[idx] = sums[lidx];
}

template <int kGroup>
void forces(Line out, const Line& in) {
  Array<float, 1, Local> tile(kGroup);
  Float own = in[idx], sum = 0.0f;
  for_(Int begin = 0, begin < kBodies, begin += kGroup) {
    tile[lidx] = in[begin + cast<int>(lidx)];
    barrier(LOCAL);
    for_(Int k = 0, k < kGroup, k++) {
      Float apart = tile[k] - own;
      Float square = apart * apart + 0.01f;
      sum += apart / (square * sqrt(square));
    }
    barrier(LOCAL);
  }
  out[idx] = sum;
}

void product(Plane c, const Plane& a) {
  Array<float, 2, Local> left(kTile, kTile), right(kTile, kTile);
  Float sum = 0.0f;
  for_(Int begin = 0, begin < kProduct, begin += kTile) {
    left[lidy][lidx] = a[idy][begin + cast<int>(lidx)];
    right[lidy][lidx] = a[begin + cast<int>(lidy)][idx];
    barrier(LOCAL);
    for_(Int k = 0, k < kTile, k++) {
      sum += left[lidy][k] * right[k][lidx];
    }
    barrier(LOCAL);
  }
  c[idy][idx] = sum;
}

void aboveAndBelow(Plane out, const Plane& in) {
  Array<float, 2, Local> tile(kTile + 2, kTile);
  tile[lidy + 1][lidx] = in[idy][idx];
  if_(lidy == 0 && idy > 0) {
    tile[0][lidx] = in[idy - 1][idx];
  }
  if_(lidy == kTile - 1 && idy + 1 < szy) {
    tile[kTile + 1][lidx] = in[idy + 1][idx];
  }
  barrier(LOCAL);
  if_(idy > 0 && idy + 1 < szy) {
    out[idy][idx] = tile[lidy][lidx] + tile[lidy + 2][lidx];
  }
}

/// Launches of a kernel in a strategy. `kWay` sets the kernels of the two apart, each of which has
/// one plan.
template <int kWay, class A, class Body>
std::function<void()> launches(Body body, A& out, A& in, Domain global, Domain local,
                               runtime::Strategy strategy) {
  const runtime::Settings before = runtime::settings();
  runtime::Settings wanted = before;
  wanted.strategy = strategy;
  wanted.tune = runtime::TuneMode::Off;
  runtime::overrideSettings(wanted);
  FRunner runner =
      eval([body](A to, const A& from) { body(to, from); }).global(global).local(local)(out, in);
  runtime::overrideSettings(before);
  return [runner]() mutable {
    runner.run();
    runner.wait();
  };
}

template <class A, class Body>
void compare(const std::string& name, Body body, A& out, A& in, Domain global, Domain local) {
  perf::registerPair("groups/" + name, 1,
                     launches<0>(body, out, in, global, local, runtime::Strategy::Rows),
                     launches<1>(body, out, in, global, local, runtime::Strategy::Direct));
}

}  // namespace

int main(int argc, char** argv) {
  Line in(kCells), out(kCells);
  Plane plane(kSide, kSide), result(kSide, kSide), left(kProduct, kProduct), c(kProduct, kProduct);
  in = 1.0f;
  out = 0.0f;
  plane = 1.0f;
  result = 0.0f;
  left = 0.5f;
  c = 0.0f;
  const auto line = [&](const char* name, auto body, int group) {
    compare(name, body, out, in, Domain(kCells), Domain(group));
  };
  line("turned_64", turned<64>, 64);
  line("neighbours_16", neighbours<16>, 16);
  line("neighbours_256", neighbours<256>, 256);
  line("tree_256", tree<256>, 256);
  line("looped_tree_256", loopedTree<256>, 256);
  line("scan_256", scan<256>, 256);
  compare("forces_256", forces<256>, out, in, Domain(kBodies), Domain(256));
  compare("product_512", product, c, left, Domain(kProduct, kProduct), Domain(kTile, kTile));
  compare("above_and_below_2048", aboveAndBelow, result, plane, Domain(kSide, kSide),
          Domain(kTile, kTile));
  return perf::runAll(argc, argv);
}
