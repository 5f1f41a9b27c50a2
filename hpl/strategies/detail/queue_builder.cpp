// SPDX-License-Identifier: Apache-2.0
// The frame of the kernels; queue_planes.cpp fills and moves the planes.
#include "hpl/strategies/detail/queue_builder.h"

#include <algorithm>

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

QueueBuilder::QueueBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                           const PlaneQueueOptions& options)
    : KernelWriter(kernel, summary, options.dims), options_(options) {}

/// Decides what holds away from the border, or nothing.
Interior QueueBuilder::interior(bool isInside) const {
  std::array<bool, 3> decided{};
  for (int a = 0; a < options_.dims; ++a) decided[static_cast<std::size_t>(a)] = isInside;
  return {source_, decided, rowAxis(), {0, 0, 0}};
}

Place QueueBuilder::here() const {
  auto& builder = const_cast<Builder&>(builder_);
  Place place;
  for (int a = 0; a < 3; ++a)
    place.base[static_cast<std::size_t>(a)] =
        axis(a).id != nullptr ? builder.ref(axis(a).id) : builder.number(0, kUlong);
  return place;
}

void QueueBuilder::body(BodyContext& context, Block& out) {
  const Variation variation(context);
  LoadTable loads;
  BodyWriter writer(context, variation, loads, here());
  for (const ir::Stmt* stmt : source_.body().stmts) writer.write(*stmt, out, nullptr);
}

std::vector<SeenRead> QueueBuilder::readsOf(const Interior& interior) {
  std::vector<SeenRead> reads;
  BodyContext context = this->context(interior);
  context.queues = [&](const ir::Access& access,
                       const std::vector<ir::IndexForm>& forms) -> const Expr* {
    reads.push_back({&access, forms});
    return nullptr;
  };
  Block scratch;
  body(context, scratch);
  return reads;
}

QueuePlan QueueBuilder::plan() {
  Block scratch;
  declareIds(scratch);
  const std::vector<SeenRead> anywhere = readsOf(interior(false));
  return {source_, options_, anywhere, readsOf(interior(true))};
}

void QueueBuilder::declareIds(Block& out) {
  for (int a = 0; a < options_.dims; ++a) {
    const std::string name = axisName(a);
    const bool isSlow = a == slowAxis();
    const Expr* first = hidden_.value(Hidden::Kind::First, a);
    const Expr* last = builder_.binary(BinaryOp::Add, first, hidden_.value(Hidden::Kind::Count, a));
    const Expr* covers =
        isSlow ? hidden_.value(Hidden::Kind::Block, a) : builder_.number(local(a), kUlong);
    Axis& own = axis(a);
    own.group = builder_.variable((isSlow ? "begin_" : "group_") + name, kUlong);
    builder_.declare(
        out, own.group,
        builder_.binary(BinaryOp::Add, first,
                        builder_.binary(BinaryOp::Mul, query(ir::Query::GroupId, a), covers)));
    const Expr* group = builder_.ref(own.group);
    own.end = builder_.variable("end_" + name, kUlong);
    builder_.declare(
        out, own.end,
        isSlow ? builder_.smaller(builder_.binary(BinaryOp::Add, group, covers), last) : last);
    own.id = builder_.variable(name, kUlong);
    if (isSlow) continue;
    own.item = builder_.variable("item_" + name, kUint);
    builder_.declare(out, own.item, builder_.cast(query(ir::Query::LocalId, a), kUint));
    const Expr* item = builder_.cast(builder_.ref(own.item), kUlong);
    builder_.declare(out, own.id, builder_.binary(BinaryOp::Add, group, item));
  }
  const Expr* number = builder_.ref(axis(rowAxis()).item);
  if (middleAxis() >= 0) {
    const Expr* rows = builder_.binary(BinaryOp::Mul, builder_.ref(axis(middleAxis()).item),
                                       builder_.number(local(rowAxis()), kUint));
    number = builder_.binary(BinaryOp::Add, rows, number);
  }
  number_ = builder_.variable("item", kUint);
  builder_.declare(out, number_, number);
}

/// The condition under which ids are away from the border; null: none.
const Expr* QueueBuilder::insideBounds(const BodyContext& context) {
  const Expr* inside = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    const Hoister::Bounds& bounds = context.bounds[static_cast<std::size_t>(a)];
    const Expr* id = builder_.cast(builder_.ref(axis(a).id), kLong);
    for (const Expr* bound : tightest(builder_, bounds.lower, true))
      inside = both(inside, builder_.binary(BinaryOp::Ge, id, bound));
    for (const Expr* bound : tightest(builder_, bounds.upper, false))
      inside = both(inside, builder_.binary(BinaryOp::Lt, id, bound));
  }
  return inside;
}

/// The body, where the domain has the ids; away from the border the one that reads more from
/// queues.
void QueueBuilder::compute(Block& out) {
  const Expr* within = nullptr;
  for (int a = 0; a < options_.dims; ++a)
    if (a != slowAxis())
      within = both(within, builder_.binary(BinaryOp::Lt, builder_.ref(axis(a).id),
                                            builder_.ref(axis(a).end)));
  Block* inner = builder_.block();
  builder_.statement(out, ir::If{within, inner, nullptr});
  const Tiles rings = tiles();
  const auto write = [&](const Interior& interior, Block& block) {
    BodyContext context = this->context(interior);
    context.tiles = &rings;
    context.queues = [this](const ir::Access& access, const std::vector<ir::IndexForm>& forms) {
      return kept(access, forms);
    };
    body(context, block);
    return insideBounds(context);
  };
  if (!plan_->narrows()) {
    write(interior(false), *inner);
    return;
  }
  Block* inside = builder_.block();
  Block* anywhere = builder_.block();
  const Expr* isInside = write(interior(true), *inside);
  if (isInside == nullptr) isInside = builder_.number(1, kInt);
  write(interior(false), *anywhere);
  builder_.statement(*inner, ir::If{isInside, inside, anywhere});
}

std::string QueueBuilder::reason() const {
  std::int64_t most = 1;
  for (const Queue& queue : queues_) {
    most = std::max(most, queue.plan->column.hi - queue.plan->column.lo + 1);
    if (queue.plan->hasRing) most = std::max(most, queue.plan->slots() - 1);
  }
  std::string text = "queues of " + std::to_string(most) +
                     (options_.dims == 3 ? " planes" : " rows") + " of " +
                     std::to_string(queues_.size()) + (queues_.size() == 1 ? " array" : " arrays");
  if (bytes_ > 0) text += ", " + std::to_string(bytes_) + " bytes of local memory";
  return text;
}

PlaneQueue QueueBuilder::build(const QueuePlan& plan) {
  plan_ = &plan;
  Block* text = builder_.block();
  declareIds(*text);
  queues_.reserve(plan.arrays().size());
  for (const QueuedArray& queued : plan.arrays()) declareQueue(queued, *text);
  if (options_.localMemory > 0 && bytes_ > options_.localMemory)
    throw Refused{"its planes would need " + std::to_string(bytes_) +
                  " bytes of local memory, and the device has " +
                  std::to_string(options_.localMemory)};
  Axis& slow = axis(slowAxis());
  builder_.declare(*text, slow.id, builder_.ref(slow.group));
  prefill(*text);
  const Expr* plane = builder_.ref(slow.id);
  ir::Loop loop{nullptr, builder_.binary(BinaryOp::Lt, plane, builder_.ref(slow.end)),
                builder_.block(), builder_.block()};
  builder_.assign(const_cast<Block&>(*loop.step), plane, builder_.add(plane, 1));
  auto& inner = const_cast<Block&>(*loop.body);
  advance(inner);
  builder_.statement(*text, loop);

  PlaneQueue result;
  result.kernel = withBody(*text);
  result.hidden = hidden_.list();
  result.bytes = bytes_;
  result.reason = reason();
  return result;
}

}  // namespace hpl::strategies::detail
