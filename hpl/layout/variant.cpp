// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/variant.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "hpl/layout/heuristic_choice.h"
#include "hpl/layout/rewritten_kernels.h"
#include "hpl/layout/strategy.h"
#include "hpl/runtime/device_state.h"

namespace hpl::layout {
namespace {

using runtime::Strategy;
using tune::Point;
using tune::Space;

/// Names of dimensions and what they stand for.
struct Field {
  const char* name;
  int Variant::*value;
};
constexpr Field kFields[] = {{"lanes", &Variant::lanes},   {"vectors", &Variant::vectors},
                             {"jam", &Variant::jam},       {"band", &Variant::band},
                             {"depth", &Variant::depth},   {"width", &Variant::width},
                             {"height", &Variant::height}, {"elements", &Variant::elements}};

constexpr auto kRows = static_cast<std::int64_t>(Strategy::Rows);
constexpr auto kTile = static_cast<std::int64_t>(Strategy::Tile);
constexpr auto kStream = static_cast<std::int64_t>(Strategy::Stream);
constexpr auto kColumns = static_cast<std::int64_t>(Strategy::Columns);

/// Second-level caches hold about a MiB per core; OpenCL does not tell how much exactly.
constexpr std::size_t kCache = std::size_t{1} << 20;
/// Vector registers for sums; the widest instruction sets have 32.
constexpr std::int64_t kAccumulators = 16;
/// Loads in one loop body; bodies of twice that take a driver's compiler several seconds.
constexpr std::int64_t kLoads = 2048;

/// How many rows a work-item reads across, and from how many arrays.
struct Reach {
  std::int64_t rows = 1;
  std::size_t bytesPerColumn = 0;
};

Reach reachAlong(const ir::AccessSummary& access, int axis) {
  Reach reach;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  for (const ir::ArrayAccess& array : access.arrays) {
    if (!array.read) continue;
    reach.bytesPerColumn += ir::sizeOf(array.array->type);
    for (const ir::AccessSite& site : array.sites)
      for (const ir::IndexForm& form : site.index)
        if (form.isAffine() && form.axis == axis) {
          lo = std::min(lo, form.range.lo);
          hi = std::max(hi, form.range.hi);
        }
  }
  reach.rows = hi - lo + 1;
  return reach;
}

bool updatesInPlace(const ir::AccessSummary& access) {
  return std::any_of(access.arrays.begin(), access.arrays.end(),
                     [](const ir::ArrayAccess& a) { return a.read && a.written; });
}

/// The variant that the library chooses by itself.
Variant rowsDefault(const KernelVersion& version, const runtime::DeviceState& device,
                    const Shape& shape) {
  strategies::RowsOptions options;
  options.dims = static_cast<int>(shape.dims);
  options.order = orderOf(shape);
  const strategies::JamChoice choice = strategies::chooseJam(version.access, options);
  Variant variant;
  variant.strategy = Strategy::Rows;
  variant.lanes = lanesFor(version, device);
  const int pointwise = vectorsFor(version, shape, variant.lanes);
  variant.vectors = pointwise > 0 ? pointwise : choice.vectors;
  variant.jam = choice.jam;
  // Loops that rows go through together are laid out by what is in them.
  options.lanes = variant.lanes;
  options.vectors = pointwise;
  for (std::size_t a = 0; a < 3; ++a) options.size[a] = shape.whole[a];
  const std::shared_ptr<const strategies::Rows> rows = version.rewritten->rows(version, options);
  if (rows->kernel != nullptr) {
    variant.vectors = rows->vectors;
    variant.jam = rows->jam;
  }
  return variant;
}

/// Facts about a launch for the model of rows.
struct RowsFacts {
  Variant usual;
  int dims = 1;
  std::int64_t row = 1;
  /// Rows, in three dimensions planes.
  std::int64_t slow = 1;
  std::int64_t units = 1;
  std::int64_t reads = 1;
  Reach reach;
  /// Elements may not be computed twice, so that the strategy computes one vector at a time.
  bool isPlain = false;
};

RowsFacts factsOf(const KernelVersion& version, const runtime::DeviceState& device,
                  const Shape& shape) {
  const std::array<int, 3> order = orderOf(shape);
  const auto sizeAlong = [&](int axis) {
    return static_cast<std::int64_t>(shape.size[static_cast<std::size_t>(axis)]);
  };
  RowsFacts facts;
  facts.usual = rowsDefault(version, device, shape);
  facts.dims = static_cast<int>(shape.dims);
  const int slowest = order[static_cast<std::size_t>(facts.dims - 1)];
  facts.row = sizeAlong(order[0]);
  facts.slow = facts.dims > 1 ? sizeAlong(slowest) : 1;
  facts.units = static_cast<std::int64_t>(std::max(1u, device.properties().computeUnits));
  facts.reads = static_cast<std::int64_t>(
      std::max<std::size_t>(1, strategies::distinctReads(version.access)));
  facts.reach = reachAlong(version.access, slowest);
  facts.isPlain = updatesInPlace(version.access);
  return facts;
}

void addRequirements(Space& space, const RowsFacts& facts) {
  space.require("the sums fit into registers", [facts](const Point& p) {
    const std::int64_t registers = p.value("lanes") > facts.usual.lanes ? 2 : 1;
    return registers * p.value("vectors") * p.value("jam") <= kAccumulators;
  });
  space.require("the code compiles soon", [facts](const Point& p) {
    return facts.reads * p.value("vectors") * p.value("jam") <= kLoads;
  });
  space.require("rows are long enough", [facts](const Point& p) {
    return p.value("lanes") * p.value("vectors") <= facts.row;
  });
  space.require("there are as many rows",
                [facts](const Point& p) { return p.value("jam") <= facts.slow; });
  space.require("bands hold what is computed at once", [facts](const Point& p) {
    const std::int64_t along = p.value(facts.dims == 3 ? "depth" : "band");
    return along == 0 || along >= p.value("jam");
  });
  space.require("every unit has work", [facts](const Point& p) {
    const std::int64_t band = p.value("band");
    return band == 0 || facts.dims == 3 || (facts.slow + band - 1) / band >= facts.units;
  });
  space.require("the rows fit into the cache", [facts](const Point& p) {
    // Planes never do; and the library's own choice is not ruled out.
    if (facts.dims == 3 || p.value("jam") <= std::max(1, facts.usual.jam)) return true;
    const auto rows = static_cast<std::size_t>(facts.reach.rows + p.value("jam") - 1);
    return rows * facts.reach.bytesPerColumn * static_cast<std::size_t>(facts.row) <= kCache;
  });
}

/// How far a point is from the library's own choice.
double distance(const Point& point, const Variant& usual) {
  const auto octaves = [&](const char* name, int from) {
    return std::abs(std::log2(static_cast<double>(point.value(name)) / std::max(1, from)));
  };
  const auto vectors = static_cast<double>(std::abs(point.value("vectors") - usual.vectors));
  return 1.5 * octaves("lanes", usual.lanes) + octaves("jam", usual.jam) + 0.6 * vectors +
         (point.value("band") != 0 ? 0.9 : 0) + (point.value("depth") != 0 ? 0.9 : 0);
}

/// `isUsual`: the library chooses rows by itself, whose own numbers are the default then.
std::vector<Point> rowsPoints(const KernelVersion& version, const runtime::DeviceState& device,
                              const Shape& shape, bool isUsual) {
  using Values = std::vector<std::int64_t>;
  const RowsFacts facts = factsOf(version, device, shape);
  const Variant& usual = facts.usual;
  Values lanes{usual.lanes};
  if (usual.lanes > 2) lanes.push_back(usual.lanes / 2);
  if (usual.lanes < 16) lanes.push_back(std::int64_t{2} * usual.lanes);
  Space space;
  space.dimension("strategy", {kRows}).dimension("lanes", lanes);
  space.dimension("vectors", facts.isPlain ? Values{1} : Values{1, 2, 3, 4});
  space.dimension("jam", facts.isPlain || facts.dims == 1 ? Values{1} : Values{1, 2, 4, 8});
  space.dimension("band", facts.dims == 1 ? Values{0} : Values{0, 8, 32, 64});
  if (facts.dims == 3) space.dimension("depth", {0, 8, 16});
  addRequirements(space, facts);

  std::vector<Point> points = space.points();
  if (isUsual) std::erase_if(points, [&](const Point& p) { return distance(p, usual) == 0; });
  std::stable_sort(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    return distance(a, usual) < distance(b, usual);
  });
  return points;
}

std::vector<Point> tilePoints(const runtime::DeviceState& device, const Shape& shape) {
  const auto limit =
      static_cast<std::int64_t>(std::max<std::size_t>(1, device.properties().maxWorkGroupSize));
  Space space;
  space.dimension("strategy", {kTile}).dimension("width", {32, 16, 64, 128});
  if (shape.dims > 1) space.dimension("height", {8, 4, 16, 2});
  space.dimension("elements", {4, 2, 8, 1});
  space.require("the device holds such groups", [limit](const Point& p) {
    const std::int64_t items = p.value("width") * p.value("height", 1);
    return items >= 32 && items <= limit;
  });
  return space.points();
}

std::vector<Point> columnPoints(const runtime::DeviceState& device, const Shape& shape) {
  const auto limit =
      static_cast<std::int64_t>(std::max<std::size_t>(1, device.properties().maxWorkGroupSize));
  const std::array<int, 3> order = orderOf(shape);
  const auto planes = static_cast<std::int64_t>(
      shape.size[static_cast<std::size_t>(order[static_cast<std::size_t>(shape.dims - 1)])]);
  Space space;
  space.dimension("strategy", {kColumns});
  // In three dimensions rows beside each other as well.
  if (shape.dims == 3) {
    space.dimension("elements", {2, 4, 1, 8}).dimension("jam", {2, 1, 4});
    space.dimension("width", {32, 64, 16}).dimension("height", {4, 8, 2});
  } else {
    space.dimension("elements", {4, 2, 6, 8, 1});
    space.dimension("width", {64, 128, 32}).dimension("height", {2, 4, 8});
  }
  space.dimension("lanes", {0, 1}).dimension("depth", {0, 32, 16, 64});
  space.require("marches go from one plane of vectors to the next", [planes](const Point& p) {
    const std::int64_t depth = p.value("depth");
    return depth == 0 || (depth < planes && p.value("elements") == 1 && p.value("lanes") != 1);
  });
  space.require("the device holds such groups", [limit](const Point& p) {
    const std::int64_t items = p.value("width") * p.value("height");
    return items >= 128 && items <= std::min<std::int64_t>(limit, 512);
  });
  space.require("registers hold what a work-item keeps", [](const Point& p) {
    const std::int64_t rows = p.value("elements") * p.value("jam", 1);
    return rows <= 8 && (p.value("lanes") != 1 || rows > 1);
  });
  return space.points();
}

/// Tiles, and streams and columns next to those that are nearest to the library's own choices.
std::vector<Point> groupPoints(const runtime::DeviceState& device, const Shape& shape) {
  std::vector<Point> points = tilePoints(device, shape);
  if (shape.dims < 2) return points;
  const auto limit =
      static_cast<std::int64_t>(std::max<std::size_t>(1, device.properties().maxWorkGroupSize));
  const std::array<int, 3> order = orderOf(shape);
  const auto slowest = static_cast<std::size_t>(order[static_cast<std::size_t>(shape.dims - 1)]);
  const auto planes = static_cast<std::int64_t>(shape.size[slowest]);
  Space space;
  space.dimension("strategy", {kStream});
  if (shape.dims == 3) {
    space.dimension("width", {32, 64, 16}).dimension("height", {8, 4, 16});
  } else {
    space.dimension("width", {128, 256, 64});
  }
  space.dimension("depth", {0, 32, 64, 16});
  space.require("the device holds such groups", [limit](const Point& p) {
    const std::int64_t items = p.value("width") * p.value("height", 1);
    return items >= 32 && items <= limit;
  });
  space.require("there are several slabs",
                [planes](const Point& p) { return p.value("depth") < planes; });
  constexpr std::ptrdiff_t kAfter = 4;
  const std::vector<Point> streams = space.points();
  points.insert(points.begin() + std::min<std::ptrdiff_t>(kAfter, std::ssize(points)),
                streams.begin(), streams.end());
  const std::vector<Point> columns = columnPoints(device, shape);
  points.insert(points.begin(), columns.begin(), columns.end());
  return points;
}

}  // namespace

const char* nameOf(Strategy strategy) {
  return strategy == Strategy::Rows      ? "rows"
         : strategy == Strategy::Tile    ? "tile"
         : strategy == Strategy::Stream  ? "stream"
         : strategy == Strategy::Columns ? "columns"
                                         : "direct";
}

Point Variant::toPoint() const {
  Point point;
  if (isDefault()) return point;
  point.set("strategy", static_cast<std::int64_t>(strategy));
  for (const Field& field : kFields)
    if (this->*field.value != 0) point.set(field.name, this->*field.value);
  return point;
}

Variant Variant::from(const Point& point) {
  Variant variant;
  const std::int64_t strategy = point.value("strategy");
  if (strategy < static_cast<std::int64_t>(Strategy::Direct) || strategy > kColumns) return variant;
  variant.strategy = static_cast<Strategy>(strategy);
  constexpr std::int64_t kMost = 1 << 16;
  for (const Field& field : kFields)
    variant.*field.value = static_cast<int>(std::clamp(point.value(field.name), -kMost, kMost));
  const auto within = [](int value, int most) { return value >= 0 && value <= most; };
  const int lanes = variant.lanes;
  const bool isSound = (lanes == 0 || (lanes == 1 && variant.strategy == Strategy::Columns) ||
                        lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16) &&
                       within(variant.vectors, 8) && within(variant.jam, 16) &&
                       within(variant.band, 1 << 16) && within(variant.depth, 1 << 16) &&
                       within(variant.width, 1024) && within(variant.height, 1024) &&
                       within(variant.elements, 16);
  if (!isSound) return {};
  return variant;
}

std::string Variant::toString() const {
  if (isDefault()) return "the library's own choice";
  std::string text = nameOf(strategy);
  for (const Field& field : kFields)
    if (this->*field.value != 0)
      text += std::string(", ") + field.name + " " + std::to_string(this->*field.value);
  return text;
}

std::vector<Point> variantsOf(const KernelVersion& version, const runtime::DeviceState& device,
                              const Shape& shape) {
  const Point direct = Variant{.strategy = Strategy::Direct}.toPoint();
  std::vector<Point> points{Point()};
  const bool isCpu = device.type() == CPU;
  const strategies::Pointwise& pointwise = version.rewritten->pointwise(version);
  const bool isDirect =
      isCpu && pointwise.isPointwise && !pointwiseChoice(pointwise, shape, false).inRows;
  const std::vector<Point> others =
      isCpu ? rowsPoints(version, device, shape, !isDirect) : groupPoints(device, shape);
  points.insert(points.end(), others.begin(), others.end());
  // Not the first thing to try, where the library has chosen something else.
  constexpr std::ptrdiff_t kFirst = 4;
  if (!isDirect)
    points.insert(points.begin() + std::min<std::ptrdiff_t>(kFirst, std::ssize(points)), direct);
  return points;
}

}  // namespace hpl::layout
