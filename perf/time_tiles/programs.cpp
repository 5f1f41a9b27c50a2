// SPDX-License-Identifier: Apache-2.0
#include "time_tiles/programs.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace perf::time_tiles {
namespace {

using namespace hpl;

/// Numbers between 0 and 1, or one of them.
template <class T = float>
CellsOf<T> someCells(const Extents& n, unsigned seed) {
  CellsOf<T> cells(static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) *
                   static_cast<std::size_t>(n[2]));
  unsigned state = seed;
  for (T& cell : cells) {
    state = state * 1664525u + 1013904223u;
    if constexpr (std::is_floating_point_v<T>) {
      cell = static_cast<T>(state >> 8) / (1 << 24);
    } else {
      cell = static_cast<T>(state >> 31);
    }
  }
  return cells;
}

template <int N, class T>
Array<T, N> arrayOf(const CellsOf<T>& cells, const Extents& n) {
  Array<T, N> array;
  if constexpr (N == 1) array = Array<T, 1>(n[2]);
  if constexpr (N == 2) array = Array<T, 2>(n[1], n[2]);
  if constexpr (N == 3) array = Array<T, 3>(n[0], n[1], n[2]);
  array.copyFrom(cells.data());
  return array;
}

/// Makes a handle name another array.
template <int N, class T>
void renew(Array<T, N>& array, const CellsOf<T>& cells, const Extents& n) {
  Array<T, N> fresh = arrayOf<N>(cells, n);
  swap(array, fresh);
}

template <class T>
double largest(const T* a, const CellsOf<T>& b) {
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

StencilLauncher launcherFor(Stencil& stencil, const Shape& shape) {
  StencilLauncher on = stencil.device(Device());
  if (shape.depth > 0) on.timeTile(shape.depth, shape.tile);
  return on;
}

/// A stencil of one array.
template <class F, int N, class T = float>
class Single final : public Program {
 public:
  Single(const char* name, int rim)
      : Program(name), rim_(rim), stencil_([](Neighbourhood<T, N> p) { return F()(p); }) {
    stencil_.label(name);
  }

  void begin(const Extents& extents) override {
    n_ = extents;
    start_ = someCells<T>(n_, 1);
    renew<N>(now_, start_, n_);
    renew<N>(next_, start_, n_);
    host_[0] = host_[1] = start_;
  }
  void run(int steps, const Shape& shape) override {
    launcherFor(stencil_, shape).iterate(steps)(now_, next_);
  }
  TuneResult tune(int steps, const TuneOptions& options) override {
    return stencil_.device(Device()).iterate(steps).tuning(options).tune(now_, next_);
  }
  void runOpenMp(int steps) override {
    for (int s = 0; s < steps; ++s) {
      openMpStep(F(), rim_, n_, std::as_const(host_[0]).data(), host_[1].data());
      std::swap(host_[0], host_[1]);
    }
  }
  double difference(int steps) override {
    CellsOf<T> now = start_, next = start_;
    for (int s = 0; s < steps; ++s) {
      hostStep(F(), rim_, n_, std::as_const(now).data(), next.data());
      std::swap(now, next);
    }
    return largest(now_.data(HPL_RD), now);
  }
  void finish() override { Device().sync(); }

 private:
  int rim_;
  Stencil stencil_;
  Extents n_{1, 1, 1};
  CellsOf<T> start_;
  CellsOf<T> host_[2];
  Array<T, N> now_, next_;
};

/// The stencil of samples/heat2d.cpp: zero beyond the grid. In plain C++ a rim of zeros says so.
class HeatProgram final : public Program {
 public:
  HeatProgram()
      : Program("heat2d"), stencil_([](Neighbourhood<float, 2> t, Float rate) {
          return t(0, 0) + rate * (t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1) - 4.0f * t(0, 0));
        }) {
    stencil_.label(name()).boundary(Fixed(0.0f));
  }

  void begin(const Extents& extents) override {
    n_ = extents;
    framed_ = {1, extents[1] + 2, extents[2] + 2};
    const Cells start = someCells(n_, 7);
    renew<2>(now_, start, n_);
    renew<2>(next_, start, n_);
    start_.assign(static_cast<std::size_t>(framed_[1]) * static_cast<std::size_t>(framed_[2]), 0);
    for (int y = 0; y < n_[1]; ++y)
      std::copy_n(start.begin() + std::ptrdiff_t{y} * n_[2], n_[2],
                  start_.begin() + std::ptrdiff_t{y + 1} * framed_[2] + 1);
    host_[0] = host_[1] = start_;
  }
  void run(int steps, const Shape& shape) override {
    launcherFor(stencil_, shape).iterate(steps)(now_, next_, kRate);
  }
  TuneResult tune(int steps, const TuneOptions& options) override {
    return stencil_.device(Device()).iterate(steps).tuning(options).tune(now_, next_, kRate);
  }
  void runOpenMp(int steps) override {
    for (int s = 0; s < steps; ++s) {
      openMpStep(Heat(), 1, framed_, std::as_const(host_[0]).data(), host_[1].data());
      std::swap(host_[0], host_[1]);
    }
  }
  double difference(int steps) override {
    Cells now = start_, next = start_;
    for (int s = 0; s < steps; ++s) {
      hostStep(Heat(), 1, framed_, std::as_const(now).data(), next.data());
      std::swap(now, next);
    }
    Cells inner;
    for (int y = 0; y < n_[1]; ++y) {
      const auto row = now.begin() + std::ptrdiff_t{y + 1} * framed_[2] + 1;
      inner.insert(inner.end(), row, row + n_[2]);
    }
    return largest(now_.data(HPL_RD), inner);
  }
  void finish() override { Device().sync(); }

 private:
  static constexpr float kRate = 0.2f;
  Stencil stencil_;
  Extents n_{1, 1, 1}, framed_{1, 1, 1};
  Cells start_;
  Cells host_[2];
  Array<float, 2> now_, next_;
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
    launcherFor(stencil_, shape).iterate(steps)(now_, noisy_, next_);
  }
  TuneResult tune(int steps, const TuneOptions& options) override {
    return stencil_.device(Device()).iterate(steps).tuning(options).tune(now_, noisy_, next_);
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
    StencilProgram own = program_;
    if (shape.depth > 0) own.timeTile(shape.depth, shape.tile);
    own.run(steps);
  }
  TuneResult tune(int steps, const TuneOptions& options) override {
    return program_.tuning(options).tune(steps);
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

template <class F, int N, class T = float>
Entry entry(const char* name, int rim, const Extents& extents, int steps) {
  return {std::make_unique<Single<F, N, T>>(name, rim), extents, steps};
}

}  // namespace

std::vector<Entry> allPrograms() {
  constexpr Extents line{1, 1, 1 << 24}, plane{1, 4096, 4096}, cube{256, 256, 256};
  constexpr Extents small{1, 2048, 2048}, large{1, 8192, 8192};
  std::vector<Entry> entries;
  entries.push_back({std::make_unique<HeatProgram>(), plane, 1000});
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
  entries.push_back(entry<Jacobi3dWide, 3>("Jacobi 3-D 13-point", 2, cube, 48));
  entries.push_back(entry<Life, 2, int>("LIFE 2048 x 2048", 1, small, 192));
  entries.push_back(entry<Life, 2, int>("LIFE 8192 x 8192", 1, large, 48));
  entries.push_back(entry<Life, 2, unsigned char>("LIFE of bytes", 1, large, 48));
  return entries;
}

}  // namespace perf::time_tiles
