// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/pattern_step.h"

#include <fmt/format.h>

#include "hpl/error.h"

namespace hpl::stencils {
namespace {

using detail::Node;
using detail::nodeOf;

/// The parts of a pattern's kernel: the work-item's cell, guards, loops and elements.
template <class T>
class PatternRecorder {
 public:
  explicit PatternRecorder(const PatternPlan& plan) : plan_(plan) {
    const ir::Type type = irType<T>();
    out_ = detail::arrayParameter(type, ir::Space::Global, plan.rank(), false);
    in_ = detail::arrayParameter(type, ir::Space::Global, plan.rank(), true);
  }

  void specific() {
    for (int d = 0; d < plan_.looped(); ++d) sizes_.push_back(scalar<int>());
    for (const auto& [lo, hi] : plan_.shape) {
      starts_.push_back(detail::hostConstant(-lo));
      highs_.push_back(detail::hostConstant(hi));
    }
    const int first = plan_.looped();
    for (int d = first; d < plan_.rank(); ++d) {
      const auto& [lo, hi] = plan_.shape[static_cast<std::size_t>(d)];
      detail::beginIf(
          (id(d) >= static_cast<std::size_t>(-lo) && moved(id(d), hi) < extent(d)).node());
    }
    loopOver(0, [this] { addNeighbours(); });
    for (int d = first; d < plan_.rank(); ++d) detail::endBlock();
  }

  void generic() {
    weights_ = detail::arrayParameter(irType<T>(), ir::Space::Global, plan_.rank(), true);
    for (int d = 0; d < plan_.looped(); ++d) sizes_.push_back(scalar<int>());
    for (int d = 0; d < plan_.rank(); ++d) {
      lows_.push_back(scalar<int>());
      highs_.push_back(scalar<int>());
      starts_.push_back((0 - Expr<int>(low(d))).node());
    }
    factor_ = scalar<T>();
    addAllWhereInside();
  }

  void box() {
    weights_ = detail::arrayParameter(irType<T>(), ir::Space::Global, plan_.rank(), true);
    for (int d = 0; d < plan_.looped(); ++d) sizes_.push_back(scalar<int>());
    for (const auto& [lo, hi] : plan_.shape) {
      lows_.push_back(detail::hostConstant(lo));
      highs_.push_back(detail::hostConstant(hi));
      starts_.push_back(detail::hostConstant(-lo));
    }
    factor_ = scalar<T>();
    addAllWhereInside();
  }

 private:
  /// The generic sum, for cells that have all neighbours.
  void addAllWhereInside() {
    const int first = plan_.looped();
    for (int d = first; d < plan_.rank(); ++d) {
      const Expr<int> at = cast<int>(id(d)), lo(low(d)), hi(high(d));
      detail::beginIf((at + lo >= 0 && at + hi < cast<int>(extent(d))).node());
    }
    loopOver(0, [this] { addAll(); });
    for (int d = first; d < plan_.rank(); ++d) detail::endBlock();
  }

  template <class S>
  static Node scalar() {
    return detail::variableNode(detail::scalarParameter(irType<S>()));
  }
  Node low(int d) const { return lows_[static_cast<std::size_t>(d)]; }
  Node high(int d) const { return highs_[static_cast<std::size_t>(d)]; }

  /// The work-item's place along one of the last three dimensions, and the cells there.
  Expr<std::size_t> id(int d) const {
    const Node nodes[] = {idx.node(), idy.node(), idz.node()};
    return Expr<std::size_t>(nodes[plan_.rank() - 1 - d]);
  }
  Expr<std::size_t> extent(int d) const {
    const Node nodes[] = {szx.node(), szy.node(), szz.node()};
    return Expr<std::size_t>(nodes[plan_.rank() - 1 - d]);
  }

  template <class S>
  static Expr<S> moved(const Expr<S>& from, int offset) {
    if (offset == 0) return from;
    return offset < 0 ? from - static_cast<S>(-offset) : from + static_cast<S>(offset);
  }
  /// The index of the cell `offset` away along dimension `d`.
  Node index(int d, int offset) const {
    if (d < plan_.looped())
      return moved(Expr<int>(looped_[static_cast<std::size_t>(d)]), offset).node();
    return moved(id(d), offset).node();
  }

  /// Loops over the cells along the looped dimensions that have all neighbours.
  template <class Body>
  void loopOver(int d, const Body& body) {
    if (d == plan_.looped()) {
      body();
      return;
    }
    const auto at = static_cast<std::size_t>(d);
    const Expr<int> start(starts_[at]), hi(highs_[at]), size(sizes_[at]);
    for_(Int cell = start, cell + hi < size, cell++) {
      looped_.push_back(nodeOf(cell));
      loopOver(d + 1, body);
      looped_.pop_back();
    }
  }

  Ref<T> element(detail::Symbol array, const int* offsets) const {
    std::vector<Node> nodes;
    for (int d = 0; d < plan_.rank(); ++d) nodes.push_back(index(d, offsets[d]));
    return Ref<T>(detail::accessNode(array, nodes.data(), nodes.size()));
  }

  void addNeighbours() const {
    Array<T, 0> sum = T(0);
    for (const PatternNeighbour& n : plan_.neighbours)
      sum += static_cast<T>(n.weight) * element(in_, n.offset.data());
    if (plan_.factor != 1) sum /= static_cast<T>(plan_.factor);
    constexpr int kHere[kMostPatternDimensions] = {};
    element(out_, kHere) = sum;
  }

  void addAll() {
    Array<T, 0> sum = T(0);
    offsets_.clear();
    addBox(0, sum);
    constexpr int kHere[kMostPatternDimensions] = {};
    element(out_, kHere) = sum / Expr<T>(factor_);
  }

  void addBox(int d, Array<T, 0>& sum) {
    if (d < plan_.rank()) {
      const Expr<int> lo(low(d)), hi(high(d));
      for_(Int offset = lo, offset <= hi, offset++) {
        offsets_.push_back(nodeOf(offset));
        addBox(d + 1, sum);
        offsets_.pop_back();
      }
      return;
    }
    std::vector<Node> cell, weight;
    for (int k = 0; k < plan_.rank(); ++k) {
      const Expr<int> offset(offsets_[static_cast<std::size_t>(k)]);
      const Expr<int> here =
          k < plan_.looped() ? Expr<int>(looped_[static_cast<std::size_t>(k)]) : cast<int>(id(k));
      cell.push_back((here + offset).node());
      weight.push_back((offset - Expr<int>(low(k))).node());
    }
    const auto at = [](detail::Symbol array, const std::vector<Node>& nodes) {
      return Expr<T>(detail::accessNode(array, nodes.data(), nodes.size()));
    };
    sum += at(weights_, weight) * at(in_, cell);
  }

  const PatternPlan& plan_;
  detail::Symbol out_ = nullptr, in_ = nullptr, weights_ = nullptr;
  Node factor_ = nullptr;
  std::vector<Node> sizes_, lows_, highs_;
  /// The first cells along each dimension that have all neighbours.
  std::vector<Node> starts_;
  /// While loops are recorded: their variables.
  std::vector<Node> looped_, offsets_;
};

std::string shapeOf(const launch::Argument& array) {
  std::string text;
  for (const std::int64_t extent : array.view->extents)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

void checkArrays(const launch::Argument& in, const launch::Argument& out) {
  if (!(in.view->extents == out.view->extents))
    throw ShapeError(fmt::format(
        "a step of a pattern: the input is {} and the output {}; give both the same shape",
        shapeOf(in), shapeOf(out)));
  if (&in.view->root() == &out.view->root() && !intersect(in.view->box(), out.view->box()).empty())
    throw ArgumentError(
        "a step of a pattern: input and output share cells, which would be read after they were "
        "overwritten; give another array");
}

}  // namespace

template <class T>
void specificPattern(const PatternPlan& plan) {
  detail::setLocation(std::source_location::current());  // names the kernel
  PatternRecorder<T>(plan).specific();
}
template void specificPattern<float>(const PatternPlan&);
template void specificPattern<double>(const PatternPlan&);

template <class T>
void genericPattern(const PatternPlan& plan) {
  detail::setLocation(std::source_location::current());
  PatternRecorder<T>(plan).generic();
}
template void genericPattern<float>(const PatternPlan&);
template void genericPattern<double>(const PatternPlan&);

template <class T>
void boxPattern(const PatternPlan& plan) {
  detail::setLocation(std::source_location::current());
  PatternRecorder<T>(plan).box();
}
template void boxPattern<float>(const PatternPlan&);
template void boxPattern<double>(const PatternPlan&);

PatternStep::PatternStep(PatternPlan plan, void (*record)(const PatternPlan&))
    : source_{std::move(plan), record} {
  const launch::KernelSource source{[](const void* made) {
                                      const auto& self = *static_cast<const Source*>(made);
                                      self.record(self.plan);
                                    },
                                    &source_, "pattern"};
  entry_.owner = launch::anonymousEntry(source, nullptr);
  entry_.entry = entry_.owner.get();
}

std::vector<launch::Argument> PatternStep::argumentsOf(const launch::Argument& in,
                                                       const launch::Argument& out,
                                                       const launch::Argument* weights) const {
  std::vector<launch::Argument> list{out, in};
  if (weights != nullptr) list.push_back(*weights);
  for (int d = 0; d < source_.plan.looped(); ++d)
    list.push_back(launch::makeArgument(static_cast<int>(in.view->extents[d])));
  return list;
}

FRunner PatternStep::launchWith(const launch::LaunchOptions& options, const launch::Argument& in,
                                const std::vector<launch::Argument>& arguments) const {
  checkArrays(in, arguments.front());
  const int rank = source_.plan.rank();
  if (rank <= 3) return launch::launch(entry_, options, arguments);
  const auto size = [&](int fromLast) {
    return static_cast<std::size_t>(in.view->extents[rank - 1 - fromLast]);
  };
  launch::LaunchOptions own = options;
  own.global = Domain(size(0), size(1), size(2));
  return launch::launch(entry_, own, arguments);
}

FRunner PatternStep::launch(const launch::LaunchOptions& options, const launch::Argument& in,
                            const launch::Argument& out, const launch::Argument* weights,
                            const launch::Argument* factor) const {
  std::vector<launch::Argument> list = argumentsOf(in, out, weights);
  if (weights != nullptr) {
    for (const auto& [lo, hi] : source_.plan.shape) {
      list.push_back(launch::makeArgument(lo));
      list.push_back(launch::makeArgument(hi));
    }
    list.push_back(*factor);
  }
  return launchWith(options, in, list);
}

FRunner PatternStep::launchBox(const launch::LaunchOptions& options, const launch::Argument& in,
                               const launch::Argument& out, const launch::Argument& weights,
                               const launch::Argument& factor) const {
  std::vector<launch::Argument> list = argumentsOf(in, out, &weights);
  list.push_back(factor);
  return launchWith(options, in, list);
}

void PatternStep::checkReach(const launch::Argument& in) const {
  for (int d = 0; d < source_.plan.rank(); ++d) {
    const auto& [lo, hi] = source_.plan.shape[static_cast<std::size_t>(d)];
    if (in.view->extents[d] >= hi - lo + 1) continue;
    throw ShapeError(fmt::format(
        "a step of a pattern: it reaches from {} to {} along dimension {}, of which the arrays "
        "have {} cells; use larger arrays",
        lo, hi, d + 1, in.view->extents[d]));
  }
}

void checkPatternSteps(std::int64_t steps) {
  if (steps < 0)
    throw ArgumentError(
        fmt::format("a pattern cannot be iterated {} times; give 0 or more steps", steps));
}

}  // namespace hpl::stencils
