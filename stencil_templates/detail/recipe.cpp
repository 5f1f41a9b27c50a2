// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/recipe.h"

#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/ir/verifier.h"
#include "hpl/lang/capture_state.h"
#include "stencil_templates/detail/border.h"

namespace hpl::stencils {
namespace {

/// Reads like InteriorReader and notes the offsets that are constants.
class NotingReader final : public CellReader {
 public:
  NotingReader(int dims, const KernelSymbols& symbols, std::vector<Reach>& reach)
      : dims_(dims), interior_(dims, symbols), reach_(reach) {}

  Node read(int input, const Offset* offsets) override {
    Reach& reach = reach_[static_cast<std::size_t>(input)];
    for (int d = 0; d < dims_; ++d) {
      if (offsets[d].node != nullptr || offsets[d].constant == 0) continue;
      std::vector<std::int64_t>& known = reach.constants[static_cast<std::size_t>(d)];
      if (std::find(known.begin(), known.end(), offsets[d].constant) == known.end())
        known.push_back(offsets[d].constant);
    }
    return interior_.read(input, offsets);
  }

 private:
  int dims_;
  InteriorReader interior_;
  std::vector<Reach>& reach_;
};

Symbol globalArray(const ir::Type& type, int dims, bool readOnly) {
  return detail::arrayParameter(type, ir::Space::Global, dims, readOnly);
}

std::vector<Node> ownCells(int dims, const std::vector<Symbol>& arrays) {
  std::array<Node, 3> own{};
  for (int d = 0; d < dims; ++d) own[static_cast<std::size_t>(d)] = positionOf(dims, d).node();
  std::vector<Node> cells;
  for (const Symbol array : arrays)
    cells.push_back(detail::accessNode(array, own.data(), static_cast<std::size_t>(dims)));
  return cells;
}

/// `a && b`, where a missing one is true.
void require(std::optional<Expr<int>>& all, const Expr<int>& condition) {
  const Expr<int> both = all ? *all && condition : condition;
  all.emplace(both);
}

/// Whether the work-item is `margin(dim, high)` cells away from each face; empty: always.
template <class Margin>
std::optional<Expr<int>> insideOf(int dims, Margin margin) {
  std::optional<Expr<int>> all;
  for (int d = dims - 1; d >= 0; --d) {
    const auto low = static_cast<std::size_t>(margin(d, false));
    const auto high = static_cast<std::size_t>(margin(d, true));
    if (low > 0) require(all, positionOf(dims, d) >= low);
    if (high > 0) require(all, positionOf(dims, d) + high < sizeOf(dims, d));
  }
  return all;
}

std::string placeOf(const ir::AccessSite& site) {
  return site.where.line == 0 ? "" : fmt::format(" ({}:{})", site.where.file, site.where.line);
}

void checkOutputs(const ir::AccessSummary& access, const KernelSymbols& symbols) {
  for (std::size_t i = 0; i < symbols.outputs.size(); ++i) {
    const ir::ArrayAccess& output = *access.find(symbols.outputs[i]);
    if (!output.written)
      throw KernelError(
          fmt::format("the point function never assigns output {}; every Output<T> parameter is "
                      "to be assigned",
                      i + 1));
    if (!output.readsOldContents) continue;
    const auto reader = std::find_if(output.sites.begin(), output.sites.end(),
                                     [](const ir::AccessSite& site) { return site.reads; });
    throw KernelError(
        fmt::format("the point function reads output {} before it assigns it{}; outputs hold "
                    "nothing yet: pass the array as an input as well",
                    i + 1, reader == output.sites.end() ? "" : placeOf(*reader)));
  }
}

/// The intervals of an input's reads, or why there are none.
void setIntervals(Reach& reach, const ir::ArrayAccess& access, std::size_t input, int dims) {
  for (const ir::AccessSite& site : access.sites) {
    for (int d = 0; d < dims; ++d) {
      const ir::IndexForm& form = site.index[static_cast<std::size_t>(d)];
      if (form.isAffine() && form.axis == dims - 1 - d) continue;
      throw KernelError(fmt::format(
          "the point function reads input {} at an offset of dimension {} whose values are not "
          "known before it runs{}; offsets are constants, or variables of loops with constant "
          "bounds: for_(Int d = -2, d <= 2, d++)",
          input + 1, d + 1, placeOf(site)));
    }
  }
  for (int d = 0; d < dims && !access.reads.empty(); ++d)
    reach.offsets[static_cast<std::size_t>(d)] = access.reads[static_cast<std::size_t>(d)].range;
  reach.isFirstStraight =
      std::all_of(access.sites.begin(), access.sites.end(), [&](const ir::AccessSite& site) {
        if (site.index[0].range.lo > reach.offsets[0].lo) return true;
        return std::all_of(site.index.begin() + 1, site.index.end(), [](const ir::IndexForm& form) {
          return form.range.lo == 0 && form.range.hi == 0;
        });
      });
}

}  // namespace

const char* nameOf(Face face) {
  constexpr const char* kNames[] = {"FRONT", "BACK", "UP", "DOWN", "LEFT", "RIGHT"};
  return kNames[static_cast<std::size_t>(face)];
}

std::int64_t InputPlan::firstSlices(int dims) const {
  std::int64_t count = 0;
  if (reach.before(0) > 0) {
    const BoundaryKind low = kind(dims, 0, false);
    if (low == BoundaryKind::Nearest) count = 1;
    if (low == BoundaryKind::Mirror || low == BoundaryKind::MirrorOdd) count = reach.before(0);
  }
  if (kind(dims, 0, true) == BoundaryKind::Periodic && !isJoined(0))
    count = std::max(count, reach.after(0));
  return count;
}

std::int64_t InputPlan::lastSlices(int dims) const {
  std::int64_t count = 0;
  if (reach.after(0) > 0) {
    const BoundaryKind high = kind(dims, 0, true);
    if (high == BoundaryKind::Nearest) count = 1;
    if (high == BoundaryKind::Mirror || high == BoundaryKind::MirrorOdd) count = reach.after(0);
  }
  if (kind(dims, 0, false) == BoundaryKind::Periodic && !isJoined(0))
    count = std::max(count, reach.before(0));
  return count;
}

std::int64_t StencilRecipe::untouched(int dim, bool high) const {
  std::int64_t most = 0;
  for (const InputPlan& input : inputs)
    if (input.kind(dims(), dim, high) == BoundaryKind::Untouched)
      most = std::max(most, input.reach.beyond(dim, high));
  return most;
}

std::int64_t StencilRecipe::rim(int dim, bool high) const {
  std::int64_t most = 0;
  for (const InputPlan& input : inputs)
    if (!input.isJoined(dim)) most = std::max(most, input.reach.beyond(dim, high));
  return most;
}

void StencilRecipe::joinEnds(const GridEnds& wanted) {
  ends = wanted;
  for (InputPlan& input : inputs)
    for (int d = 0; d < dims(); ++d)
      input.joined[static_cast<std::size_t>(d)] =
          wanted.joined[static_cast<std::size_t>(d)] &&
          input.kind(dims(), d, false) == BoundaryKind::Periodic &&
          input.reach.before(d) + input.reach.after(d) > 0;
}

void StencilRecipe::checkReach() const {
  const std::vector<Reach> now = findFacts(*point, outputs).reach;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (int d = 0; d < dims(); ++d) {
      for (const bool high : {false, true}) {
        if (now[i].beyond(d, high) <= inputs[i].reach.beyond(d, high)) continue;
        throw KernelError(fmt::format(
            "the point function reads input {} {} cells beyond face {}, but {} when it was first "
            "asked; it must reach equally far on all devices and at all times",
            i + 1, now[i].beyond(d, high), nameOf(faceOf(dims(), d, high)),
            inputs[i].reach.beyond(d, high)));
      }
    }
  }
}

void StencilRecipe::record() const {
  checkReach();
  KernelSymbols symbols;
  for (const InputPlan& input : inputs)
    symbols.inputs.push_back(globalArray(input.type, dims(), true));
  for (const ir::Type& type : outputs) symbols.outputs.push_back(globalArray(type, dims(), false));
  for (const InputPlan& input : inputs) {
    const bool first = slices && input.firstSlices(dims()) > 0;
    const bool last = slices && input.lastSlices(dims()) > 0;
    symbols.firstSlices.push_back(first ? globalArray(input.type, dims(), true) : nullptr);
    symbols.lastSlices.push_back(last ? globalArray(input.type, dims(), true) : nullptr);
  }
  for (const ir::Type& type : point->signature().parameters)
    symbols.scalars.push_back(detail::scalarParameter(type));

  const std::vector<Node> cells = ownCells(dims(), symbols.outputs);
  InteriorReader interior(dims(), symbols, &inputs);
  const auto rimOf = [this](int dim, bool high) { return rim(dim, high); };
  const auto untouchedOf = [this](int dim, bool high) { return untouched(dim, high); };
  const std::optional<Expr<int>> inside = insideOf(dims(), rimOf);
  if (!inside) {
    point->record(interior, cells.data(), symbols.scalars.data());
    return;
  }
  detail::beginIf(inside->node());
  point->record(interior, cells.data(), symbols.scalars.data());
  detail::endBlock();

  bool allUntouched = true;
  for (int d = 0; d < dims(); ++d)
    for (const bool high : {false, true})
      allUntouched = allUntouched && untouched(d, high) == rim(d, high);
  const auto keepRim = [&] {
    const Offset own[3] = {};
    for (std::size_t k = 0; k < cells.size(); ++k)
      detail::assignNode(cells[k], interior.read(static_cast<int>(k), own));
  };
  if (allUntouched && !keepsRims) return;
  detail::beginElse(false);
  if (allUntouched) {
    keepRim();
    detail::endBlock();
    return;
  }
  const std::optional<Expr<int>> computed = insideOf(dims(), untouchedOf);
  if (computed) detail::beginIf(computed->node());
  BorderReader border(*this, symbols);
  point->record(border, cells.data(), symbols.scalars.data());
  if (computed) detail::endBlock();
  if (computed && keepsRims) {
    detail::beginElse(false);
    keepRim();
    detail::endBlock();
  }
  detail::endBlock();
}

PointFacts findFacts(const PointFunction& point, const std::vector<ir::Type>& outputs) {
  const PointSignature& signature = point.signature();
  PointFacts facts;
  std::vector<Reach>& reach = facts.reach;
  reach.resize(signature.inputs.size());
  KernelSymbols symbols;
  std::shared_ptr<const ir::Kernel> kernel;
  {
    detail::Capture capture({});
    for (const ir::Type& type : signature.inputs)
      symbols.inputs.push_back(globalArray(type, signature.dims, true));
    for (const ir::Type& type : outputs)
      symbols.outputs.push_back(globalArray(type, signature.dims, false));
    for (const ir::Type& type : signature.parameters)
      symbols.scalars.push_back(detail::scalarParameter(type));
    NotingReader reader(signature.dims, symbols, reach);
    const std::vector<Node> cells = ownCells(signature.dims, symbols.outputs);
    point.record(reader, cells.data(), symbols.scalars.data());
    kernel = capture.finish("stencil");
  }
  ir::verify(*kernel);
  const ir::AccessSummary access = ir::analyze(*kernel);
  if (access.usesBarrier || access.usesLocalMemory)
    throw KernelError(
        "the point function uses a barrier or local memory; it is computed for each cell alone: "
        "use a kernel with eval(...) for what work-items do together");
  checkOutputs(access, symbols);
  for (std::size_t i = 0; i < reach.size(); ++i)
    setIntervals(reach[i], *access.find(symbols.inputs[i]), i, signature.dims);
  facts.cost = strategies::costOf(*kernel, access);
  return facts;
}

}  // namespace hpl::stencils
