// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stencils/openmp_kernels.h"

namespace perf::stencils::openmp {
namespace {

using Index = std::ptrdiff_t;

constexpr float kGravity = 9.81f;
constexpr float kThinnest = 1e-4f;

struct Side {
  float ground, level, towards, past, concentration;
};

struct Flow {
  float mass, before, after, past, pollutant;
};

inline Side side(const float* cell, float ground, bool alongX) {
  const float depth = cell[0];
  const float u = depth > kThinnest ? cell[1] / depth : 0.0f;
  const float v = depth > kThinnest ? cell[2] / depth : 0.0f;
  const float concentration = depth > 0.0f ? cell[3] / depth : 0.0f;
  return {ground, depth + ground, alongX ? u : v, alongX ? v : u, concentration};
}

inline Flow across(const Side& l, const Side& r) {
  const float sill = std::max(l.ground, r.ground);
  const float hl = std::max(l.level - sill, 0.0f), hr = std::max(r.level - sill, 0.0f);
  const float cl = std::sqrt(kGravity * hl), cr = std::sqrt(kGravity * hr);
  const float left =
      std::min(std::min(l.towards - cl, r.towards - (hl > 0.0f ? cr : 2.0f * cr)), 0.0f);
  const float right =
      std::max(std::max(r.towards + cr, l.towards + (hr > 0.0f ? cl : 2.0f * cl)), 0.0f);
  const float ql = hl * l.towards, qr = hr * r.towards;
  const float pl = 0.5f * kGravity * hl * hl, pr = 0.5f * kGravity * hr * hr;
  const float ml = ql * l.towards + pl, mr = qr * r.towards + pr;
  const float weight = left / std::max(right - left, 1e-12f);
  const float mass = ql - weight * ((qr - ql) - right * (hr - hl));
  const float momentum = ml - weight * ((mr - ml) - right * (qr - ql));
  const bool forward = mass > 0.0f;
  return {mass, momentum - pl, momentum - pr, mass * (forward ? l.past : r.past),
          mass * (forward ? l.concentration : r.concentration)};
}

}  // namespace

float flows(float* change, const float* water, const float* ground, int w, int h) {
  float fastest = 0;
#pragma omp parallel for schedule(static) reduction(max : fastest)
  for (int y = 1; y < h - 1; ++y) {
    const float* q = water + 4 * static_cast<Index>(y) * w;
    const float* g = ground + static_cast<Index>(y) * w;
    float* o = change + 4 * static_cast<Index>(y) * w;
#pragma omp simd reduction(max : fastest)
    for (int x = 1; x < w - 1; ++x) {
      const Side here = side(q + 4 * x, g[x], true);
      const Side hereY = {here.ground, here.level, here.past, here.towards, here.concentration};
      const Flow west = across(side(q + 4 * x - 4, g[x - 1], true), here);
      const Flow east = across(here, side(q + 4 * x + 4, g[x + 1], true));
      const Flow north = across(side(q + 4 * (x - w), g[x - w], false), hereY);
      const Flow south = across(hereY, side(q + 4 * (x + w), g[x + w], false));
      o[4 * x] = (west.mass - east.mass) + (north.mass - south.mass);
      o[4 * x + 1] = (west.after - east.before) + (north.past - south.past);
      o[4 * x + 2] = (west.past - east.past) + (north.after - south.before);
      o[4 * x + 3] = (west.pollutant - east.pollutant) + (north.pollutant - south.pollutant);
      const float speed =
          std::max(std::fabs(here.towards), std::fabs(here.past)) + std::sqrt(kGravity * q[4 * x]);
      fastest = std::max(fastest, speed);
    }
  }
  return fastest;
}

void update(float* water, const float* change, float factor, int w, int h) {
#pragma omp parallel for schedule(static)
  for (int y = 1; y < h - 1; ++y) {
    float* q = water + 4 * static_cast<Index>(y) * w;
    const float* c = change + 4 * static_cast<Index>(y) * w;
#pragma omp simd
    for (int x = 1; x < w - 1; ++x) {
      const float depth = std::max(q[4 * x] + factor * c[4 * x], 0.0f);
      const float u = q[4 * x + 1] + factor * c[4 * x + 1];
      const float v = q[4 * x + 2] + factor * c[4 * x + 2];
      q[4 * x] = depth;
      q[4 * x + 1] = depth > kThinnest ? u : 0.0f;
      q[4 * x + 2] = depth > kThinnest ? v : 0.0f;
      q[4 * x + 3] = std::max(q[4 * x + 3] + factor * c[4 * x + 3], 0.0f);
    }
  }
}

}  // namespace perf::stencils::openmp
