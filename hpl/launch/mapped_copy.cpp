// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/mapped_copy.h"

#include "hpl/array/array.h"
#include "hpl/lang/capture.h"
#include "hpl/launch/eval.h"
#include "hpl/memory/contents.h"
#include "hpl/memory/homes.h"

/// Contents of views that are no boxes: copied by kernels, which have one work-item for each cell.
namespace hpl::launch {
namespace {

using hpl::detail::Node;
using hpl::detail::Symbol;

constexpr int kMostAxes = 3;

/// to[i] = from[i], or from[0] for all i.
struct CopyKernel {
  ir::Type type;
  int rank = 1;
  bool isFill = false;
  /// Extents of views with more dimensions than a domain has, whose cells are counted then.
  geometry::Extents extents;

  std::string key() const {
    return ir::describe(type) + std::to_string(reinterpret_cast<std::uintptr_t>(type.structure)) +
           (isFill ? " filled " : " copied ") + std::to_string(rank) + extents.toString();
  }

  std::vector<Node> indices() const {
    std::vector<Node> list;
    for (int d = 0; d < rank; ++d) {
      if (extents.rank() == 0) {
        list.push_back(hpl::detail::workItemNode(ir::Query::GlobalId, rank - 1 - d));
        continue;
      }
      const ir::Type size{ir::Scalar::Ulong};
      const auto constant = [&](geometry::Index value) {
        return hpl::detail::constantNode(size, static_cast<std::uint64_t>(value), 0);
      };
      geometry::Index step = 1;
      for (int k = d + 1; k < rank; ++k) step *= extents[k];
      const Node counted = hpl::detail::workItemNode(ir::Query::GlobalId, 0);
      const Node rest = hpl::detail::binaryNode(ir::BinaryOp::Div, size, counted, constant(step));
      list.push_back(hpl::detail::binaryNode(ir::BinaryOp::Rem, size, rest, constant(extents[d])));
    }
    return list;
  }

  void record() const {
    const Symbol to = hpl::detail::arrayParameter(type, ir::Space::Global, rank, false);
    const Symbol from =
        hpl::detail::arrayParameter(type, ir::Space::Global, isFill ? 1 : rank, true);
    hpl::detail::nameKernel(isFill ? "fill_view" : "copy_view");
    const std::vector<Node> at = indices();
    const Node first = hpl::detail::constantNode(ir::Type{ir::Scalar::Int}, 0, 0);
    const Node value = isFill ? hpl::detail::accessNode(from, &first, 1)
                              : hpl::detail::accessNode(from, at.data(), at.size());
    hpl::detail::assignNode(hpl::detail::accessNode(to, at.data(), at.size()), value);
  }
};

EntryHandle entryOf(const CopyKernel& kernel) {
  static const char tag = 0;
  const std::string key = kernel.key();
  const auto copy = std::make_shared<const CopyKernel>(kernel);
  KernelSource source;
  source.callable = copy.get();
  source.record = [](const void* self) { static_cast<const CopyKernel*>(self)->record(); };
  source.fallbackName = "copy_view";
  return {&entryOfFunctor(&tag, key.data(), key.size(), source, copy), nullptr};
}

/// The device that holds cells of one of the views; null: only the host does.
runtime::DeviceState* homeOf(memory::View& target, memory::View& source) {
  std::vector<memory::Home> homes;
  if (memory::homesOf(target.plain(), homes)) return homes.front().device;
  if (memory::homesOf(source.plain(), homes)) return homes.front().device;
  return nullptr;
}

void run(memory::View& target, memory::View& source, bool isFill) {
  CopyKernel kernel{target.root().type(), target.rank(), isFill, {}};
  LaunchOptions options;
  options.device = homeOf(target, source);
  if (target.rank() > kMostAxes) {
    kernel.extents = target.extents;
    options.global = Domain(target.size());
  }
  const Argument list[] = {Argument::ofView(target, kernel.type, target.rank()),
                           Argument::ofView(source, kernel.type, source.rank())};
  launch(entryOf(kernel), options, list);
}

}  // namespace

std::shared_ptr<memory::Root> copyOfMapped(memory::View& view) {
  auto copy = memory::scratchLike(view.root(), view.extents);
  run(copy->whole(), view, false);
  return copy;
}

}  // namespace hpl::launch

namespace hpl::detail {

void copyMapped(memory::View& target, memory::View& source) {
  memory::requireAssignable(target, source);
  const bool isCrossing = &target.root() == &source.root() && target.box().intersects(source.box());
  if (!isCrossing) return launch::run(target, source, false);
  const auto copy = launch::copyOfMapped(source);
  if (target.map() == nullptr) return memory::copy(target, copy->whole());
  launch::run(target, copy->whole(), false);
}

void fillMapped(memory::View& target, const void* element) {
  const auto one = memory::scratchLike(target.root(), geometry::Extents{1});
  memory::fill(one->whole(), element);
  launch::run(target, one->whole(), true);
}

}  // namespace hpl::detail
