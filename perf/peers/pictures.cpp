// SPDX-License-Identifier: Apache-2.0
// Stencils on bytes: the game of life, and masks on pictures.
#include <cstdint>
#include <memory>
#include <random>

#include "hpl/hpl.h"
#include "peers/peers.h"
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
    out[idy][idx] = min(cast<int>(abs(across) + abs(down)), 255);
  }
}

struct Picture {
  Bytes out, in;
  Picture(int side, int values) : out(side, side), in(side, side) {
    std::mt19937 random(1);
    unsigned char* cells = in.data(HPL_WR);
    for (std::size_t i = 0; i < in.size(); ++i)
      cells[i] = static_cast<unsigned char>(random() % static_cast<unsigned>(values));
    out = static_cast<unsigned char>(0);
  }
  /// A sum that sees where each byte is.
  double sum() {
    double total = 0;
    const unsigned char* cells = out.data(HPL_RD);
    for (std::size_t i = 0; i < out.size(); ++i)
      total += static_cast<double>(cells[i]) * static_cast<double>(1 + i % 1021);
    return total;
  }
};

Row row(const std::string& name, void (*kernel)(Bytes, const Bytes&),
        void (*twin)(std::uint8_t*, const std::uint8_t*, int), int side, int values) {
  constexpr int kSteps = 8;
  auto ours = std::make_shared<Picture>(side, values);
  auto byHand = std::make_shared<Picture>(side, values);
  FRunner runner = eval(kernel)(ours->out, ours->in);
  std::uint8_t* out = byHand->out.data(HPL_RDWR);
  const std::uint8_t* in = byHand->in.data(HPL_RD);
  return {name,
          1.0,
          {{"HPL",
            [runner, ours]() mutable {
              for (int i = 0; i < kSteps; ++i) runner.run();
              runner.wait();
            },
            [ours] { return ours->sum(); }},
           {"g++ OpenMP",
            [=] {
              for (int i = 0; i < kSteps; ++i) twin(out, in, side);
            },
            [byHand] { return byHand->sum(); }}}};
}

}  // namespace

std::vector<NamedRow> pictureRows() {
  return {
      {"life_bytes", [] { return row("life in bytes 2048^2", life, twins::life, 2048, 2); }},
      {"smooth_bytes",
       [] { return row("mask 3x3 on bytes 4096^2", smooth, twins::smooth, 4096, 256); }},
      {"edges_bytes", [] { return row("Sobel on bytes 4096^2", edges, twins::edges, 4096, 256); }}};
}

}  // namespace perf::peers
