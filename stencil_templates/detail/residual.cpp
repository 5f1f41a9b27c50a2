// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/residual.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "hpl/error.h"
#include "hpl/memory/gathering.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device.h"

namespace hpl::stencils {
namespace {

/// Work-items that share the rows of one slice on devices with many lanes; a CPU's work-item walks
/// along a row alone.
constexpr std::size_t kLanes = 64;
constexpr std::size_t kLanesOfVectors = 4096;

/// The residual kernel. A work-item (idx, idy) looks at every szx-th cell of the rows of slice idy,
/// so that slices stay on the devices that hold them. In a vector spread over several devices each
/// work-item looks at one cell.
struct ResidualRecipe {
  ir::Type type;
  int dims = 0;
  bool cellByCell = false;
  std::shared_ptr<const ResidualFunction> function;
  ir::Type result;

  void largestResidual() const;

 private:
  Node difference(Node now, Node before) const;
};

Node ResidualRecipe::difference(Node now, Node before) const {
  return residualNode(function.get(), type, now, before);
}

void ResidualRecipe::largestResidual() const {
  const bool vector = dims == 1;
  const Symbol partial = detail::arrayParameter(result, ir::Space::Global, vector ? 1 : 2, false);
  const Symbol now = detail::arrayParameter(type, ir::Space::Global, dims, true);
  const Symbol before = detail::arrayParameter(type, ir::Space::Global, dims, true);
  const Int columns = Int::fromSymbol(detail::scalarParameter(irType<int>()));
  const Int lines = Int::fromSymbol(detail::scalarParameter(irType<int>()));

  const Node most = detail::variableNode(detail::declareVariable(
      result, ir::Space::Private, 0, nullptr, detail::constantNode(result, 0, 0)));
  const auto at = [&](Symbol array, Node y, Node x) {
    const Node cell[] = {idy.node(), y, x};
    const Node row[] = {idy.node(), x};
    return detail::accessNode(array,
                              dims == 3   ? cell
                              : dims == 2 ? row
                                          : &x,
                              static_cast<std::size_t>(dims));
  };
  const auto look = [&](Node y, Node x) {
    const Node own = detail::variableNode(detail::declareVariable(
        result, ir::Space::Private, 0, nullptr, difference(at(now, y, x), at(before, y, x))));
    // Keeps a NaN once there is one.
    const Node smaller = detail::binaryNode(ir::BinaryOp::Le, result, own, most);
    const Node strange = detail::binaryNode(ir::BinaryOp::Ne, result, most, most);
    const Node keep = detail::binaryNode(ir::BinaryOp::LogicalOr, irType<int>(), smaller, strange);
    detail::assignNode(most, detail::selectNode(result, keep, most, own));
  };
  if (cellByCell) {
    look(nullptr, idx.node());
  } else if (dims == 3) {
    for_(Int y = 0, y < lines, y++) {
      for_(Int x = cast<int>(idx), x < columns, x += cast<int>(szx)) {
        look(y.node(), x.node());
      }
    }
  } else {
    for_(Int x = cast<int>(idx), x < columns, x += cast<int>(szx)) {
      look(nullptr, x.node());
    }
  }
  const Node own[] = {vector ? idx.node() : idy.node(), idx.node()};
  detail::assignNode(detail::accessNode(partial, own, vector ? 1 : 2), most);
}

void recordResidual(const void* recipe) {
  static_cast<const ResidualRecipe*>(recipe)->largestResidual();
}

template <class R>
class LooksOf final : public ResidualLooks {
 public:
  LooksOf(const launch::LaunchOptions& options, const memory::View& output, ResidualRecipe recipe)
      : recipe_(std::move(recipe)),
        entry_(launch::anonymousEntry({&recordResidual, &recipe_, "residual"}, nullptr)),
        options_(options) {
    const geometry::Extents& extents = output.extents;
    const unsigned memory = output.root().isRankLocal() ? HPL_RANK_LOCAL : 0U;
    const int dims = extents.rank();
    columns_ = static_cast<int>(extents[dims - 1]);
    lines_ = dims == 3 ? static_cast<int>(extents[1]) : 1;
    const std::size_t lanes = lanesFor(extents);
    options_.local = Domain();
    options_.global = dims == 1 ? Domain(lanes) : Domain(lanes, slices(extents));
    for (std::size_t slot = 0; slot < 2; ++slot) {
      if (dims == 1) {
        vectors_[slot] = Array<R, 1>(lanes, memory);
      } else {
        partials_[slot] = Array<R, 2>(slices(extents), lanes, memory);
      }
    }
  }

  void launch(std::int64_t look, const StencilArgument& now,
              const StencilArgument& before) override {
    const std::size_t slot = static_cast<std::size_t>(look % 2);
    const launch::Argument list[] = {recipe_.dims == 1 ? launch::makeArgument(vectors_[slot])
                                                       : launch::makeArgument(partials_[slot]),
                                     now.argument, before.argument, launch::makeArgument(columns_),
                                     launch::makeArgument(lines_)};
    launch::launch({entry_.get(), entry_}, options_, list);
    gatherings_[slot].reset();
    memory::Root& partial =
        recipe_.dims == 1 ? vectors_[slot].hostView().root() : partials_[slot].hostView().root();
    if (memory::isOnSeveralRanks(partial))
      gatherings_[slot] =
          std::make_unique<memory::Gathering>("residual of until(...)", partial, &largestOfRank);
  }

  double value(std::int64_t look) override {
    const std::size_t slot = static_cast<std::size_t>(look % 2);
    const double most = gatherings_[slot] != nullptr ? largestOfAll(*gatherings_[slot])
                        : recipe_.dims == 1          ? largest(vectors_[slot])
                                                     : largest(partials_[slot]);
    // A dry run computes no residuals: without them, the iteration goes on.
    return isDryRun() ? std::numeric_limits<double>::infinity() : most;
  }

 private:
  static std::size_t slices(const geometry::Extents& extents) {
    return extents.rank() == 1 ? 1 : static_cast<std::size_t>(extents[0]);
  }
  std::size_t lanesFor(const geometry::Extents& extents) const {
    const auto columns = static_cast<std::size_t>(columns_);
    if (recipe_.cellByCell) return columns;
    const DeviceType type = options_.device != nullptr ? Device(*options_.device).type()
                            : options_.shares && !options_.shares->devices.empty()
                                ? Device(*options_.shares->devices.front()).type()
                                : defaultDevice().type();
    if (extents.rank() == 1) return std::min(columns, kLanesOfVectors);
    return type == CPU ? 1 : std::min(columns, kLanes);
  }
  /// A NaN stays.
  static void take(double& most, double value) {
    if (!(value <= most) && !std::isnan(most)) most = value;
  }
  template <class A>
  static double largest(A& partial) {
    double most = 0;
    const A& values = partial;
    for (const R value : values) take(most, static_cast<double>(value));
    return most;
  }
  static std::vector<std::byte> largestOfRank(std::span<const memory::Gathering::Block> blocks) {
    double most = 0;
    for (const memory::Gathering::Block& block : blocks) {
      const auto* values = reinterpret_cast<const R*>(block.cells);
      for (std::size_t i = 0; i < block.count; ++i) take(most, static_cast<double>(values[i]));
    }
    std::vector<std::byte> bytes(sizeof most);
    std::memcpy(bytes.data(), &most, sizeof most);
    return bytes;
  }
  static double largestOfAll(memory::Gathering& gathering) {
    double most = 0;
    for (const std::vector<std::byte>& bytes : gathering.wait()) {
      double value = 0;
      std::memcpy(&value, bytes.data(), sizeof value);
      take(most, value);
    }
    return most;
  }

  ResidualRecipe recipe_;
  std::shared_ptr<launch::KernelEntry> entry_;
  launch::LaunchOptions options_;
  int columns_ = 0;
  int lines_ = 1;
  Array<R, 2> partials_[2];
  Array<R, 1> vectors_[2];
  /// On several ranks: begun with the launch, and on its way while the next steps run.
  std::unique_ptr<memory::Gathering> gatherings_[2];
};

bool isForOneDevice(const launch::LaunchOptions& options) {
  return !options.shares || options.shares->devices.size() == 1;
}

}  // namespace

void checkResidual(const std::string& stencil, const ir::Type& type,
                   const ResidualFunction* function) {
  if (function == nullptr && !type.isScalar())
    throw ArgumentError(fmt::format(
        "{}: output 1 has elements of type {}, whose difference is no number; name a residual: "
        ".until(bound, every, [](Float4 now, Float4 before) {{ ... }})",
        stencil, ir::describe(type)));
  if (function != nullptr && !(function->type() == type))
    throw ArgumentError(fmt::format(
        "{}: the residual of until(...) takes values of type {}, but output 1 has elements of type "
        "{}",
        stencil, ir::describe(function->type()), ir::describe(type)));
}

std::unique_ptr<ResidualLooks> ResidualLooks::make(
    const launch::LaunchOptions& options, const StencilArgument& output,
    std::shared_ptr<const ResidualFunction> function) {
  const ir::Type& type = output.argument.type;
  ResidualRecipe recipe;
  recipe.type = type;
  recipe.dims = output.argument.rank;
  recipe.cellByCell = recipe.dims == 1 && !isForOneDevice(options);
  recipe.function = std::move(function);
  recipe.result = residualTypeOf(type);
  const memory::View& view = *output.argument.view;
  if (recipe.result == irType<double>())
    return std::make_unique<LooksOf<double>>(options, view, std::move(recipe));
  return std::make_unique<LooksOf<float>>(options, view, std::move(recipe));
}

}  // namespace hpl::stencils
