// SPDX-License-Identifier: Apache-2.0
// Multigrid: neighbours two apart on the way to a coarser grid, and half as far on the way back.
#include <cstdlib>
#include <memory>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"

using namespace hpl;

namespace perf::peers {
namespace {

constexpr int kCells = 1024;

using Field = Array<double, 2>;

// One colour of the chessboard.
void relax(Field u, const Field& f, Double square, Int colour) {
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy && cast<int>(idx + idy) % 2 == colour) {
    u[idy][idx] = 0.25 * (u[idy - 1][idx] + u[idy + 1][idx] + u[idy][idx - 1] + u[idy][idx + 1] +
                          square * f[idy][idx]);
  }
}

void residual(Field r, const Field& u, const Field& f, Double square) {
  r[idy][idx] = 0.0;
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
    r[idy][idx] = f[idy][idx] + (u[idy - 1][idx] + u[idy + 1][idx] + u[idy][idx - 1] +
                                 u[idy][idx + 1] - 4.0 * u[idy][idx]) /
                                    square;
  }
}

void restrictTo(Field coarse, const Field& fine) {
  coarse[idy][idx] = 0.0;
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
    Int y = 2 * cast<int>(idy), x = 2 * cast<int>(idx);
    Double sum = 0.0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        sum += static_cast<double>((2 - std::abs(dy)) * (2 - std::abs(dx))) * fine[y + dy][x + dx];
    coarse[idy][idx] = sum / 16.0;
  }
}

void correct(Field fine, const Field& coarse) {
  Int y = cast<int>(idy) / 2, x = cast<int>(idx) / 2;
  Int nextY = (cast<int>(idy) + 1) / 2, nextX = (cast<int>(idx) + 1) / 2;
  fine[idy][idx] +=
      0.25 * (coarse[y][x] + coarse[nextY][x] + coarse[y][nextX] + coarse[nextY][nextX]);
}

struct Grid {
  Field u, f, r;
  int side;

  explicit Grid(int cells)
      : u(cells + 1, cells + 1), f(cells + 1, cells + 1), r(cells + 1, cells + 1), side(cells + 1) {
    u = 0.0;
    f = 0.0;
    r = 0.0;
  }
  double square() const { return 1.0 / (side - 1) / (side - 1); }
};

/// A pulse in the middle of the finest grid, solved by V(2, 2) cycles down to 2 x 2 cells.
struct Grids {
  std::vector<Grid> all;

  Grids() {
    for (int cells = kCells; cells >= 2; cells /= 2) all.emplace_back(cells);
    all[0].f(kCells / 3, kCells / 2) = 1e6;
  }
  double checksum() const {
    const Field& u = all[0].u;
    const double* cells = u.data();
    double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += cells[i];
    return sum;
  }
};

void cycle(std::vector<Grid>& grids, std::size_t level) {
  Grid& grid = grids[level];
  if (level > 0) grid.u = 0.0;
  const auto sweep = [&] {
    for (int colour = 0; colour < 4; ++colour)
      eval(relax)(grid.u, grid.f, grid.square(), colour % 2);
  };
  sweep();
  if (level + 1 == grids.size()) return;
  eval(residual)(grid.r, grid.u, grid.f, grid.square());
  eval(restrictTo)(grids[level + 1].f, grid.r);
  cycle(grids, level + 1);
  eval(correct)(grid.u, grids[level + 1].u);
  sweep();
}

void cycleByHand(const std::vector<twins::MultigridLevel>& grids, std::size_t level) {
  const twins::MultigridLevel& grid = grids[level];
  if (level > 0)
    std::fill(grid.u, grid.u + static_cast<std::ptrdiff_t>(grid.side) * grid.side, 0.0);
  twins::relax(grid, 2);
  if (level + 1 == grids.size()) return;
  twins::residual(grid);
  twins::restrictTo(grids[level + 1], grid);
  cycleByHand(grids, level + 1);
  twins::correct(grid, grids[level + 1]);
  twins::relax(grid, 2);
}

Contender library() {
  auto grids = std::make_shared<Grids>();
  return {"HPL",
          [grids] {
            cycle(grids->all, 0);
            defaultDevice().sync();
          },
          [grids] { return grids->checksum(); }};
}

Contender byHand() {
  auto grids = std::make_shared<Grids>();
  std::vector<twins::MultigridLevel> levels;
  for (Grid& grid : grids->all)
    levels.push_back({grid.u.data(HPL_RDWR), grid.f.data(HPL_RDWR), grid.r.data(HPL_RDWR),
                      grid.side, grid.square()});
  return {"g++ OpenMP", [levels] { cycleByHand(levels, 0); },
          [grids] { return grids->checksum(); }};
}

/// One kernel on the finest grids alone.
template <class Ours, class Theirs>
Row alone(const std::string& name, Ours ours, Theirs theirs) {
  auto mine = std::make_shared<Grids>(), other = std::make_shared<Grids>();
  for (const auto& grids : {mine, other})
    for (Grid& grid : grids->all) {
      double* r = grid.r.data(HPL_WR);
      double* u = grid.u.data(HPL_WR);
      for (std::size_t i = 0; i < grid.r.size(); ++i) {
        r[i] = static_cast<double>(i % 101);
        u[i] = static_cast<double>(i % 37);
      }
    }
  constexpr int kTimes = 8;
  const auto checksum = [](Grids& grids) {
    double sum = grids.checksum();
    const Field& f = grids.all[1].f;
    const double* cells = f.data();
    for (std::size_t i = 0; i < f.size(); ++i) sum += cells[i];
    return sum;
  };
  std::vector<twins::MultigridLevel> levels;
  for (Grid& grid : other->all)
    levels.push_back({grid.u.data(HPL_RDWR), grid.f.data(HPL_RDWR), grid.r.data(HPL_RDWR),
                      grid.side, grid.square()});
  return {name,
          1.0,
          {{"HPL",
            [mine, ours] {
              for (int i = 0; i < kTimes; ++i) ours(mine->all);
              defaultDevice().sync();
            },
            [mine, checksum] { return checksum(*mine); }},
           {"g++ OpenMP",
            [levels, theirs] {
              for (int i = 0; i < kTimes; ++i) theirs(levels);
            },
            [other, checksum] { return checksum(*other); }}}};
}

Row restrictRow() {
  return alone(
      "restriction 1025^2 -> 513^2",
      [](std::vector<Grid>& grids) { eval(restrictTo)(grids[1].f, grids[0].r); },
      [](const std::vector<twins::MultigridLevel>& grids) {
        twins::restrictTo(grids[1], grids[0]);
      });
}

Row correctRow() {
  return alone(
      "prolongation 513^2 -> 1025^2",
      [](std::vector<Grid>& grids) { eval(correct)(grids[0].u, grids[1].u); },
      [](const std::vector<twins::MultigridLevel>& grids) { twins::correct(grids[0], grids[1]); });
}

Row relaxRow() {
  return alone(
      "red-black sweep 1025^2",
      [](std::vector<Grid>& grids) {
        for (int colour = 0; colour < 2; ++colour)
          eval(relax)(grids[0].u, grids[0].f, grids[0].square(), colour);
      },
      [](const std::vector<twins::MultigridLevel>& grids) { twins::relax(grids[0], 1); });
}

Row multigridRow() { return {"multigrid V(2,2) 1025^2", 1.0, {library(), byHand()}}; }

}  // namespace

std::vector<NamedRow> gridRows() {
  return {{"multigrid", multigridRow},
          {"restriction", restrictRow},
          {"prolongation", correctRow},
          {"red_black", relaxRow}};
}

}  // namespace perf::peers
