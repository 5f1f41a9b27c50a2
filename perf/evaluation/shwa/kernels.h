// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/shwa/kernels.h"

/// `shwa` as plain kernels.
namespace evaluation::shwa {

using namespace samples::shwa;  // NOLINT: what kernels have in common with the sample

// [style: plain]
template <class Y, class X>
Side side(const Water& water, const Heights& ground, const Y& y, const X& x, bool alongX) {
  return sideOf(water[y][x], ground[y][x], alongX);
}
// [end]

// [style: plain]
/// Kernel 1: what flows into each cell through its four faces, and the speed of its fastest wave.
/// The cells of the ring are the wall: nothing changes there.
inline void flows(Water change, Heights speed, const Water& water, const Heights& ground) {
  if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy) {
    Side here = side(water, ground, idy, idx, true);
    change[idy][idx] = inflow(
        here, side(water, ground, idy, idx - 1, true), side(water, ground, idy, idx + 1, true),
        side(water, ground, idy - 1, idx, false), side(water, ground, idy + 1, idx, false));
    Float depth = water[idy][idx].x;
    speed[idy][idx] = waveSpeed(here, depth);
  }
  else_ {
    change[idy][idx] = make<float4>(0.0f, 0.0f, 0.0f, 0.0f);
    speed[idy][idx] = 0.0f;
  }
}
// [end]

// [style: plain, template]
/// Kernel 2, first part: the fastest waves of each row, whose cells szx threads share among
/// themselves. All of them go equally far, so that a CPU's vectors can hold several: some look at
/// cells twice.
inline void fastestOfRows(Array<float, 2> fastest, const Heights& speed, Int columns) {
  Float most = 0.0f;
  Int lanes = cast<int>(szx), rest = columns - lanes;
  if_(rest < 0) {
    for_(Int x = 0, x < columns, x++) {
      most = fmax(most, speed[idy][x]);
    }
  }
  else_ {
    for_(Int x = 0, x < rest, x += lanes) {
      most = fmax(most, speed[idy][x + cast<int>(idx)]);
    }
    most = fmax(most, speed[idy][rest + cast<int>(idx)]);
  }
  fastest[idy][idx] = most;
}

/// Kernel 2, second part: the time step for all cells, and the time. One work-group, for `rows` x
/// `columns` values of the first part. `reach` is how far the fastest wave may go, in metres. The
/// time is summed up with compensation (W. Kahan).
inline void advanceClock(Array<float, 1> clock, const Array<float, 2>& fastest, Int rows,
                         Int columns, Float reach) {
  Float most = 0.0f, mostOfAll;
  for_(Int y = lidx, y < rows, y += cast<int>(lszx)) {
    for_(Int x = 0, x < columns, x++) {
      most = fmax(most, fastest[y][x]);
    }
  }
  reduce(mostOfAll, most, "max");
  if_(lidx == 0) {
    Float step = reach / fmax(mostOfAll, 1e-6f);
    Float due = step - clock[kLost], before = clock[kTime];
    Float time = before + due;
    clock[kStep] = step;
    clock[kTime] = time;
    clock[kLost] = (time - before) - due;
  }
}
// [end]

/// Copies water, or changes of it.
inline void copyWater(Water water, const Water& from) { water[idy][idx] = from[idy][idx]; }

}  // namespace evaluation::shwa
