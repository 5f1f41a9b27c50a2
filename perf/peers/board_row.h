// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <random>
#include <string>

#include "hpl/hpl.h"
#include "peers/peers.h"

namespace perf::peers {

/// A square of cells, and another one that a kernel makes of it: arrays of two dimensions, or of
/// one, in which row follows row.
template <class T, int Rank>
struct Board {
  using Cells = hpl::Array<T, Rank>;
  Cells out, in;

  static Cells square(int side) {
    if constexpr (Rank == 1) return Cells(side * side);
    if constexpr (Rank == 2) return Cells(side, side);
  }
  Board(int side, unsigned values) : out(square(side)), in(square(side)) {
    std::mt19937 random(1);
    T* cells = in.data(hpl::HPL_WR);
    for (std::size_t i = 0; i < in.size(); ++i) cells[i] = static_cast<T>(random() % values);
    out = T{};
  }
  /// A sum that sees where each cell is.
  double sum() {
    double total = 0;
    const T* cells = out.data(hpl::HPL_RD);
    for (std::size_t i = 0; i < out.size(); ++i)
      total += static_cast<double>(cells[i]) * static_cast<double>(1 + i % 1021);
    return total;
  }
};

/// `kernel(out, in, scalars...)` over a board of `side` x `side` values, against the same by g++
/// and OpenMP, `twin(out, in, side)`.
template <int Rank = 2, class T, class Kernel, class... Scalars>
Row boardRow(const std::string& name, Kernel* kernel, void (*twin)(T*, const T*, int), int side,
             unsigned values, Scalars... scalars) {
  constexpr int kSteps = 8;
  auto ours = std::make_shared<Board<T, Rank>>(side, values);
  auto byHand = std::make_shared<Board<T, Rank>>(side, values);
  const auto width = static_cast<std::size_t>(side);
  hpl::FRunner runner = hpl::eval(kernel).global(width, width)(ours->out, ours->in, scalars...);
  T* out = byHand->out.data(hpl::HPL_RDWR);
  const T* in = byHand->in.data(hpl::HPL_RD);
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

}  // namespace perf::peers
