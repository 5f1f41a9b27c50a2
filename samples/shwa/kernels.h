// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/shwa/state.h"
#include "stencil_templates/stencil_templates.h"

/// The kernels of `shwa`: finite volumes of first order. Between two cells flows what the Riemann
/// solver of Harten, Lax and van Leer says; ground of different height is treated by hydrostatic
/// reconstruction (Audusse et al., SIAM J. Sci. Comput. 25, 2004), so that a lake at rest stays at
/// rest and shores may move. Depths cannot get negative while the Courant number is small.
namespace samples::shwa {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

/// Depth, the two discharges and the pollutant of each cell (see Cell), or their changes.
using Water = Array<float4, 2>;
using Heights = Array<float, 2>;

/// Elements of the array `clock`: the step in seconds, the time since the beginning, and what of
/// that time its float could not hold.
constexpr int kStep = 0, kTime = 1, kLost = 2, kClockSize = 3;

// [style: plain, template, point]
/// One side of a face between two cells, seen along the face's normal.
struct Side {
  Float ground, level;  // heights of the ground and of the surface
  Float towards, past;  // velocities along the normal and along the face
  Float concentration;
};

/// The flow across a face per second and metre. Momentum along the normal is told apart for the two
/// cells: each lacks the pressure of its own reconstructed water.
struct Flow {
  Float mass, momentumBefore, momentumAfter, past, pollutant;
};

/// A cell's variables as one side of a face that is crossed along x or along y.
template <class Cell, class Height>
Side sideOf(const Cell& water, const Height& ground, bool alongX) {
  Float4 cell = water;
  Float depth = cell.x, bottom = ground;
  Float u = where(depth > kThinnest, cell.y / depth, 0.0f);
  Float v = where(depth > kThinnest, cell.z / depth, 0.0f);
  Float concentration = where(depth > 0.0f, cell.w / depth, 0.0f);
  return {bottom, depth + bottom, alongX ? u : v, alongX ? v : u, concentration};
}

/// The flow from l to r.
inline Flow across(const Side& l, const Side& r) {
  // The water that stands above the higher one of the two grounds.
  Float sill = fmax(l.ground, r.ground);
  Float hl = fmax(l.level - sill, 0.0f), hr = fmax(r.level - sill, 0.0f);
  Float cl = sqrt(kGravity * hl), cr = sqrt(kGravity * hr);
  // The fastest waves to either side; into a dry cell water runs twice as fast as waves do.
  Float left = fmin(fmin(l.towards - cl, r.towards - where(hl > 0.0f, cr, 2.0f * cr)), 0.0f);
  Float right = fmax(fmax(r.towards + cr, l.towards + where(hr > 0.0f, cl, 2.0f * cl)), 0.0f);
  Float ql = hl * l.towards, qr = hr * r.towards;
  Float pl = 0.5f * kGravity * hl * hl, pr = 0.5f * kGravity * hr * hr;
  Float ml = ql * l.towards + pl, mr = qr * r.towards + pr;
  // As the left side's flow plus what the jump adds, which is exactly 0 in still water.
  Float weight = left / fmax(right - left, 1e-12f);
  Float mass = ql - weight * ((qr - ql) - right * (hr - hl));
  Float momentum = ml - weight * ((mr - ml) - right * (qr - ql));
  return {mass, momentum - pl, momentum - pr, mass * where(mass > 0.0f, l.past, r.past),
          mass * where(mass > 0.0f, l.concentration, r.concentration)};
}

/// The flow into the cell `here` through its four faces. The cells to the west and east, and the
/// cell itself, are sides of faces along x, those to the north and south of faces along y.
inline auto inflow(const Side& here, const Side& toWest, const Side& toEast, const Side& toNorth,
                   const Side& toSouth) {
  Side turned = {here.ground, here.level, here.past, here.towards, here.concentration};
  Flow west = across(toWest, here), east = across(here, toEast);
  Flow north = across(toNorth, turned), south = across(turned, toSouth);
  return make<float4>((west.mass - east.mass) + (north.mass - south.mass),
                      (west.momentumAfter - east.momentumBefore) + (north.past - south.past),
                      (west.past - east.past) + (north.momentumAfter - south.momentumBefore),
                      (west.pollutant - east.pollutant) + (north.pollutant - south.pollutant));
}

/// The speed of a cell's fastest wave.
inline auto waveSpeed(const Side& here, const Float& depth) {
  return fmax(fabs(here.towards), fabs(here.past)) + sqrt(kGravity * depth);
}
// [end]

// [style: point]
/// The flow into a cell through its four faces, and the speed of its fastest wave.
inline void flowsOfCell(Neighbourhood<float4, 2> water, Neighbourhood<float, 2> ground,
                        Output<float4> change, Output<float> speed) {
  Side here = sideOf(water(), ground(), true);
  change = inflow(
      here, sideOf(water(0, -1), ground(0, -1), true), sideOf(water(0, 1), ground(0, 1), true),
      sideOf(water(-1, 0), ground(-1, 0), false), sideOf(water(1, 0), ground(1, 0), false));
  Float4 cell = water();
  Float depth = cell.x;
  speed = waveSpeed(here, depth);
}

/// The time step for all cells, and the time, by one work-item. `reach` is how far the fastest wave
/// may go, in metres. The time is summed up with compensation (W. Kahan).
inline void advanceClock(Array<float, 1> clock, const Array<float, 1>& fastest, Float reach) {
  Float step = reach / fmax(fastest[0], 1e-6f);
  Float due = step - clock[kLost], before = clock[kTime];
  Float time = before + due;
  clock[kStep] = step;
  clock[kTime] = time;
  clock[kLost] = (time - before) - due;
}
// [end]

// [style: plain, template, point]
/// Adds what flowed in during the time step.
inline void update(Water water, const Water& change, const Array<float, 1>& clock, Float cellSize) {
  if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy) {
    Float4 next = water[idy][idx] + (clock[kStep] / cellSize) * change[idy][idx];
    Float depth = fmax(next.x, 0.0f);
    water[idy][idx] = make<float4>(depth, where(depth > kThinnest, next.y, 0.0f),
                                   where(depth > kThinnest, next.z, 0.0f), fmax(next.w, 0.0f));
  }
}
// [end]

}  // namespace samples::shwa
