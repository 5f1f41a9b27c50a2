// SPDX-License-Identifier: Apache-2.0
// Devices with other local memories and vectors share an iteration: what the library chooses by the
// first one must suit all. Where all devices are alike these are tests of several devices.
#include <doctest/doctest.h>

#include <array>
#include <tuple>
#include <vector>

#include "stencil_support.h"

namespace unlike_devices_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

template <class T, int N>
Array<T, N> picture(const std::array<int, N>& extents) {
  Array<T, N> array = std::apply([](auto... n) { return Array<T, N>(n...); }, extents);
  std::vector<T> cells(array.size());
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<T>((31 * i + i / 17) % 101);
  array.copyFrom(cells.data());
  return array;
}

/// An iteration as the library chooses it, on all devices, and one step after another on one.
template <class T, int N>
void checkIteration(Stencil stencil, const std::array<int, N>& extents, int steps) {
  CAPTURE(steps);
  Array<T, N> now = picture<T, N>(extents), next = picture<T, N>(extents);
  Array<T, N> plain = picture<T, N>(extents), other = picture<T, N>(extents);
  stencil.devices().fp(STRICT).iterate(steps)(now, next);
  stencil.timeTile(1).fp(STRICT).iterate(steps)(plain, other);
  CHECK(cellsOf(now) == cellsOf(plain));
}

Stencil star() {
  return Stencil([](Neighbourhood<float, 2> p) {
    return 0.2f * (p(0, 0) + p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
  });
}

Stencil starOfPlanes() {
  return Stencil([](Neighbourhood<float, 3> p) {
    return 0.125f * (p(-1, 0, 0) + p(1, 0, 0) + p(0, -1, 0) + p(0, 1, 0) + p(0, 0, -1) +
                     p(0, 0, 1) + 2.0f * p(0, 0, 0));
  });
}

/// Six functions with temporaries of 16 bytes between them: boxes of one step need more than 32
/// KiB.
void addChain(StencilProgram& program, Array<float4, 2>& from, Array<float4, 2>& to,
              std::array<Temporary<float4, 2>, 5>& between) {
  Stencil blur([](Neighbourhood<float4, 2> p) {
    return 0.125f * (p(-2, 0) + p(2, 0) + p(0, -2) + p(0, 2)) + 0.5f * p(0, 0);
  });
  blur.boundary(Nearest());
  program.apply(blur)(from, between[0]);
  for (std::size_t k = 1; k < between.size(); ++k) program.apply(blur)(between[k - 1], between[k]);
  program.apply(blur)(between.back(), to);
}

}  // namespace

TEST_CASE("stencils: steps per pass suit the device with the smallest local memory") {
  for (const Boundary& boundary :
       {Boundary(Nearest()), Boundary(Fixed(3.0f)), Boundary(Mirror())}) {
    checkIteration<float, 2>(star().boundary(boundary), {700, 900}, 70);
    checkIteration<float, 3>(starOfPlanes().boundary(boundary), {40, 50, 70}, 30);
  }
  // The ends of the first dimension are joined.
  checkIteration<float, 2>(star().boundary(Periodic()), {700, 900}, 70);
}

TEST_CASE("stencils: functions that are fused on one device and fit on no other are run apart") {
  const auto after = [](bool isChosen) {
    Array<float4, 2> from(96, 128), to(96, 128);
    std::vector<float> cells(from.size() * 4);
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<float>((31 * i) % 101);
    from.copyFrom(reinterpret_cast<const float4*>(cells.data()));
    std::array<Temporary<float4, 2>, 5> between;
    StencilProgram program;
    program.fp(STRICT);
    if (isChosen) {
      program.devices();
    } else {
      program.fuse(false);
    }
    addChain(program, from, to, between);
    program.run(1);
    program.run(3);
    to.copyTo(reinterpret_cast<float4*>(cells.data()));
    return cells;
  };
  CHECK(after(true) == after(false));
}

}  // namespace unlike_devices_tests
