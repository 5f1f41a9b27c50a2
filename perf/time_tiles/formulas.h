// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

/// The stencil functions of the overlapped tiling paper's table (section 5) and the game of life,
/// over whatever gives neighbours: a kernel's neighbourhoods, or pointers of plain C++. The paper
/// states elements, arrays and operations per point, not the formulas; these have the same elements
/// and arrays and about the same operations.
namespace perf::time_tiles {

struct Jacobi1d3 {
  template <class P>
  auto operator()(const P& p) const {
    return 0.333f * (p(-1) + p(0) + p(1));
  }
};
struct Jacobi1d5 {
  template <class P>
  auto operator()(const P& p) const {
    return 0.2f * (p(-2) + p(-1) + p(0) + p(1) + p(2));
  }
};
struct Jacobi1d7 {
  template <class P>
  auto operator()(const P& p) const {
    return 0.1428f * (p(-3) + p(-2) + p(-1) + p(0) + p(1) + p(2) + p(3));
  }
};
struct Jacobi2d {
  template <class P>
  auto operator()(const P& p) const {
    return 0.2f * (p(-1, 0) + p(0, -1) + p(0, 0) + p(0, 1) + p(1, 0));
  }
};
struct Jacobi3d {
  template <class P>
  auto operator()(const P& p) const {
    return 0.1428f * (p(-1, 0, 0) + p(0, -1, 0) + p(0, 0, -1) + p(0, 0, 0) + p(0, 0, 1) +
                      p(0, 1, 0) + p(1, 0, 0));
  }
};
/// The same with two neighbours in each direction; not of the paper.
struct Jacobi3dWide {
  template <class P>
  auto operator()(const P& p) const {
    return 0.0769f * (p(-2, 0, 0) + p(-1, 0, 0) + p(0, -2, 0) + p(0, -1, 0) + p(0, 0, -2) +
                      p(0, 0, -1) + p(0, 0, 0) + p(0, 0, 1) + p(0, 0, 2) + p(0, 1, 0) + p(0, 2, 0) +
                      p(1, 0, 0) + p(2, 0, 0));
  }
};
/// samples/heat2d.cpp; not of the paper.
struct Heat {
  template <class P>
  auto operator()(const P& p) const {
    return p(0, 0) + 0.2f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1) - 4.0f * p(0, 0));
  }
};
/// Nine points of one array.
struct Poisson {
  template <class P>
  auto operator()(const P& p) const {
    return 0.2f * (p(-1, 0) + p(0, -1) + p(0, 1) + p(1, 0)) +
           0.05f * (p(-1, -1) + p(-1, 1) + p(1, -1) + p(1, 1)) - 0.001f * p(0, 0);
  }
};
/// One step of denoising under Rician noise, with the image `f`: Getreuer 2011, as in the CDSC
/// pipeline that the paper names; the weights of the four neighbours share one gradient.
struct Rician {
  template <class P, class F>
  auto operator()(const P& u, const F& f) const {
    using std::sqrt;
    const auto c = u(0, 0);
    const auto up = u(-1, 0) - c, down = u(1, 0) - c, left = u(0, -1) - c, right = u(0, 1) - c;
    const auto g =
        1.0f / sqrt(1.0e-10f + up * up + down * down + left * left + right * right + 0.01f);
    const auto r = c * f(0, 0) * 4.0f;
    const auto ratio =
        r * (2.38944f + r * (0.950037f + r)) / (4.65314f + r * (2.57541f + r * (1.48937f + r)));
    return (c + 0.1f * (g * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1)) + 0.5f * f(0, 0) * ratio)) /
           (1.0f + 0.1f * (4.0f * g + 0.5f));
  }
};
/// One reciprocal square root and seventeen additions and products, as the paper counts.
struct Gradient {
  template <class P>
  auto operator()(const P& p) const {
    using std::sqrt;
    const auto c = p(0, 0);
    const auto up = c - p(-1, 0), down = c - p(1, 0), left = c - p(0, -1), right = c - p(0, 1);
    return 1.0f / sqrt(1.0f + up * up + down * down + left * left + right * right);
  }
};
/// A step of the gradient flow of total variation with seven elements.
struct TotalVariation {
  template <class P>
  auto operator()(const P& u) const {
    using std::sqrt;
    const auto c = u(0, 0);
    const auto east = u(0, 1) - c, west = c - u(0, -1), south = u(1, 0) - c, north = c - u(-1, 0);
    const auto atWest = u(1, -1) - u(0, -1), atNorth = u(-1, 1) - u(-1, 0);
    const auto here = 1.0f / sqrt(0.01f + east * east + south * south);
    const auto before = 1.0f / sqrt(0.01f + west * west + atWest * atWest);
    const auto above = 1.0f / sqrt(0.01f + north * north + atNorth * atNorth);
    return c + 0.05f * (here * (east + south) - before * west - above * north);
  }
};

/// The kernel language has these for its own types.
inline int where(bool condition, int a, int b) { return condition ? a : b; }

/// The next generation of Conway's game of life, of cells that are 0 or 1.
struct Life {
  template <class P>
  auto operator()(const P& p) const {
    const auto alive =
        p(-1, -1) + p(-1, 0) + p(-1, 1) + p(0, -1) + p(0, 1) + p(1, -1) + p(1, 0) + p(1, 1);
    // Three, or two around a living cell.
    return where((alive | p(0, 0)) == 3, 1, 0);
  }
};

/// The electromagnetic fields in two dimensions (finite differences in the time domain).
struct FdtdX {
  template <class P, class H>
  auto operator()(const P& e, const H& h) const {
    return e(0, 0) - 0.5f * (h(0, 0) - h(0, -1));
  }
};
struct FdtdY {
  template <class P, class H>
  auto operator()(const P& e, const H& h) const {
    return e(0, 0) - 0.5f * (h(0, 0) - h(-1, 0));
  }
};
struct FdtdH {
  template <class P, class X, class Y>
  auto operator()(const P& h, const X& x, const Y& y) const {
    return h(0, 0) - 0.7f * (x(0, 1) - x(0, 0) + y(1, 0) - y(0, 0));
  }
};

}  // namespace perf::time_tiles
