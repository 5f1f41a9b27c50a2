// SPDX-License-Identifier: Apache-2.0
// Registers and rings: how planes come, where they are, and how they move on.
#include "hpl/strategies/detail/queue_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Interval;
using ir::Variable;

namespace {

std::string nameOf(const Variable& array, std::int64_t offset) {
  return array.name +
         (offset < 0   ? "_before"
          : offset > 0 ? "_after"
                       : "_here") +
         (offset == 0 ? "" : std::to_string(offset < 0 ? -offset : offset));
}

}  // namespace

void QueueBuilder::declareQueue(const QueuedArray& queued, Block& out) {
  Queue& queue = queues_.emplace_back();
  queue.plan = &queued;
  const Variable& array = *queued.array;
  const Expr* exists = nullptr;
  for (std::size_t d = 0; d < queued.axis.size(); ++d) {
    const int a = queued.axis[d];
    if (a == slowAxis()) continue;
    exists = both(exists, builder_.binary(BinaryOp::Lt, builder_.ref(axis(a).id),
                                          hidden_.extent(&array, static_cast<int>(d))));
  }
  queue.exists = builder_.variable("has_" + array.name, kInt);
  builder_.declare(out, queue.exists, exists);
  for (std::int64_t k = queued.column.lo; k <= queued.column.hi; ++k) {
    Variable* value = builder_.variable(nameOf(array, k), array.type);
    builder_.declare(out, value, builder_.make(array.type, ir::Constant{}));
    queue.column[k] = value;
  }
  if (queued.hasRing) declareRing(queue, out);
}

void QueueBuilder::declareRing(Queue& queue, Block& out) {
  const Variable& array = *queue.plan->array;
  const Interval across = haloOf(queue, rowAxis());
  const Interval along = haloOf(queue, middleAxis());
  queue.width = local(rowAxis()) + across.hi - across.lo;
  queue.height = middleAxis() < 0 ? 1 : local(middleAxis()) + along.hi - along.lo;
  // Rows of a multiple of 32 words put columns into one bank.
  queue.pitch = queue.height > 1 && queue.width % 32 == 0 ? queue.width + 1 : queue.width;
  const std::int64_t plane = queue.pitch * queue.height;

  Variable* memory = builder_.variable("planes_" + array.name, array.type);
  memory->rank = 1;
  memory->space = ir::Space::Local;
  memory->extents = {plane * queue.plan->slots()};
  builder_.declare(out, memory, nullptr);
  queue.memory = memory;
  bytes_ += ir::sizeOf(array.type) * static_cast<std::size_t>(memory->extents.front());

  const Expr* cell =
      builder_.add(builder_.cast(builder_.ref(axis(rowAxis()).item), kUlong), -across.lo);
  if (middleAxis() >= 0) {
    const Expr* row =
        builder_.add(builder_.cast(builder_.ref(axis(middleAxis()).item), kUlong), -along.lo);
    cell = builder_.binary(
        BinaryOp::Add, builder_.binary(BinaryOp::Mul, row, builder_.number(queue.pitch, kUlong)),
        cell);
  }
  queue.cell = builder_.variable("cell_" + array.name, kUlong);
  builder_.declare(out, queue.cell, cell);
  for (std::int64_t s = 0; s < queue.plan->slots(); ++s) {
    queue.slots.push_back(builder_.variable("plane_" + array.name, kUlong));
    builder_.declare(out, queue.slots.back(), builder_.number(s * plane, kUlong));
  }
}

/// The array's element at ids.
const Expr* QueueBuilder::element(const Queue& queue, const std::array<const Expr*, 3>& ids) {
  const Variable& array = *queue.plan->array;
  ir::Access access{&array, {}, 1};
  for (const int a : queue.plan->axis) access.indices.push_back(ids[static_cast<std::size_t>(a)]);
  return builder_.make(array.type, std::move(access));
}

/// The element of the own column in a plane; 0 where the array has none.
const Expr* QueueBuilder::load(const Queue& queue, std::int64_t offset) {
  std::array<const Expr*, 3> ids = here().base;
  const Expr* plane = builder_.add(builder_.ref(axis(slowAxis()).id), offset);
  ids[static_cast<std::size_t>(slowAxis())] = plane;
  const Expr* exists = builder_.ref(queue.exists);
  for (std::size_t d = 0; d < queue.plan->axis.size(); ++d) {
    if (queue.plan->axis[d] != slowAxis()) continue;
    // Planes before the first have huge unsigned numbers.
    exists = both(exists, builder_.binary(BinaryOp::Lt, plane,
                                          hidden_.extent(queue.plan->array, static_cast<int>(d))));
  }
  const ir::Type& type = queue.plan->array->type;
  return builder_.select(exists, element(queue, ids), builder_.make(type, ir::Constant{}));
}

/// A part of the halo: `count` cells that the group shares out; how their numbers become places in
/// the plane.
struct QueueBuilder::Edge {
  std::int64_t count = 0;
  /// Cells per row, and the rows and columns before the work-items' own ones, which are left out.
  std::int64_t perRow = 1;
  std::int64_t firstRow = 0;
  bool skipsRows = false;
  bool skipsColumns = false;
};

void QueueBuilder::fillEdge(const Queue& queue, std::int64_t offset, const Edge& edge, Block& out) {
  if (edge.count == 0) return;
  const std::int64_t items = local(rowAxis()) * (middleAxis() < 0 ? 1 : local(middleAxis()));
  const auto number = [&](std::int64_t n) { return builder_.number(n, kUint); };
  const auto binary = [&](BinaryOp op, const Expr* a, const Expr* b) {
    return builder_.binary(op, a, b);
  };
  // Past the cells of the work-items themselves.
  const auto skipped = [&](const Expr* place, int a) {
    const std::int64_t before = -haloOf(queue, a).lo;
    if (before == 0) return builder_.add(place, local(a));
    return builder_.select(binary(BinaryOp::Lt, place, number(before)), place,
                           builder_.add(place, local(a)));
  };
  Variable* i = builder_.variable("halo", kUint);
  const Expr* at = builder_.ref(i);
  const Expr* isCell = binary(BinaryOp::Lt, at, number(edge.count));
  Block* block = builder_.block();
  if (edge.count <= items) {
    builder_.declare(out, i, builder_.ref(number_));
    builder_.statement(out, ir::If{isCell, block, nullptr});
  } else {
    block = builder_.loop(out, i, builder_.ref(number_), isCell, builder_.add(at, items));
  }
  const Expr* row = binary(BinaryOp::Div, at, number(edge.perRow));
  const Expr* column = binary(BinaryOp::Rem, at, number(edge.perRow));
  if (edge.skipsRows) row = skipped(row, middleAxis());
  if (edge.skipsColumns) column = skipped(column, rowAxis());
  row = builder_.add(row, edge.firstRow);
  Variable* rowOf = builder_.variable("halo_row", kUlong);
  Variable* columnOf = builder_.variable("halo_column", kUlong);
  builder_.declare(*block, rowOf, builder_.cast(row, kUlong));
  builder_.declare(*block, columnOf, builder_.cast(column, kUlong));
  copyCell(queue, offset, rowOf, columnOf, *block);
}

/// Brings a cell of the plane, counted from its first row and column, if the array has it.
void QueueBuilder::copyCell(const Queue& queue, std::int64_t offset, const Variable* rowOf,
                            const Variable* columnOf, Block& out) {
  const auto binary = [&](BinaryOp op, const Expr* a, const Expr* b) {
    return builder_.binary(op, a, b);
  };
  std::array<const Expr*, 3> ids = here().base;
  const auto place = [&](int a, const Expr* cell) {
    const Expr* first = builder_.add(builder_.ref(axis(a).group), haloOf(queue, a).lo);
    ids[static_cast<std::size_t>(a)] = binary(BinaryOp::Add, first, cell);
  };
  place(rowAxis(), builder_.ref(columnOf));
  if (middleAxis() >= 0) place(middleAxis(), builder_.ref(rowOf));
  ids[static_cast<std::size_t>(slowAxis())] =
      builder_.add(builder_.ref(axis(slowAxis()).id), offset);
  const Expr* exists = nullptr;
  for (std::size_t d = 0; d < queue.plan->axis.size(); ++d)
    exists = both(exists, binary(BinaryOp::Lt, ids[static_cast<std::size_t>(queue.plan->axis[d])],
                                 hidden_.extent(queue.plan->array, static_cast<int>(d))));
  const Expr* cell =
      binary(BinaryOp::Add,
             binary(BinaryOp::Mul, builder_.ref(rowOf), builder_.number(queue.pitch, kUlong)),
             builder_.ref(columnOf));
  const Expr* slot =
      builder_.ref(queue.slots[static_cast<std::size_t>(offset - queue.plan->ring.lo)]);
  const ir::Access to{queue.memory, {binary(BinaryOp::Add, slot, cell)}, 1};
  Block* copy = builder_.block();
  builder_.assign(*copy, builder_.make(queue.memory->type, to), element(queue, ids));
  builder_.statement(out, ir::If{exists, copy, nullptr});
}

/// The cells around those of the work-items: rows before and after them, then the sides.
void QueueBuilder::fillHalo(const Queue& queue, std::int64_t offset, Block& out) {
  const Interval across = haloOf(queue, rowAxis());
  const Interval along = haloOf(queue, middleAxis());
  const std::int64_t rows = along.hi - along.lo;
  const std::int64_t sides = across.hi - across.lo;
  const std::int64_t height = middleAxis() < 0 ? 1 : local(middleAxis());
  fillEdge(queue, offset, {rows * queue.width, queue.width, 0, true, false}, out);
  fillEdge(queue, offset, {sides * height, sides, -along.lo, false, true}, out);
}

/// Brings a plane into the ring: the own element from the queue, if it is there.
void QueueBuilder::fill(const Queue& queue, std::int64_t offset, Block& out) {
  const Expr* slot =
      builder_.ref(queue.slots[static_cast<std::size_t>(offset - queue.plan->ring.lo)]);
  const ir::Access own{
      queue.memory, {builder_.binary(BinaryOp::Add, slot, builder_.ref(queue.cell))}, 1};
  const auto known = queue.column.find(offset);
  builder_.assign(out, builder_.make(queue.memory->type, own),
                  known != queue.column.end() ? builder_.ref(known->second) : load(queue, offset));
  fillHalo(queue, offset, out);
}

/// All planes but the newest ones, for the first plane of the slab.
void QueueBuilder::prefill(Block& out) {
  for (const Queue& queue : queues_) {
    for (const auto& [offset, value] : queue.column)
      if (offset < queue.plan->column.hi)
        builder_.assign(out, builder_.ref(value), load(queue, offset));
    if (!queue.plan->hasRing) continue;
    for (std::int64_t k = queue.plan->ring.lo; k < queue.plan->ring.hi; ++k) fill(queue, k, out);
  }
}

/// One plane: what is new comes, the body is computed, everything moves on.
void QueueBuilder::advance(Block& out) {
  for (const Queue& queue : queues_) {
    const std::int64_t newest = queue.plan->column.hi;
    builder_.assign(out, builder_.ref(queue.column.at(newest)), load(queue, newest));
  }
  // The spare plane that is written here was read two planes ago: one barrier is enough.
  for (const Queue& queue : queues_)
    if (queue.plan->hasRing) fill(queue, queue.plan->ring.hi, out);
  if (bytes_ > 0) builder_.statement(out, ir::Barrier{ir::kLocalFence});
  compute(out);
  for (const Queue& queue : queues_) {
    for (const auto& [offset, value] : queue.column)
      if (offset < queue.plan->column.hi)
        builder_.assign(out, builder_.ref(value), builder_.ref(queue.column.at(offset + 1)));
    if (!queue.plan->hasRing) continue;
    Variable* oldest = builder_.variable("oldest", kUlong);
    builder_.declare(out, oldest, builder_.ref(queue.slots.front()));
    for (std::size_t s = 0; s + 1 < queue.slots.size(); ++s)
      builder_.assign(out, builder_.ref(queue.slots[s]), builder_.ref(queue.slots[s + 1]));
    builder_.assign(out, builder_.ref(queue.slots.back()), builder_.ref(oldest));
  }
}

/// The rings, as copies of the body look into them.
Tiles QueueBuilder::tiles() const {
  auto& builder = const_cast<Builder&>(builder_);
  Tiles tiles;
  for (const Queue& queue : queues_) {
    if (!queue.plan->hasRing) continue;
    const Interval ring = queue.plan->ring;
    Tile tile;
    tile.memory = queue.memory;
    tile.axis = queue.plan->axis;
    tile.ringAxis = slowAxis();
    for (const int a : tile.axis) {
      tile.offsets.push_back(a == slowAxis() ? ring : haloOf(queue, a));
      tile.strides.push_back(a == rowAxis() ? 1 : a == slowAxis() ? 0 : queue.pitch);
    }
    for (std::int64_t k = ring.lo; k <= ring.hi; ++k) {
      const Variable* slot = queue.slots[static_cast<std::size_t>(k - ring.lo)];
      tile.starts[k] = builder.binary(BinaryOp::Add, builder.ref(slot), builder.ref(queue.cell));
    }
    tile.start = tile.starts.begin()->second;
    tiles.emplace(queue.plan->array, std::move(tile));
  }
  return tiles;
}

const Expr* QueueBuilder::kept(const ir::Access& access, const std::vector<ir::IndexForm>& forms) {
  const QueuedArray* queued = plan_->find(access.array);
  if (queued == nullptr || !plan_->isInColumn(*queued, forms)) return nullptr;
  for (std::size_t d = 0; d < forms.size(); ++d) {
    if (forms[d].axis != slowAxis()) continue;
    const auto place = static_cast<std::size_t>(queued - plan_->arrays().data());
    return builder_.ref(queues_[place].column.at(forms[d].range.lo));
  }
  return nullptr;
}

}  // namespace hpl::strategies::detail
