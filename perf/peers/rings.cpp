// SPDX-License-Identifier: Apache-2.0
// The game of life on a torus, in the ways that programs write a neighbour on a ring.
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "peers/board_row.h"
#include "peers/twins.h"

using namespace hpl;

namespace perf::peers {
namespace {

using Cells = Array<int, 2>;

void remainders(Cells out, const Cells& in) {
  Int n = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dy != 0 || dx != 0) n += in[(idy + szy + dy) % szy][(idx + szx + dx) % szx];
  out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] == 1), 1, 0);
}

Int neighbours(const Cells& in, const Int& left, const Int& right, const Int& above,
               const Int& below) {
  Int n = in[above][left] + in[above][idx] + in[above][right] + in[idy][left] + in[idy][right] +
          in[below][left] + in[below][idx] + in[below][right];
  return n;
}

void comparisons(Cells out, const Cells& in) {
  Int x = cast<int>(idx), y = cast<int>(idy), width = cast<int>(szx), height = cast<int>(szy);
  Int left = where(x == 0, width - 1, x - 1), right = where(x == width - 1, 0, x + 1);
  Int above = where(y == 0, height - 1, y - 1), below = where(y == height - 1, 0, y + 1);
  Int n = neighbours(in, left, right, above, below);
  out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] == 1), 1, 0);
}

void branches(Cells out, const Cells& in) {
  Int width = cast<int>(szx), height = cast<int>(szy);
  Int left = cast<int>(idx) - 1, right = cast<int>(idx) + 1;
  Int above = cast<int>(idy) - 1, below = cast<int>(idy) + 1;
  if_(left < 0) {
    left = width - 1;
  }
  if_(right == width) {
    right = 0;
  }
  if_(above < 0) {
    above = height - 1;
  }
  if_(below == height) {
    below = 0;
  }
  Int n = neighbours(in, left, right, above, below);
  out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] == 1), 1, 0);
}

/// The extents as arguments.
void parameters(Cells out, const Cells& in, Int width, Int height) {
  Int x = cast<int>(idx), y = cast<int>(idy);
  Int left = (x + width - 1) % width, right = (x + 1) % width;
  Int above = (y + height - 1) % height, below = (y + 1) % height;
  Int n = neighbours(in, left, right, above, below);
  out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] == 1), 1, 0);
}

void loops(Cells out, const Cells& in) {
  Int x = cast<int>(idx), y = cast<int>(idy), width = cast<int>(szx), height = cast<int>(szy);
  Int n = 0;
  for_(Int dy = -1, dy <= 1, dy++) {
    for_(Int dx = -1, dx <= 1, dx++) {
      if_(dy != 0 || dx != 0) {
        n += in[(y + dy + height) % height][(x + dx + width) % width];
      }
    }
  }
  out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] == 1), 1, 0);
}

constexpr int kSide = 2048;

template <class Kernel, class... Extents>
Row row(const std::string& how, Kernel* kernel, Extents... extents) {
  return boardRow("life on a torus 2048^2, by " + how, kernel, twins::torus, kSide, 2, extents...);
}

}  // namespace

std::vector<NamedRow> ringRows() {
  return {
      {"torus_remainders", [] { return row("remainders", remainders); }},
      {"torus_comparisons", [] { return row("comparisons", comparisons); }},
      {"torus_branches", [] { return row("branches", branches); }},
      {"torus_parameters", [] { return row("extents in arguments", parameters, kSide, kSide); }},
      {"torus_loops", [] { return row("remainders in loops of the kernel", loops); }}};
}

}  // namespace perf::peers
