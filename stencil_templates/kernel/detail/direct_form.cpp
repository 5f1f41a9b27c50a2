// SPDX-License-Identifier: Apache-2.0
// One work-item per element, straight from the input. Away from the border of the part neighbours
// are plain accesses at constant offsets, so that the analysis and the vectoriser see what they
// are.
#include <map>
#include <tuple>

#include "hpl/ir/node.h"
#include "hpl/lang/work_items.h"
#include "stencil_templates/kernel/detail/limits.h"
#include "stencil_templates/kernel/detail/point.h"

namespace hpl::kernel_stencils {
namespace {

using Position = Expr<std::size_t>;

/// The work-item's own element and the extent of the part in a dimension.
Position idOf(int rank, int d) {
  return Position(hpl::detail::workItemNode(ir::Query::GlobalId, rank - 1 - d));
}
Position sizeOf(int rank, int d) {
  return Position(hpl::detail::workItemNode(ir::Query::GlobalSize, rank - 1 - d));
}

/// id + offset.
Position moved(const Position& id, const Offset& offset) {
  if (offset.rest != nullptr) {
    const Expr<std::int64_t> rest(offset.rest);
    return offset.constant == 0 ? id + rest : id + (rest + offset.constant);
  }
  if (offset.constant == 0) return id;
  return offset.constant > 0 ? id + offset.constant : id - (-offset.constant);
}

std::vector<Node> ownPlace(int rank) {
  std::vector<Node> place;
  for (int d = 0; d < rank; ++d) place.push_back(idOf(rank, d).node());
  return place;
}

/// Where all neighbours are in the part.
class Inside : public Cells {
 public:
  explicit Inside(const Request& request) : request_(request) {}

  Node read(std::size_t input, const Offsets& offsets) override {
    std::vector<Node> at;
    for (int d = 0; d < request_.rank; ++d)
      at.push_back(moved(idOf(request_.rank, d), offsets.of[d]).node());
    return hpl::detail::accessNode(request_.inputs[input].array, at.data(), at.size());
  }

 private:
  const Request& request_;
};

/// Where some neighbour may lie beyond the border.
class AtBorder : public Cells {
 public:
  explicit AtBorder(const Request& request) : request_(request) {}

  Node read(std::size_t input, const Offsets& offsets) override {
    const Input& in = request_.inputs[input];
    std::vector<Node> at;
    Node exists = nullptr;
    for (int d = 0; d < request_.rank; ++d) {
      at.push_back(position(in.boundary, d, offsets.of[d]));
      if (in.boundary == Boundary::Fixed) exists = both(exists, isInside(d, offsets.of[d]));
    }
    const Node element = hpl::detail::accessNode(in.array, at.data(), at.size());
    if (exists == nullptr) return element;
    return hpl::detail::selectNode(in.array->type, exists, element, in.fixed);
  }

 private:
  Position id(int d) const { return idOf(request_.rank, d); }
  Position size(int d) const { return sizeOf(request_.rank, d); }

  /// Null: always.
  Node isInside(int d, const Offset& offset) const {
    if (offset.rest != nullptr) {
      const Expr<std::int64_t> at(moved(cast<std::int64_t>(id(d)), offset));
      return (at >= 0 && at < cast<std::int64_t>(size(d))).node();
    }
    if (offset.constant == 0) return nullptr;
    if (offset.constant < 0) return (id(d) >= -offset.constant).node();
    return (id(d) + offset.constant < size(d)).node();
  }

  static Expr<std::int64_t> moved(const Expr<std::int64_t>& id, const Offset& offset) {
    const Expr<std::int64_t> rest(offset.rest);
    return offset.constant == 0 ? id + rest : id + (rest + offset.constant);
  }

  Node position(Boundary boundary, int d, const Offset& offset) {
    const bool plain = boundary == Boundary::None || boundary == Boundary::Fixed;
    if (plain || (offset.isConstant() && offset.constant == 0))
      return kernel_stencils::moved(id(d), offset).node();
    if (!offset.isConstant()) return folded(boundary, d, moved(cast<std::int64_t>(id(d)), offset));
    // The same for all neighbours in a row or column: computed once, before the point function.
    const auto key = std::make_tuple(boundary, d, offset.constant);
    auto found = positions_.find(key);
    if (found == positions_.end()) {
      const Node value = (id(d) + correction(boundary, d, offset.constant)).node();
      const Symbol variable = hpl::detail::declareVariable(irType<std::size_t>(),
                                                           ir::Space::Private, 0, nullptr, value);
      found = positions_.emplace(key, variable).first;
    }
    return hpl::detail::variableNode(found->second);
  }

  /// The offset that leads to the element which stands for the one at `offset`. Written as a choice
  /// between constants, so that the access analysis knows how far it reaches.
  Expr<std::int64_t> correction(Boundary boundary, int d, std::int64_t offset) const {
    const bool before = offset < 0;
    const std::int64_t steps = before ? -offset : offset;
    const auto isThere = before ? id(d) >= steps : id(d) + steps < size(d);
    const Expr<std::int64_t> plain(hpl::detail::hostConstant(offset));
    if (boundary == Boundary::Periodic) {
      const auto length = cast<std::int64_t>(size(d));
      return where(isThere, plain, before ? length - steps : steps - length);
    }
    // Elements that are k from the border, from the border on.
    Expr<std::int64_t> result(hpl::detail::hostConstant(distance(boundary, before, steps, 0)));
    for (std::int64_t k = 1; k < steps; ++k) {
      const auto isK = before ? id(d) == k : id(d) + (k + 1) == size(d);
      result = where(
          isK, Expr<std::int64_t>(hpl::detail::hostConstant(distance(boundary, before, steps, k))),
          result);
    }
    return where(isThere, plain, result);
  }

  /// From an element that is k from the border to the one that stands for its neighbour beyond.
  static std::int64_t distance(Boundary boundary, bool before, std::int64_t steps, std::int64_t k) {
    const std::int64_t inwards = boundary == Boundary::Nearest ? -k : steps - 1 - 2 * k;
    return before ? inwards : -inwards;
  }

  /// The same for a place that is known when the kernel runs.
  Node folded(Boundary boundary, int d, const Expr<std::int64_t>& at) const {
    const auto length = cast<std::int64_t>(size(d));
    if (boundary == Boundary::Nearest)
      return where(at < 0, std::int64_t{0}, where(at < length, at, length - 1)).node();
    if (boundary == Boundary::Mirror)
      return where(at < 0, -1 - at, where(at < length, at, 2 * length - 1 - at)).node();
    return where(at < 0, at + length, where(at < length, at, at - length)).node();
  }

  const Request& request_;
  std::map<std::tuple<Boundary, int, std::int64_t>, Symbol> positions_;
};

/// All neighbours are in the part; null: always. In the form that the analysis reads rims from.
Node insideCondition(const Request& request) {
  const Reach reach = request.reach();
  Node condition = nullptr;
  for (int d = request.rank - 1; d >= 0; --d) {
    if (reach.before[d] > 0)
      condition = both(condition, (idOf(request.rank, d) >= reach.before[d]).node());
    if (reach.after[d] > 0)
      condition = both(condition,
                       (idOf(request.rank, d) + reach.after[d] < sizeOf(request.rank, d)).node());
  }
  return condition;
}

/// All neighbours are in the part, or the boundary says what they are; null: always. Ids are
/// compared with constants and sizes only, so that the analysis knows which cells a part and its
/// neighbour treat alike.
Node computableCondition(const Request& request) {
  const Reach reach = request.reach(), without = request.reachWithoutBoundary();
  Node condition = nullptr;
  for (int d = request.rank - 1; d >= 0; --d) {
    const Position id = idOf(request.rank, d), size = sizeOf(request.rank, d);
    const auto isBorder = [&](int flagWord) { return helperWord(request, flagWord + d) != 0; };
    const Rim low{without.before[d], reach.before[d]}, high{without.after[d], reach.after[d]};
    if (low.atBorder > 0) condition = both(condition, (id >= low.atBorder).node());
    if (low.atGhosts > low.atBorder)
      condition = both(condition, (id >= low.atGhosts || isBorder(kBeforeIsBorder)).node());
    if (high.atBorder > 0) condition = both(condition, (id + high.atBorder < size).node());
    if (high.atGhosts > high.atBorder)
      condition = both(condition, (id + high.atGhosts < size || isBorder(kAfterIsBorder)).node());
  }
  return condition;
}

bool hasBoundary(const Request& request) {
  for (std::size_t i = 0; i < request.inputCount; ++i)
    if (request.inputs[i].boundary != Boundary::None) return true;
  return false;
}

}  // namespace

void recordDirect(const Request& request) {
  const std::vector<Node> place = ownPlace(request.rank);
  Inside inside(request);
  const Node isInside = insideCondition(request);
  if (isInside == nullptr) {
    writePoint(request, inside, place);
    return;
  }
  if_(Expr<int>(isInside), request.where) {
    writePoint(request, inside, place);
  }
  if (!hasBoundary(request)) return;
  AtBorder atBorder(request);
  else_ {
    const Node isComputable = computableCondition(request);
    if (isComputable == nullptr) {
      writePoint(request, atBorder, place);
    } else {
      if_(Expr<int>(isComputable), request.where) {
        writePoint(request, atBorder, place);
      }
    }
  }
}

}  // namespace hpl::kernel_stencils
