// SPDX-License-Identifier: Apache-2.0
// The work-items of a group copy the elements that all of them need into local memory, wait for
// each other, and compute several elements each from there (paper, Section 3.3). The helper array
// describes the part: the global size is that of the work-items.
#include <vector>

#include "hpl/ir/node.h"
#include "hpl/lang/work_items.h"
#include "stencil_templates/kernel/detail/limits.h"
#include "stencil_templates/kernel/detail/point.h"

namespace hpl::kernel_stencils {
namespace {

Expr<int> query(ir::Query what, int axis) {
  return cast<int>(Expr<std::size_t>(hpl::detail::workItemNode(what, axis)));
}

/// The statements of the tile form. Vectors of kernel variables go by dimension, slowest first.
class Tile {
 public:
  explicit Tile(const Request& request)
      : request_(request),
        rank_(request.rank),
        reach_(request.reach()),
        prepared_(helperWord(request, kSignature) == signatureOf(rank_, reach_, true),
                  request.where),
        perThread_(helperWord(request, kPerThread), request.where) {
    for (int d = 0; d < rank_; ++d) {
      const int axis = rank_ - 1 - d;
      extent_.push_back(declared(helperWord(request, kExtent + d)));
      lane_.push_back(declared(query(ir::Query::LocalId, axis)));
      step_.push_back(declared(query(ir::Query::LocalSize, axis)));
      block_.push_back(axis == 0 ? declared(step_[index(d)] * perThread_)
                                 : Int(step_[index(d)], request.where));
      first_.push_back(declared(query(ir::Query::GroupId, axis) * block_[index(d)]));
    }
    for (int s = 0; s + 1 < rank_; ++s)
      strides_.push_back(declared(helperWord(request, s == 0 ? kTileRow : kTilePlane)));
  }

  void record() {
    // A helper of another preparation says nothing about this tile: then nothing is done.
    if_(prepared_, request_.where) {
      for (std::size_t i = 0; i < request_.inputCount; ++i) {
        std::vector<Int> cell, place;
        fill(request_.inputs[i], 0, cell, place);
      }
    }
    barrier(LOCAL, request_.where);
    if_(prepared_, request_.where) {
      for_(Int k = 0, k < perThread_, k++) {
        compute(k);
      }
    }
  }

 private:
  Int declared(const Expr<int>& value) const { return Int(value, request_.where); }
  static std::size_t index(int d) { return static_cast<std::size_t>(d); }

  /// The cells of the tile that the input fills, from dimension d on; those of one row lie side by
  /// side, and so do the work-items that fetch them.
  void fill(const Input& input, int d, std::vector<Int>& cell, std::vector<Int>& place) {
    if (d == rank_) {
      fillCell(input, cell, place);
      return;
    }
    const int origin = reach_.before[d];
    const Int& step = step_[index(d)];
    const Int end = declared(block_[index(d)] + (origin + input.reach.after[d]));
    for_(Int t = lane_[index(d)] + (origin - input.reach.before[d]), t < end, t += step) {
      cell.push_back(Int::fromSymbol(symbolOf(t)));
      hpl::detail::setLocation(request_.where);
      place.push_back(declared(first_[index(d)] + t - origin));
      fill(input, d + 1, cell, place);
      cell.pop_back();
      place.pop_back();
    }
  }

  static Symbol symbolOf(const Int& variable) {
    return variable.node()->as<ir::VarRef>()->variable;
  }

  void fillCell(const Input& input, const std::vector<Int>& cell, const std::vector<Int>& place) {
    // Groups at the end of the part reach beyond what anybody needs.
    Node isNeeded = nullptr;
    Node isInside = nullptr;
    std::vector<Node> at, to;
    for (int d = 0; d < rank_; ++d) {
      const Int& i = place[index(d)];
      const Int& n = extent_[index(d)];
      isNeeded = both(isNeeded, (i < n + input.reach.after[d]).node());
      isInside = both(isInside, (i >= 0 && i < n).node());
      at.push_back(source(input.boundary, i, n));
      to.push_back(cell[index(d)].node());
    }
    const Node target = hpl::detail::accessNode(input.tile, to.data(), to.size());
    const Node element = hpl::detail::accessNode(input.array, at.data(), at.size());
    if (input.boundary == Boundary::None) {
      if_(Expr<int>(isInside), request_.where) {
        hpl::detail::assignNode(target, element);
      }
    } else if (input.boundary == Boundary::Fixed) {
      if_(Expr<int>(isNeeded), request_.where) {
        hpl::detail::assignNode(
            target, hpl::detail::selectNode(input.array->type, isInside, element, input.fixed));
      }
    } else {
      if_(Expr<int>(isNeeded), request_.where) {
        hpl::detail::assignNode(target, element);
      }
    }
  }

  /// The element that stands for the one at i. At borders that are not the array's these cells are
  /// not needed, but they exist.
  static Node source(Boundary boundary, const Int& i, const Int& n) {
    switch (boundary) {
      case Boundary::Nearest:
        return where(i < 0, 0, where(i < n, i, n - 1)).node();
      case Boundary::Mirror:
        return where(i < 0, -1 - i, where(i < n, i, 2 * n - 1 - i)).node();
      case Boundary::Periodic:
        return where(i < 0, i + n, where(i < n, i, i - n)).node();
      default:
        return i.node();
    }
  }

  /// The k-th element of the work-item.
  void compute(const Int& k) {
    const Reach without = request_.reachWithoutBoundary();
    std::vector<Int> place;
    std::vector<Node> at, center;
    Node isComputable = nullptr;
    for (int d = 0; d < rank_; ++d) {
      const Int own(d == rank_ - 1 ? lane_[index(d)] + k * step_[index(d)] : lane_[index(d)] + 0,
                    request_.where);
      place.push_back(declared(first_[index(d)] + own));
      const Int& i = place.back();
      at.push_back(i.node());
      center.push_back((own + reach_.before[d]).node());
      const Rim low{without.before[d], reach_.before[d]}, high{without.after[d], reach_.after[d]};
      if (const Node rim = low.node(request_, kBeforeIsBorder + d))
        isComputable = both(isComputable, (i >= Expr<int>(rim)).node());
      const Node rim = high.node(request_, kAfterIsBorder + d);
      isComputable =
          both(isComputable, rim == nullptr ? (i < extent_[index(d)]).node()
                                            : (i < extent_[index(d)] - Expr<int>(rim)).node());
    }
    if_(Expr<int>(isComputable), request_.where) {
      std::vector<Symbol> aliases, strides;
      for (std::size_t input = 0; input < request_.inputCount; ++input)
        aliases.push_back(hpl::detail::declareAlias(
            request_.inputs[input].tile->type,
            hpl::detail::accessNode(request_.inputs[input].tile, center.data(), center.size())));
      for (const Int& stride : strides_) strides.push_back(symbolOf(stride));
      std::vector<Node> results(request_.outputCount);
      request_.point.call(request_.point.closure, aliases.data(), strides.data(), results.data());
      hpl::detail::setLocation(request_.where);
      writeResults(request_, at, results);
    }
  }

  const Request& request_;
  const int rank_;
  const Reach reach_;
  Int prepared_;
  Int perThread_;
  std::vector<Int> extent_, lane_, step_, block_, first_, strides_;
};

}  // namespace

void recordTile(const Request& request) {
  // For its checks.
  const RecordedPoint point(request);
  Tile(request).record();
}

}  // namespace hpl::kernel_stencils
