// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/border.h"

namespace hpl::stencils {
namespace {

using Position = Expr<std::size_t>;

std::size_t unsignedOf(std::int64_t value) { return static_cast<std::size_t>(value); }

Position shifted(const Position& own, const Offset& offset) {
  if (offset.node != nullptr)
    return own + Position(detail::castNode(offset.node, irType<std::size_t>()));
  if (offset.constant > 0) return own + unsignedOf(offset.constant);
  if (offset.constant < 0) return own - unsignedOf(-offset.constant);
  return own;
}

/// The value with its sign changed where the condition does not hold.
Node negatedUnless(const Expr<int>& inside, Node value) {
  const Expr<int> sign = where(inside, 1, -1);
  const Node product = detail::binaryNode(ir::BinaryOp::Mul, value->type, value, sign.node());
  return detail::convertNode(product, value->type);
}

bool isValue(BoundaryKind kind) {
  return kind == BoundaryKind::Fixed || kind == BoundaryKind::Computed;
}

bool isMirror(BoundaryKind kind) {
  return kind == BoundaryKind::Mirror || kind == BoundaryKind::MirrorOdd;
}

/// The coordinate of a neighbour, which may be outside.
Node coordinateOf(const Position& own, const Offset& offset) {
  const Expr<int> x = cast<int>(own);
  if (offset.node != nullptr)
    return (x + Expr<int>(detail::castNode(offset.node, irType<int>()))).node();
  return (x + static_cast<int>(offset.constant)).node();
}

}  // namespace

Expr<std::size_t> positionOf(int dims, int dim) {
  return Position(detail::workItemNode(ir::Query::GlobalId, dims - 1 - dim));
}
Expr<std::size_t> sizeOf(int dims, int dim) {
  return Position(detail::workItemNode(ir::Query::GlobalSize, dims - 1 - dim));
}

Node InteriorReader::read(int input, const Offset* offsets) {
  std::array<Node, 3> indices{};
  for (int d = 0; d < dims_; ++d) {
    Offset offset = offsets[d];
    const std::int64_t shift = inputs_ != nullptr ? (*inputs_)[unsignedOf(input)].shift(d) : 0;
    // One constant where both are: indices stay as simple as they were.
    if (offset.node == nullptr) offset.constant += shift;
    Position at = shifted(positionOf(dims_, d), offset);
    if (offset.node != nullptr && shift > 0) at = at + unsignedOf(shift);
    indices[unsignedOf(d)] = at.node();
  }
  return detail::accessNode(symbols_.inputs[unsignedOf(input)], indices.data(), unsignedOf(dims_));
}

Expr<int> BorderReader::Step::insideHigh() const { return own + *ahead < size; }

BorderReader::BorderReader(const StencilRecipe& recipe, const KernelSymbols& symbols)
    : recipe_(recipe), symbols_(symbols), dims_(recipe.dims()) {
  // Declared where the border's branch begins, so that every read may use them.
  for (std::size_t i = 0; i < recipe.inputs.size(); ++i) {
    for (int d = 0; d < dims_; ++d) {
      for (const std::int64_t constant : recipe.inputs[i].reach.constants[unsignedOf(d)]) {
        const Offset offset{nullptr, constant};
        const int input = static_cast<int>(i);
        const Step step = stepOf(input, d, offset);
        Node& variable = variables_[keyOf(d, constant, step)];
        if (variable == nullptr)
          variable = detail::variableNode(
              detail::declareVariable(irType<std::size_t>(), ir::Space::Private, 0, nullptr,
                                      indexOf(step, d, usesSlices(step, d)).node()));
      }
    }
  }
}

BorderReader::Step BorderReader::stepOf(int input, int dim, const Offset& offset) const {
  const InputPlan& plan = recipe_.inputs[unsignedOf(input)];
  const Position own = positionOf(dims_, dim);
  Step step{own,
            sizeOf(dims_, dim),
            {},
            {},
            shifted(own, offset),
            plan.kind(dims_, dim, false),
            plan.kind(dims_, dim, true),
            plan.reach.before(dim),
            plan.reach.after(dim),
            plan.isJoined(dim),
            plan.shift(dim)};
  if (offset.node == nullptr) {
    step.before = -offset.constant;
    step.after = offset.constant;
    if (offset.constant < 0) step.back.emplace(detail::hostConstant(unsignedOf(-offset.constant)));
    if (offset.constant > 0) step.ahead.emplace(detail::hostConstant(unsignedOf(offset.constant)));
  } else {
    const Expr<long> far(detail::castNode(offset.node, irType<long>()));
    if (step.before > 0) step.back.emplace(cast<std::size_t>(where(far < 0L, -far, 0L)));
    if (step.after > 0) step.ahead.emplace(cast<std::size_t>(where(far > 0L, far, 0L)));
  }
  // Reads beyond an Untouched face do not occur: such cells are not computed.
  if (step.low == BoundaryKind::Untouched) step.back.reset();
  if (step.high == BoundaryKind::Untouched) step.ahead.reset();
  return step;
}

/// The mirror image of a position before the domain.
Expr<std::size_t> BorderReader::mirroredLow(const Step& step, int dim) const {
  if (dim + 1 < dims_) return *step.back - std::size_t{1} - step.own;
  Position index = *step.back - unsignedOf(step.before);
  for (std::int64_t at = step.before - 1; at >= 1; --at)
    index = where(step.own < unsignedOf(at), *step.back - unsignedOf(at), index);
  return index;
}

/// The mirror image of a position after the domain.
Expr<std::size_t> BorderReader::mirroredHigh(const Step& step, int dim) const {
  if (dim + 1 < dims_) return step.size + step.size - std::size_t{1} - *step.ahead - step.own;
  const Position first = step.size - *step.ahead;
  Position index = first + unsignedOf(step.after - 1);
  for (std::int64_t at = step.after - 1; at >= 1; --at)
    index = where(step.own + unsignedOf(at) >= step.size, first + unsignedOf(at - 1), index);
  return index;
}

/// The position inside the domain that stands for one before it.
Expr<std::size_t> BorderReader::beyondLow(const Step& step, int dim, bool bySlices) const {
  if (isValue(step.low) || bySlices) return step.own;
  if (step.low == BoundaryKind::Nearest) return Position(detail::hostConstant(std::size_t{0}));
  if (step.low == BoundaryKind::Periodic) return step.own + (step.size - *step.back);
  return mirroredLow(step, dim);
}

/// The position inside the domain that stands for one after it.
Expr<std::size_t> BorderReader::beyondHigh(const Step& step, int dim, bool bySlices) const {
  if (isValue(step.high) || bySlices) return step.own;
  if (step.high == BoundaryKind::Nearest) return step.size - std::size_t{1};
  if (step.high == BoundaryKind::Periodic) return step.own - (step.size - *step.ahead);
  return mirroredHigh(step, dim);
}

Expr<std::size_t> BorderReader::indexOf(const Step& step, int dim, bool bySlices) const {
  if (!step.isJoined) return positionIn(step, dim, bySlices);
  return step.shift > 0 ? step.plain + unsignedOf(step.shift) : step.plain;
}

Expr<std::size_t> BorderReader::positionIn(const Step& step, int dim, bool bySlices) const {
  Position index = step.plain;
  if (step.ahead) index = where(step.insideHigh(), index, beyondHigh(step, dim, bySlices));
  if (step.back) index = where(step.insideLow(), index, beyondLow(step, dim, bySlices));
  return index;
}

Expr<std::size_t> BorderReader::knownIndex(int dim, const Offset& offset, const Step& step) {
  if (offset.node == nullptr) {
    const auto found = variables_.find(keyOf(dim, offset.constant, step));
    if (found != variables_.end()) return Position(found->second);
  }
  return indexOf(step, dim, usesSlices(step, dim));
}

Node BorderReader::load(int input, const std::vector<Step>& steps,
                        const std::vector<Node>& indices) const {
  const auto from = [&](Symbol array, Node slowest) {
    std::vector<Node> own = indices;
    own[0] = slowest;
    return detail::accessNode(array, own.data(), own.size());
  };
  const Node inside = from(symbols_.inputs[unsignedOf(input)], indices[0]);
  const Step& step = steps[0];
  if (!usesSlices(step, 0)) return inside;
  const Symbol first = symbols_.firstSlices[unsignedOf(input)];
  const Symbol last = symbols_.lastSlices[unsignedOf(input)];
  const std::size_t lastCount = unsignedOf(recipe_.inputs[unsignedOf(input)].lastSlices(dims_));
  const std::size_t none = 0;
  // Also the indices of branches that are not taken stay inside their array.
  Node value = inside;
  if (step.ahead && !isValue(step.high)) {
    const Expr<int> fits = step.insideHigh();
    Position slice = Position(detail::hostConstant(lastCount - 1));
    Symbol array = last;
    if (step.high == BoundaryKind::Periodic) {
      slice = where(fits, none, step.own - (step.size - *step.ahead));
      array = first;
    } else if (isMirror(step.high)) {
      slice = where(fits, none, mirroredHigh(step, 0) - (step.size - lastCount));
    }
    value = detail::selectNode(value->type, fits.node(), value, from(array, slice.node()));
  }
  if (step.back && !isValue(step.low)) {
    const Expr<int> fits = step.insideLow();
    Position slice = Position(detail::hostConstant(none));
    Symbol array = first;
    if (step.low == BoundaryKind::Periodic) {
      slice = where(fits, none, step.own + (lastCount - *step.back));
      array = last;
    } else if (isMirror(step.low)) {
      slice = where(fits, none, mirroredLow(step, 0));
    }
    value = detail::selectNode(value->type, fits.node(), value, from(array, slice.node()));
  }
  return value;
}

Node BorderReader::valueBeyond(int input, int dim, bool high, const std::vector<Step>& steps,
                               const std::vector<Node>& indices, const Offset* offsets) const {
  const InputPlan& plan = recipe_.inputs[unsignedOf(input)];
  std::vector<Node> coordinates;
  for (int d = 0; d < dims_; ++d) {
    // Slower dimensions have been led inside already.
    const std::size_t at = unsignedOf(d);
    if (d >= dim) {
      coordinates.push_back(coordinateOf(steps[at].own, offsets[d]));
      continue;
    }
    const bool isElsewhere = usesSlices(steps[at], d) || steps[at].isJoined;
    const Node index = isElsewhere ? positionIn(steps[at], d, false).node() : indices[at];
    coordinates.push_back(detail::castNode(index, irType<int>()));
  }
  const Node value = plan.value(dims_, dim, high)->at(coordinates.data(), dims_);
  return detail::convertNode(value, plan.type);
}

Node BorderReader::read(int input, const Offset* offsets) {
  std::vector<Step> steps;
  std::vector<Node> indices;
  for (int d = 0; d < dims_; ++d) {
    steps.push_back(stepOf(input, d, offsets[d]));
    indices.push_back(knownIndex(d, offsets[d], steps.back()).node());
  }
  Node value = load(input, steps, indices);
  for (int d = dims_ - 1; d >= 0; --d) {
    const Step& step = steps[unsignedOf(d)];
    const auto apply = [&](bool high, const Expr<int>& inside) {
      const BoundaryKind kind = high ? step.high : step.low;
      if (kind == BoundaryKind::MirrorOdd) value = negatedUnless(inside, value);
      if (isValue(kind))
        value = detail::selectNode(value->type, inside.node(), value,
                                   valueBeyond(input, d, high, steps, indices, offsets));
    };
    if (step.ahead) apply(true, step.insideHigh());
    if (step.back) apply(false, step.insideLow());
  }
  return value;
}

}  // namespace hpl::stencils
