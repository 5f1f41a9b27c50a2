// SPDX-License-Identifier: Apache-2.0
// Neighbours at the ends of a domain, as programs write them, by all strategies.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "tests/runtime/subprocess.h"

namespace edge_tests {

using namespace hpl;

namespace {

using Cells = Array<int, 2>;

void byRemainders(Cells out, const Cells& in) {
  out[idy][idx] = in[(idy + szy - 1) % szy][idx] * 3 + in[(idy + 2) % szy][(idx + 1) % szx] -
                  in[idy][(idx - 1 + szx) % szx] * 2 + cast<int>(idx);
}

void byInts(Cells out, const Cells& in) {
  Int x = cast<int>(idx), y = cast<int>(idy), columns = cast<int>(szx), rows = cast<int>(szy);
  Int above = (y + rows - 1) % rows, below = (y + 2) % rows;
  Int left = (x - 1 + columns) % columns, right = (x + 1) % columns;
  out[y][x] = in[above][x] * 3 + in[below][right] - in[y][left] * 2 + x;
}

void byBranches(Cells out, const Cells& in) {
  Int x = cast<int>(idx), y = cast<int>(idy), columns = cast<int>(szx), rows = cast<int>(szy);
  Int above, below = y + 2, left = x - 1, right = x + 1;
  if_(y == 0) {
    above = rows - 1;
  }
  else_ { above = y - 1; }
  if_(below >= rows) {
    below -= rows;
  }
  if_(left < 0) {
    left = columns - 1;
  }
  if_(right == columns) {
    right = 0;
  }
  out[y][x] = in[above][x] * 3 + in[below][right] - in[y][left] * 2 + x;
}

const std::vector<std::pair<std::string, void (*)(Cells, const Cells&)>> kKernels{
    {"byRemainders", byRemainders}, {"byInts", byInts}, {"byBranches", byBranches}};

enum class Ends { Ring, Clamp, Skip };

/// A sum over neighbours in loops of the kernel; the cell itself counts thrice.
template <Ends ends>
void loops(Cells out, const Cells& in) {
  Int x = cast<int>(idx), y = cast<int>(idy), columns = cast<int>(szx), rows = cast<int>(szy);
  Int sum = 0, dy, dx;
  for_(dy = -1, dy <= 1, dy++) {
    for_(dx = -2, dx < 3, dx += 2) {
      if constexpr (ends == Ends::Ring) {
        sum += in[(y + dy + rows) % rows][(x + columns + dx) % columns] * (dx + 3);
      } else if constexpr (ends == Ends::Clamp) {
        Int row = min(max(y + dy, 0), rows - 1);
        sum += in[row][clamp(x + dx, 0, columns - 1)] * (dx + 3);
      } else {
        Int row = y + dy, column = x + dx;
        if_(row >= 0 && row < rows && column >= 0 && column < columns) {
          sum += in[row][column] * (dx + 3);
        }
      }
      if_(dx == 0 && dy == 0) {
        sum += in[y][x] * 2;
      }
    }
  }
  out[y][x] = sum;
}

int loopsOnHost(Ends ends, const std::vector<int>& cells, int rows, int columns, int y, int x) {
  int sum = 2 * cells[static_cast<std::size_t>(y * columns + x)];
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -2; dx < 3; dx += 2) {
      int row = y + dy, column = x + dx;
      if (ends == Ends::Ring) row = (row + rows) % rows, column = (column + columns) % columns;
      if (ends == Ends::Clamp)
        row = std::clamp(row, 0, rows - 1), column = std::clamp(column, 0, columns - 1);
      if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
      sum += cells[static_cast<std::size_t>(row * columns + column)] * (dx + 3);
    }
  return sum;
}

using Kernel = void (*)(Cells, const Cells&);

/// Compares what the kernel computes of some cells with `expected(cells, y, x)`.
template <class Expected>
void check(Kernel kernel, int rows, int columns, Expected&& expected) {
  CAPTURE(rows);
  CAPTURE(columns);
  Cells in(rows, columns), out(rows, columns);
  std::vector<int> cells(in.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = static_cast<int>(i * 2654435761u % 1009);
  in.copyFrom(cells.data());
  eval(kernel)(out, in);
  const int* result = out.data(HPL_RD);
  int wrong = 0;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) wrong += result[y * columns + x] != expected(cells, y, x);
  CHECK(wrong == 0);
}

void checkLoops() {
  const std::vector<std::pair<Ends, Kernel>> kernels{{Ends::Ring, loops<Ends::Ring>},
                                                     {Ends::Clamp, loops<Ends::Clamp>},
                                                     {Ends::Skip, loops<Ends::Skip>}};
  for (const auto& [ends, kernel] : kernels)
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{2, 3}, {16, 17}, {61, 130}, {256, 256}}) {
      CAPTURE(static_cast<int>(ends));
      check(kernel, rows, columns,
            [e = ends, h = rows, w = columns](const std::vector<int>& cells, int y, int x) {
              return loopsOnHost(e, cells, h, w, y, x);
            });
    }
}

void checkAllSizes() {
  for (const auto& [name, kernel] : kKernels)
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{2, 1}, {3, 2}, {16, 17}, {61, 130}, {256, 256}}) {
      CAPTURE(name);
      check(kernel, rows, columns,
            [h = rows, w = columns](const std::vector<int>& cells, int y, int x) {
              const auto at = [&](int row, int column) {
                return cells[static_cast<std::size_t>((row + h) % h * w + (column + w) % w)];
              };
              return at(y - 1, x) * 3 + at(y + 2, x + 1) - at(y, x - 1) * 2 + x;
            });
    }
}

}  // namespace

TEST_CASE("neighbours on a ring are the same however they are written") {
  checkAllSizes();
  checkLoops();
}

TEST_CASE("neighbours on a ring are the same by each strategy") {
  for (const std::string strategy : {"direct", "rows", "columns", "tile", "stream"}) {
    CAPTURE(strategy);
    const auto run = subprocess::run("neighbours on a ring are the same however they are written",
                                     "HPL_LOG=error HPL_STRATEGY=" + strategy);
    CAPTURE(run.output);
    CHECK(run.exitCode == 0);
  }
}

TEST_CASE("neighbours on a ring are computed in rows of vectors, however they are written") {
  if (defaultDevice().type() != CPU) return;
  const auto run = subprocess::run("neighbours on a ring are the same however they are written",
                                   "HPL_LOG=error HPL_EXPLAIN=1");
  CAPTURE(run.output);
  for (const std::string name : {"byRemainders", "byInts", "byBranches", "loops"}) {
    const std::size_t begin = run.output.find("hpl: kernel '" + name + "'");
    REQUIRE(begin != std::string::npos);
    const std::string line = run.output.substr(begin, run.output.find('\n', begin) - begin);
    CHECK_MESSAGE(line.find(": rows: ") != std::string::npos, line);
  }
  CHECK(run.output.find("direct: neighbours access elements") == std::string::npos);
}

}  // namespace edge_tests
