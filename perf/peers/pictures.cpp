// SPDX-License-Identifier: Apache-2.0
// Stencils on bytes: the game of life, and masks on pictures.
#include "hpl/hpl.h"
#include "peers/board_row.h"
#include "peers/twins.h"

using namespace hpl;

namespace perf::peers {
namespace {

using Bytes = Array<unsigned char, 2>;

void life(Bytes out, const Bytes& in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Int n = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dy != 0 || dx != 0) n += in[idy + dy][idx + dx];
    out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] == 1), 1, 0);
  }
}

/// The same in a vector, as programs write it that come from flat arrays.
void lifeInVector(Array<unsigned char, 1> out, const Array<unsigned char, 1>& in, Int width,
                  Int height) {
  Int x = cast<int>(idx), y = cast<int>(idy);
  if_(x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    Int i = y * width + x, n = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dy != 0 || dx != 0) n += in[i + dy * width + dx];
    out[i] = where(n == 3 || (n == 2 && in[i] == 1), 1, 0);
  }
}

/// A mean of the neighbours with the weights 1 2 1.
void smooth(Bytes out, const Bytes& in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Int sum = 8;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        sum += (dy == 0 ? 2 : 1) * (dx == 0 ? 2 : 1) * in[idy + dy][idx + dx];
    out[idy][idx] = sum >> 4;
  }
}

/// Sobel's: the magnitude of the gradient, at most 255.
void edges(Bytes out, const Bytes& in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Int across = in[idy - 1][idx + 1] + 2 * in[idy][idx + 1] + in[idy + 1][idx + 1] -
                 in[idy - 1][idx - 1] - 2 * in[idy][idx - 1] - in[idy + 1][idx - 1];
    Int down = in[idy + 1][idx - 1] + 2 * in[idy + 1][idx] + in[idy + 1][idx + 1] -
               in[idy - 1][idx - 1] - 2 * in[idy - 1][idx] - in[idy - 1][idx + 1];
    out[idy][idx] = min(abs(across) + abs(down), 255);
  }
}

}  // namespace

std::vector<NamedRow> pictureRows() {
  return {
      {"life_bytes", [] { return boardRow("life in bytes 2048^2", life, twins::life, 2048, 2); }},
      {"life_vector",
       [] {
         return boardRow<1>("life in bytes 2048^2, in a vector", lifeInVector, twins::life, 2048, 2,
                            2048, 2048);
       }},
      {"smooth_bytes",
       [] { return boardRow("mask 3x3 on bytes 4096^2", smooth, twins::smooth, 4096, 256); }},
      {"edges_bytes",
       [] { return boardRow("Sobel on bytes 4096^2", edges, twins::edges, 4096, 256); }}};
}

}  // namespace perf::peers
