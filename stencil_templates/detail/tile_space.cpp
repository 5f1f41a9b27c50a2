// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/tile_space.h"

#include <algorithm>
#include <cstdlib>

#include "hpl/layout/tuner.h"
#include "stencil_templates/detail/time_forms.h"

namespace hpl::stencils {
namespace {

using tune::Point;

/// How much longer than the best way a tile may take in the model and still be measured: the model
/// is off by a third for programs that it has not seen.
constexpr double kHopeless = 1.4;
/// Each takes up to a second to compile.
constexpr std::size_t kMost = 56;
/// Sizes that differ by less make no difference.
constexpr double kSimilar = 1.3;
/// Steps one by one are tried early where the model thinks that tiles are faster by at most this
/// factor.
constexpr double kClose = 1.5;

bool areSimilar(const TimeTile& a, const TimeTile& b) {
  if (a.form != b.form || a.depth != b.depth) return false;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [less, more] = std::minmax(a.cells[d], b.cells[d]);
    if (static_cast<double>(more) >= kSimilar * static_cast<double>(less)) return false;
  }
  return true;
}

/// Everything that fits, the most promising first.
std::vector<TileEstimate> allTiles(const TileProblem& problem, std::int64_t steps) {
  std::vector<TileEstimate> all;
  for (const int depth : depthsLookedAt()) {
    if (depth > steps) break;
    for (const TimeFormRow& row : timeForms()) {
      if (!row.isMeasured) continue;
      const std::vector<TileEstimate> tiles = tilesLookedAt(problem, depth, row.form);
      all.insert(all.end(), tiles.begin(), tiles.end());
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const TileEstimate& a, const TileEstimate& b) {
    return a.cycles < b.cycles;
  });
  return all;
}

}  // namespace

Point pointOf(const TimeTile& tile) {
  Point point{{"steps", tile.depth}};
  if (tile.depth == 1) return point;
  point.set("form", static_cast<std::int64_t>(tile.form));
  point.set("slow", tile.cells[0]);
  point.set("middle", tile.cells[1]);
  point.set("fast", tile.cells[2]);
  return point;
}

TimeTile tileOf(const Point& point) {
  TimeTile tile;
  const std::int64_t depth = point.value("steps");
  tile.depth = static_cast<int>(std::clamp<std::int64_t>(depth, -1, 1 << 20));
  if (tile.depth == 1) return tile;
  tile.cells = {point.value("slow"), point.value("middle"), point.value("fast")};
  for (const TimeFormRow& row : timeForms())
    if (row.isMeasured && static_cast<std::int64_t>(row.form) == point.value("form"))
      tile.form = row.form;
  return tile;
}

std::vector<Point> tilesToMeasure(const TileProblem& problem, std::int64_t steps) {
  std::vector<Point> points{Point()};
  // Where memory hardly counts, joining steps only adds to the arithmetic.
  if (steps < 2 || 2 * cyclesOfMemory(problem) < cyclesUntiled(problem)) return points;
  std::string why;
  const TimeTile usual = bestDepth(problem, steps, why).tile;
  std::vector<TimeTile> taken{usual};
  const std::vector<TileEstimate> all = allTiles(problem, steps);
  const double hopeless =
      kHopeless * (all.empty() ? 0 : std::min(all.front().cycles, cyclesUntiled(problem)));
  for (const TileEstimate& estimate : all) {
    if (taken.size() == kMost || estimate.cycles > hopeless) break;
    const bool isNew = std::none_of(taken.begin(), taken.end(), [&](const TimeTile& other) {
      return areSimilar(other, estimate.tile);
    });
    if (isNew) taken.push_back(estimate.tile);
  }
  for (std::size_t k = 1; k < taken.size(); ++k) points.push_back(pointOf(taken[k]));
  // One step after another comes early: it is easily compiled.
  if (usual.depth > 1) points.insert(points.begin() + 1, pointOf({}));
  return points;
}

std::vector<Point> tilesToTry(const TileProblem& problem, std::int64_t steps,
                              const TimeTile& usual) {
  std::vector<Point> points = tilesToMeasure(problem, steps);
  if (points.size() < 2) return points;
  const bool joins = usual.depth > 1;
  std::string why;
  const TimeTile best = bestDepth(problem, steps, why).tile;
  // Programs may have declined what the model thinks best of passes.
  if (!joins && best.depth > 1) points.insert(points.begin() + 1, pointOf(best));
  std::erase_if(points, [&](const Point& point) {
    if (point == Point()) return false;
    const TimeTile tile = tileOf(point);
    return tile == usual || 2 * tile.depth > steps || (!joins && tile.depth == 1);
  });
  const bool isPlain = problem.program->stages.size() == 1;
  const auto single = std::find(points.begin(), points.end(), pointOf({}));
  if (single != points.end()) {
    const double oneByOne = isPlain ? cyclesUntiled(problem) : cyclesUnfused(problem);
    if (oneByOne > kClose * estimateOf(problem, usual).cycles)
      std::rotate(single, single + 1, points.end());
  }
  points.resize(std::min(points.size(), layout::onlineOptions().candidates + 1));
  return points;
}

}  // namespace hpl::stencils
