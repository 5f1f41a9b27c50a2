// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"

/// The stencil of the node-aware paper's experiments: four single-precision quantities, radius 3,
/// all 26 neighbours.
namespace node_aware {

inline constexpr int kQuantities = 4;
inline constexpr int kHalo = 3;
using Cube = hpl::Array<float, 3>;

/// Reads the eight corners of the neighbourhood, of each quantity.
inline void corners(Cube a1, Cube b1, Cube c1, Cube d1, const Cube& a, const Cube& b, const Cube& c,
                    const Cube& d) {
  using namespace hpl;
  static constexpr int r = kHalo;
  if_(idx >= r && idx + r < szx && idy >= r && idy + r < szy && idz >= r && idz + r < szz) {
    const auto sum = [](const Cube& q) {
      return q[idz - r][idy - r][idx - r] + q[idz - r][idy - r][idx + r] +
             q[idz - r][idy + r][idx - r] + q[idz - r][idy + r][idx + r] +
             q[idz + r][idy - r][idx - r] + q[idz + r][idy - r][idx + r] +
             q[idz + r][idy + r][idx - r] + q[idz + r][idy + r][idx + r];
    };
    a1[idz][idy][idx] = 0.125f * sum(a);
    b1[idz][idy][idx] = 0.125f * sum(b);
    c1[idz][idy][idx] = 0.125f * sum(c);
    d1[idz][idy][idx] = 0.125f * sum(d);
  }
}

}  // namespace node_aware
