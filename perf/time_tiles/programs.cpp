// SPDX-License-Identifier: Apache-2.0
#include "time_tiles/programs.h"

#include <algorithm>
#include <cmath>

namespace perf::time_tiles {
namespace {

using namespace hpl;

Cells someCells(const Extents& n, unsigned seed) {
  Cells cells(static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) *
              static_cast<std::size_t>(n[2]));
  unsigned state = seed;
  for (float& cell : cells) {
    state = state * 1664525u + 1013904223u;
    cell = static_cast<float>(state >> 8) / (1 << 24);
  }
  return cells;
}

template <int N>
Array<float, N> arrayOf(const Cells& cells, const Extents& n) {
  Array<float, N> array;
  if constexpr (N == 1) array = Array<float, 1>(n[2]);
  if constexpr (N == 2) array = Array<float, 2>(n[1], n[2]);
  if constexpr (N == 3) array = Array<float, 3>(n[0], n[1], n[2]);
  array.copyFrom(cells.data());
  return array;
}

/// Makes a handle name another array.
template <int N>
void renew(Array<float, N>& array, const Cells& cells, const Extents& n) {
  Array<float, N> fresh = arrayOf<N>(cells, n);
  swap(array, fresh);
}

double largest(const float* a, const Cells& b) {
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

/// A stencil of one array.
template <class F, int N>
class Single final : public Program {
 public:
  Single(const char* name, int rim)
      : Program(name), rim_(rim), stencil_([](Neighbourhood<float, N> p) { return F()(p); }) {
    stencil_.label(name);
  }

  void begin(const Extents& extents) override {
    n_ = extents;
    start_ = someCells(n_, 1);
    renew<N>(now_, start_, n_);
    renew<N>(next_, start_, n_);
    host_[0] = host_[1] = start_;
  }
  void run(int steps, const Shape& shape) override {
    StencilLauncher on = stencil_.device(Device());
    if (shape.depth > 0) on.timeTile(shape.depth, shape.tile);
    on.iterate(steps)(now_, next_);
  }
  void runOpenMp(int steps) override {
    for (int s = 0; s < steps; ++s) {
      openMpStep(F(), rim_, n_, host_[0].data(), host_[1].data());
      std::swap(host_[0], host_[1]);
    }
  }
  double difference(int steps) override {
    Cells now = start_, next = start_;
    for (int s = 0; s < steps; ++s) {
      hostStep(F(), rim_, n_, now.data(), next.data());
      std::swap(now, next);
    }
    return largest(now_.data(HPL_RD), now);
  }
  void finish() override { Device().sync(); }

 private:
  int rim_;
  Stencil stencil_;
  Extents n_{1, 1, 1};
  Cells start_;
  Cells host_[2];
  Array<float, N> now_, next_;
};

class RicianProgram final : public Program {
 public:
  RicianProgram()
      : Program("Rician denoising"),
        stencil_(
            [](Neighbourhood<float, 2> u, Neighbourhood<float, 2> f) { return Rician()(u, f); }) {
    stencil_.label(name());
  }

  void begin(const Extents& extents) override {
    n_ = extents;
    start_ = someCells(n_, 2);
    image_ = someCells(n_, 3);
    renew<2>(now_, start_, n_);
    renew<2>(next_, start_, n_);
    renew<2>(noisy_, image_, n_);
    host_[0] = host_[1] = start_;
  }
  void run(int steps, const Shape& shape) override {
    StencilLauncher on = stencil_.device(Device());
    if (shape.depth > 0) on.timeTile(shape.depth, shape.tile);
    on.iterate(steps)(now_, noisy_, next_);
  }
  void runOpenMp(int steps) override {
    for (int s = 0; s < steps; ++s) {
      openMpStep(Rician(), n_, host_[0].data(), image_.data(), host_[1].data());
      std::swap(host_[0], host_[1]);
    }
  }
  double difference(int steps) override {
    Cells now = start_, next = start_;
    for (int s = 0; s < steps; ++s) {
      hostStep(Rician(), n_, now.data(), image_.data(), next.data());
      std::swap(now, next);
    }
    return largest(now_.data(HPL_RD), now);
  }
  void finish() override { Device().sync(); }

 private:
  Stencil stencil_;
  Extents n_{1, 1, 1};
  Cells start_, image_;
  Cells host_[2];
  Array<float, 2> now_, next_, noisy_;
};

/// Three fields. One by one: a plain kernel for each function, as one would write them.
class Fdtd final : public Program {
 public:
  Fdtd() : Program("Electromagnetics") {}

  void begin(const Extents& extents) override {
    n_ = extents;
    for (std::size_t k = 0; k < 3; ++k) {
      start_[k] = someCells(n_, 4 + static_cast<unsigned>(k));
      host_[k] = start_[k];
    }
    renew<2>(ex_, start_[0], n_);
    renew<2>(ey_, start_[1], n_);
    renew<2>(h_, start_[2], n_);
    program_ = StencilProgram();
    using Field = Neighbourhood<float, 2>;
    const Range rows(1, n_[1] - 2), columns(1, n_[2] - 2);
    program_.label(name());
    program_.apply([](Field e, Field h) { return FdtdX()(e, h); })
        .over(rows, columns)(ex_, h_, ex_);
    program_.apply([](Field e, Field h) { return FdtdY()(e, h); })
        .over(rows, columns)(ey_, h_, ey_);
    program_.apply([](Field h, Field x, Field y) { return FdtdH()(h, x, y); })
        .over(rows, columns)(h_, ex_, ey_, h_);
  }
  void run(int steps, const Shape& shape) override {
    if (shape.depth == 1) return runKernels(steps);
    if (shape.depth > 0) program_.timeTile(shape.depth, shape.tile);
    program_.run(steps);
  }
  void runOpenMp(int steps) override {
    for (int s = 0; s < steps; ++s)
      openMpFdtdStep(n_, host_[0].data(), host_[1].data(), host_[2].data());
  }
  double difference(int steps) override {
    Cells x = start_[0], y = start_[1], h = start_[2];
    for (int s = 0; s < steps; ++s) hostFdtdStep(n_, x.data(), y.data(), h.data());
    return std::max(
        {largest(ex_.data(HPL_RD), x), largest(ey_.data(HPL_RD), y), largest(h_.data(HPL_RD), h)});
  }
  void finish() override { Device().sync(); }

 private:
  static void electric(Array<float, 2> x, Array<float, 2> y, const Array<float, 2> h) {
    if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy) {
      x[idy][idx] = x[idy][idx] - 0.5f * (h[idy][idx] - h[idy][idx - 1]);
      y[idy][idx] = y[idy][idx] - 0.5f * (h[idy][idx] - h[idy - 1][idx]);
    }
  }
  static void magnetic(Array<float, 2> h, const Array<float, 2> x, const Array<float, 2> y) {
    if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy) {
      h[idy][idx] =
          h[idy][idx] - 0.7f * (x[idy][idx + 1] - x[idy][idx] + y[idy + 1][idx] - y[idy][idx]);
    }
  }
  void runKernels(int steps) {
    for (int s = 0; s < steps; ++s) {
      eval(electric)(ex_, ey_, h_);
      eval(magnetic)(h_, ex_, ey_);
    }
  }

  Extents n_{1, 1, 1};
  std::array<Cells, 3> start_, host_;
  Array<float, 2> ex_, ey_, h_;
  StencilProgram program_;
};

template <class F, int N>
Entry entry(const char* name, int rim, const Extents& extents, int steps) {
  return {std::make_unique<Single<F, N>>(name, rim), extents, steps};
}

}  // namespace

std::vector<Entry> allPrograms() {
  constexpr Extents line{1, 1, 1 << 24}, plane{1, 4096, 4096}, cube{256, 256, 256};
  std::vector<Entry> entries;
  entries.push_back(entry<Jacobi1d3, 1>("Jacobi 1-D 3-point", 1, line, 96));
  entries.push_back(entry<Jacobi1d5, 1>("Jacobi 1-D 5-point", 2, line, 96));
  entries.push_back(entry<Jacobi1d7, 1>("Jacobi 1-D 7-point", 3, line, 96));
  entries.push_back(entry<Jacobi2d, 2>("Jacobi 2-D 5-point", 1, plane, 96));
  entries.push_back(entry<Jacobi3d, 3>("Jacobi 3-D 7-point", 1, cube, 48));
  entries.push_back(entry<Poisson, 2>("Poisson", 1, plane, 96));
  entries.push_back({std::make_unique<Fdtd>(), plane, 48});
  entries.push_back({std::make_unique<RicianProgram>(), plane, 24});
  entries.push_back(entry<Gradient, 2>("Gradient", 1, plane, 48));
  entries.push_back(entry<TotalVariation, 2>("TV update 2-D", 1, plane, 24));
  return entries;
}

}  // namespace perf::time_tiles
