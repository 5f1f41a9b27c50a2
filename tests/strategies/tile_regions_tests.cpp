// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/tile_regions.h"
#include "tests/seeds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

namespace tile_regions_tests {

using namespace hpl::strategies;
using hpl::ir::Interval;

namespace {

using Cell = std::array<std::int64_t, 3>;
using Cells = std::set<Cell>;

TileFunction function(std::vector<int> writes, std::vector<TileFunction::Read> reads) {
  return {std::move(reads), std::move(writes)};
}

TileFunction::Read along(int field, std::int64_t lo, std::int64_t hi) {
  return {field, {Interval{lo, hi}, Interval{}, Interval{}}};
}

/// The cells of a box around a tile of `tile` cells per dimension.
Growth boundsOf(const Cells& cells, const Cell& tile) {
  Growth bounds;
  for (std::size_t d = 0; d < 3; ++d) {
    std::int64_t lo = 0;
    std::int64_t hi = tile[d] - 1;
    for (const Cell& cell : cells) {
      lo = std::min(lo, cell[d]);
      hi = std::max(hi, cell[d]);
    }
    bounds.before[d] = -lo;
    bounds.after[d] = hi - (tile[d] - 1);
  }
  return bounds;
}

/// Every cell of a box, whose hull the algorithm takes.
Cells box(const Growth& growth, const Cell& tile) {
  Cells cells;
  Cell c{};
  for (c[0] = -growth.before[0]; c[0] < tile[0] + growth.after[0]; ++c[0])
    for (c[1] = -growth.before[1]; c[1] < tile[1] + growth.after[1]; ++c[1])
      for (c[2] = -growth.before[2]; c[2] < tile[2] + growth.after[2]; ++c[2]) cells.insert(c);
  return cells;
}

/// The same as tileRegions, cell by cell: what is needed is collected in sets.
TileRegions byBruteForce(const std::vector<TileFunction>& functions, int fields, int steps,
                         const Cell& tile) {
  std::vector<Cells> needed(static_cast<std::size_t>(fields), box({}, tile));
  TileRegions regions;
  for (int step = 0; step < steps; ++step) {
    auto& computed = regions.computed.emplace_back(functions.size());
    for (std::size_t k = functions.size(); k-- > 0;) {
      Cells written;
      for (const int field : functions[k].writes) {
        const Cells& own = needed[static_cast<std::size_t>(field)];
        written.insert(own.begin(), own.end());
      }
      computed[k] = boundsOf(written, tile);
      for (const TileFunction::Read& read : functions[k].reads) {
        Cells& source = needed[static_cast<std::size_t>(read.field)];
        for (const Cell& cell : box(computed[k], tile)) {
          Cell from{};
          for (const bool first : {true, false}) {
            for (std::size_t d = 0; d < 3; ++d)
              from[d] = cell[d] + (first ? read.offsets[d].lo : read.offsets[d].hi);
            source.insert(from);
          }
        }
        source = box(boundsOf(source, tile), tile);
      }
    }
  }
  for (const Cells& cells : needed) regions.needed.push_back(boundsOf(cells, tile));
  return regions;
}

}  // namespace

TEST_CASE("tile regions: the paper's example of two fields gets the paper's regions") {
  // f_A reads B at -1 and 0, f_B reads A at 0 and 1; three steps (section 4.2, figure 5).
  const std::vector<TileFunction> functions{function({0}, {along(1, -1, 0)}),
                                            function({1}, {along(0, 0, 1)})};
  const TileRegions regions = tileRegions(functions, 2, 3);
  const auto region = [&](int following, std::size_t k) {
    const Growth& g = regions.computed[static_cast<std::size_t>(following)][k];
    return std::pair{g.before[0], g.before[0] + g.after[0]};
  };
  using Region = std::pair<std::int64_t, std::int64_t>;
  // How far before x0, and how much longer than l0.
  CHECK(region(0, 1) == Region{0, 0});
  CHECK(region(0, 0) == Region{0, 1});
  CHECK(region(1, 1) == Region{1, 2});
  CHECK(region(2, 0) == Region{2, 5});
  CHECK(region(2, 1) == Region{2, 4});
}

TEST_CASE("tile regions: three functions of one field, of which one looks at its neighbours") {
  // f1 and f3 keep the ends, f2 averages three points (section 3.2).
  const std::vector<TileFunction> functions{function({0}, {along(0, 0, 0)}),
                                            function({0}, {along(0, -1, 1)}),
                                            function({0}, {along(0, 0, 0)})};
  const TileRegions regions = tileRegions(functions, 1, 64);
  for (std::size_t r = 0; r < 64; ++r) {
    const auto wide = static_cast<std::int64_t>(r);
    CHECK(regions.computed[r][1].before[0] == wide);
    CHECK(regions.computed[r][1].after[0] == wide);
    CHECK(regions.computed[r][0].before[0] == wide + 1);
  }
  CHECK(regions.needed[0].before[0] == 64);
}

TEST_CASE("tile regions: random functions need what a search cell by cell finds") {
  for (const unsigned seed : Seeds(1, 30)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto between = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int fields = between(1, 3);
    const int dims = between(1, 3);
    std::vector<TileFunction> functions;
    for (int k = between(1, 3); k > 0; --k) {
      TileFunction& f = functions.emplace_back();
      f.writes.push_back(between(0, fields - 1));
      if (between(0, 3) == 0 && fields > 1) f.writes.push_back((f.writes[0] + 1) % fields);
      for (int r = between(1, 3); r > 0; --r) {
        TileFunction::Read& read = f.reads.emplace_back();
        read.field = between(0, fields - 1);
        for (int d = 0; d < dims; ++d) {
          const int lo = between(-2, 1);
          read.offsets[static_cast<std::size_t>(d)] = {lo, between(lo, 2)};
        }
      }
    }
    // One that looks at the tile in each step, and changes nothing.
    if (between(0, 2) == 0) {
      functions.push_back(function({}, {along(between(0, fields - 1), 0, 0)}));
      functions.back().isOfTile = true;
    }
    const int steps = between(1, 4);
    const TileRegions got = tileRegions(functions, fields, steps);
    const TileRegions expected = byBruteForce(functions, fields, steps, {2, 1, 3});
    CHECK(got.computed == expected.computed);
    CHECK(got.needed == expected.needed);
    const std::vector<LinearGrowth> lines = linearGrowth(got, functions);
    for (std::size_t k = 0; k < functions.size(); ++k) {
      const LinearGrowth& line = lines[k];
      if (functions[k].isOfTile) CHECK((line.first == Growth{} && line.perStep == Growth{}));
      for (std::size_t r = 0; r < got.computed.size(); ++r) {
        const auto n = static_cast<std::int64_t>(r);
        for (std::size_t d = 0; d < 3; ++d) {
          CHECK(line.first.before[d] + n * line.perStep.before[d] >= got.computed[r][k].before[d]);
          CHECK(line.first.after[d] + n * line.perStep.after[d] >= got.computed[r][k].after[d]);
        }
      }
    }
  }
}

TEST_CASE("tile regions: linear bounds of readers lie within those of the functions before them") {
  // Two fields that need ever more of each other at different rates; the second function's box
  // grows at once, the first one's only from the second step on.
  const std::vector<TileFunction> functions{function({1}, {along(0, -2, 0)}),
                                            function({0}, {along(1, 0, 0), along(0, -1, 3)}),
                                            function({0}, {along(0, 0, 1)})};
  const TileRegions regions = tileRegions(functions, 2, 6);
  const std::vector<LinearGrowth> lines = linearGrowth(regions, functions);
  const auto box = [&](std::size_t k, std::int64_t r) {
    Growth growth = lines[k].first;
    growth.before[0] += r * lines[k].perStep.before[0];
    growth.after[0] += r * lines[k].perStep.after[0];
    return growth;
  };
  const auto provides = [&](std::size_t writer, std::int64_t w, std::size_t reader, std::int64_t r,
                            const TileFunction::Read& read) {
    const Growth needed = grownBy(box(reader, r), read.offsets);
    CHECK(hull(box(writer, w), needed) == box(writer, w));
  };
  for (std::int64_t r = 0; r < 6; ++r) {
    provides(2, r + 1, 0, r, functions[0].reads[0]);
    provides(0, r, 1, r, functions[1].reads[0]);
    provides(2, r + 1, 1, r, functions[1].reads[1]);
    provides(1, r, 2, r, functions[2].reads[0]);
  }
}

}  // namespace tile_regions_tests
