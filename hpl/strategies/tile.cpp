// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/tile.h"

#include <algorithm>
#include <set>

#include "hpl/strategies/detail/kernel_writer.h"

namespace hpl::strategies {
namespace {

using namespace detail;
using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

/// The dimensions of an array that ids walk through, and how far around them it is read.
struct Reach {
  std::vector<int> axis;
  std::vector<ir::Interval> offsets;
};

/// Empty unless the array is read at several offsets from the ids, with one axis per dimension.
Reach reachOf(const ir::ArrayAccess& access, int dims) {
  Reach reach;
  if (access.written || access.array->rank != dims || !access.array->type.isScalar()) return {};
  if (access.array->space != ir::Space::Global) return {};
  for (const ir::AccessSite& site : access.sites) {
    const bool affine = std::all_of(site.index.begin(), site.index.end(),
                                    [](const ir::IndexForm& f) { return f.isAffine(); });
    if (site.alias || !affine) continue;
    std::vector<int> axis;
    for (const ir::IndexForm& form : site.index) axis.push_back(form.axis);
    if (std::set<int>(axis.begin(), axis.end()).size() != axis.size()) continue;
    if (reach.axis.empty()) {
      reach.axis = axis;
      for (const ir::IndexForm& form : site.index) reach.offsets.push_back(form.range);
    } else if (reach.axis == axis) {
      for (std::size_t d = 0; d < axis.size(); ++d) {
        reach.offsets[d].lo = std::min(reach.offsets[d].lo, site.index[d].range.lo);
        reach.offsets[d].hi = std::max(reach.offsets[d].hi, site.index[d].range.hi);
      }
    }
  }
  const bool several = std::any_of(reach.offsets.begin(), reach.offsets.end(),
                                   [](const ir::Interval& i) { return i.hi > i.lo; });
  const bool isWide = std::any_of(reach.offsets.begin(), reach.offsets.end(),
                                  [](const ir::Interval& i) { return i.hi - i.lo > 256; });
  return several && !isWide ? reach : Reach{};
}

class TileBuilder : private KernelWriter {
 public:
  TileBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
              const TileOptions& options)
      : KernelWriter(kernel, summary, options.dims), options_(options) {}

  Tiled build();

 private:
  const Expr* number(std::int64_t value) { return builder_.number(value, kUlong); }
  void declareIds(Block& out);
  void addTile(const ir::ArrayAccess& access, const Reach& reach, Block& out, Block& fills);
  void fill(const Tile& tile, const Variable* array, const std::vector<std::int64_t>& extents,
            Block& out);
  void compute(Block& out);

  TileOptions options_;
  std::array<int, 3> covers_{1, 1, 1};
  /// First id of the group, the work-item's first id, and the end of the launch's ids.
  std::array<Variable*, 3> group_{};
  std::array<Variable*, 3> id_{};
  std::array<Variable*, 3> end_{};
  Tiles tiles_;
  std::size_t bytes_ = 0;
};

void TileBuilder::declareIds(Block& out) {
  const int slow = options_.order[static_cast<std::size_t>(options_.dims - 1)];
  for (int a = 0; a < options_.dims; ++a) {
    const auto i = static_cast<std::size_t>(a);
    covers_[i] = options_.local[i] * (a == slow ? options_.perItem : 1);
    const std::string name = axisName(a);
    const Expr* first = hidden_.value(Hidden::Kind::First, a);
    group_[i] = builder_.variable("group_" + name, kUlong);
    builder_.declare(out, group_[i],
                     builder_.binary(BinaryOp::Add, first,
                                     builder_.binary(BinaryOp::Mul, query(ir::Query::GroupId, a),
                                                     number(covers_[i]))));
    id_[i] = builder_.variable(name, kUlong);
    builder_.declare(
        out, id_[i],
        builder_.binary(BinaryOp::Add, builder_.ref(group_[i]), query(ir::Query::LocalId, a)));
    end_[i] = builder_.variable("end_" + name, kUlong);
    builder_.declare(out, end_[i],
                     builder_.binary(BinaryOp::Add, first, hidden_.value(Hidden::Kind::Count, a)));
  }
}

void TileBuilder::addTile(const ir::ArrayAccess& access, const Reach& reach, Block& out,
                          Block& fills) {
  const Variable* array = access.array;
  Tile tile;
  tile.axis = reach.axis;
  tile.offsets = reach.offsets;
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < reach.axis.size(); ++d) {
    const auto a = static_cast<std::size_t>(reach.axis[d]);
    extents.push_back(covers_[a] + reach.offsets[d].hi - reach.offsets[d].lo);
    Variable* origin = builder_.variable("origin_" + array->name, kUlong);
    builder_.declare(out, origin, builder_.add(builder_.ref(group_[a]), reach.offsets[d].lo));
    tile.origin.push_back(origin);
  }
  Variable* memory = builder_.variable("tile_" + array->name, array->type);
  memory->rank = array->rank;
  memory->space = ir::Space::Local;
  memory->extents = extents;
  // Rows of a multiple of 32 words put columns into one bank.
  if (extents.size() > 1 && extents.back() % 32 == 0) ++memory->extents.back();
  builder_.declare(out, memory, nullptr);
  tile.memory = memory;
  std::size_t bytes = ir::sizeOf(array->type);
  for (const std::int64_t extent : memory->extents) bytes *= static_cast<std::size_t>(extent);
  bytes_ += bytes;
  fill(tile, array, extents, fills);
  tiles_.emplace(array, std::move(tile));
}

/// All work-items of the group load the tile's cells that exist, neighbours together.
void TileBuilder::fill(const Tile& tile, const Variable* array,
                       const std::vector<std::int64_t>& extents, Block& out) {
  Block* inner = &out;
  ir::Access from{array, {}, 1};
  ir::Access to{tile.memory, {}, 1};
  const Expr* exists = nullptr;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const int a = tile.axis[d];
    Variable* cell = builder_.variable(std::string("cell_") + axisName(a), kUlong);
    inner = builder_.loop(*inner, cell, query(ir::Query::LocalId, a),
                          builder_.binary(BinaryOp::Lt, builder_.ref(cell), number(extents[d])),
                          builder_.binary(BinaryOp::Add, builder_.ref(cell),
                                          number(options_.local[static_cast<std::size_t>(a)])));
    const Expr* index =
        builder_.binary(BinaryOp::Add, builder_.ref(tile.origin[d]), builder_.ref(cell));
    from.indices.push_back(index);
    to.indices.push_back(builder_.ref(cell));
    // Indices before the first are huge unsigned numbers.
    const Expr* within =
        builder_.binary(BinaryOp::Lt, index, hidden_.extent(array, static_cast<int>(d)));
    exists = both(exists, within);
  }
  Block* load = builder_.block();
  builder_.assign(*load, builder_.make(array->type, to), builder_.make(array->type, from));
  builder_.statement(*inner, ir::If{exists, load, nullptr});
}

void TileBuilder::compute(Block& out) {
  const Interior nowhere(source_, {false, false, false}, options_.order[0], {});
  BodyContext context = contextOf(nowhere, 1, options_.order[0], false);
  context.tiles = &tiles_;
  const Variation variation(context);
  const auto slow =
      static_cast<std::size_t>(options_.order[static_cast<std::size_t>(options_.dims - 1)]);
  for (int item = 0; item < options_.perItem; ++item) {
    Place place;
    for (std::size_t a = 0; a < 3; ++a)
      place.base[a] = id_[a] != nullptr ? builder_.ref(id_[a]) : number(0);
    place.shift[slow] = std::int64_t{item} * options_.local[slow];
    const Expr* within = nullptr;
    for (std::size_t a = 0; a < static_cast<std::size_t>(options_.dims); ++a) {
      const Expr* below = builder_.binary(BinaryOp::Lt, builder_.add(place.base[a], place.shift[a]),
                                          builder_.ref(end_[a]));
      within = both(within, below);
    }
    Block* body = builder_.block();
    LoadTable loads;
    BodyWriter writer(context, variation, loads, place);
    for (const ir::Stmt* stmt : source_.body().stmts) writer.write(*stmt, *body, nullptr);
    builder_.statement(out, ir::If{within, body, nullptr});
  }
}

Tiled TileBuilder::build() {
  const ir::AccessSummary& summary = source_.summary();
  if (summary.sharesWithinGroups())
    throw Refused{"its work-items share local memory or wait for each other"};
  if (summary.usesLocalIdOrGroup) throw Refused{"it asks for local or group ids"};
  Block* body = builder_.block();
  declareIds(*body);
  Block fills;
  for (const ir::ArrayAccess& access : summary.arrays) {
    if (source_.isAliased(access.array)) continue;
    const Reach reach = reachOf(access, options_.dims);
    if (!reach.axis.empty()) addTile(access, reach, *body, fills);
  }
  if (tiles_.empty()) throw Refused{"it reads no array at several offsets from its ids"};
  if (options_.localMemory > 0 && bytes_ > options_.localMemory)
    throw Refused{"its tiles would need " + std::to_string(bytes_) +
                  " bytes of local memory, and the device has " +
                  std::to_string(options_.localMemory)};
  body->stmts.insert(body->stmts.end(), fills.stmts.begin(), fills.stmts.end());
  builder_.statement(*body, ir::Barrier{ir::kLocalFence});
  compute(*body);

  Tiled result;
  result.kernel = withBody(*body);
  result.hidden = hidden_.list();
  result.covers = covers_;
  result.bytes = bytes_;
  result.reason = std::to_string(tiles_.size()) + (tiles_.size() == 1 ? " tile" : " tiles") +
                  " of " + std::to_string(bytes_) + " bytes, " + std::to_string(options_.perItem) +
                  (options_.perItem == 1 ? " element" : " elements") + " per work-item";
  return result;
}

}  // namespace

Tiled tile(const ir::Kernel& kernel, const ir::AccessSummary& summary, const TileOptions& options) {
  try {
    return TileBuilder(kernel, summary, options).build();
  } catch (const Refused& refused) {
    Tiled result;
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
