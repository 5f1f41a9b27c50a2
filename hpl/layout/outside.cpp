// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/outside.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hpl/error.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/settings.h"

namespace hpl::layout {
namespace {

using ir::IndexForm;

/// The analysis knows indices modulo 2^32: up to here an index that is congruent to one outside of
/// an array is outside itself.
constexpr std::int64_t kKnown = std::int64_t{1} << 31;

/// The work-items of one axis that execute a statement for certain.
struct Executing {
  std::int64_t first;
  std::int64_t last;
};

/// A work-item that accesses something else than the array.
struct Witness {
  int dimension;
  std::int64_t index;
  std::int64_t item[3];
};

/// By axis; nothing when it is not known that any work-item gets there.
std::optional<std::array<Executing, 3>> executing(const ir::AccessSite& site, const Shape& shape) {
  std::array<Executing, 3> items{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!site.rim.known[axis]) return std::nullopt;
    const auto size = static_cast<std::int64_t>(shape.size[axis]);
    const std::int64_t before = std::max<std::int64_t>(0, site.rim.before[axis]);
    const std::int64_t after = std::max<std::int64_t>(0, site.rim.after[axis]);
    if (after >= size || before >= size - after) return std::nullopt;
    items[axis] = {before, size - after - 1};
  }
  return items;
}

/// A work-item for which all values that the index may have are outside of 0 .. extent - 1.
std::optional<std::int64_t> itemOutside(const IndexForm& form, const Executing& items,
                                        std::int64_t extent) {
  const std::int64_t lo = form.range.lo;
  const std::int64_t hi = form.range.hi;
  if (lo < -kKnown || hi >= kKnown) return std::nullopt;
  const std::int64_t beyond = form.isAffine() ? std::max(items.first, extent - lo) : items.first;
  const std::int64_t own = form.isAffine() ? beyond : 0;
  if (beyond <= items.last && own < kKnown && own + lo >= extent && own + hi < kKnown)
    return beyond;
  const std::int64_t least = form.isAffine() ? items.first : 0;
  if (least < kKnown && least + hi < 0) return items.first;
  return std::nullopt;
}

std::optional<Witness> witnessOf(const ir::AccessSite& site, const geometry::Extents& extents,
                                 const Shape& shape) {
  if (site.alias || site.skippable) return std::nullopt;
  const auto items = executing(site, shape);
  if (!items) return std::nullopt;
  for (int d = 0; d < extents.rank(); ++d) {
    const IndexForm& form = site.index[static_cast<std::size_t>(d)];
    if (form.isUnknown() || extents[d] >= kKnown) continue;
    const auto axis = static_cast<std::size_t>(form.isAffine() ? form.axis : 0);
    const auto item = itemOutside(form, (*items)[axis], extents[d]);
    if (!item) continue;
    Witness witness{d, 0, {(*items)[0].first, (*items)[1].first, (*items)[2].first}};
    witness.item[axis] = *item;
    const std::int64_t own = form.isAffine() ? *item : 0;
    // Among several values the one nearest to the array.
    witness.index = own + form.range.lo >= extents[d] ? own + form.range.lo : own + form.range.hi;
    return witness;
  }
  return std::nullopt;
}

std::string sizesOf(const geometry::Extents& extents) {
  std::string text;
  for (const geometry::Index extent : extents)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

/// `argument 2 (array "in", 9 x 8 cells)`
std::string describe(Arguments arguments, std::size_t i) {
  const memory::View& view = *arguments[i].view;
  const bool isWhole = &view == &view.root().whole();
  return fmt::format("argument {} ({}, {}{} cells{})", i + 1, view.root().describe(),
                     isWhole ? "" : "a part of ", sizesOf(view.extents),
                     isWhole ? "" : " of " + sizesOf(view.root().whole().extents));
}

std::string tuple(const Shape& shape, const std::int64_t* item) {
  std::string text = "(";
  for (cl_uint d = 0; d < shape.dims; ++d) text += (d > 0 ? ", " : "") + std::to_string(item[d]);
  return text + ")";
}

[[noreturn]] void refuse(const KernelVersion& version, Arguments arguments, std::size_t i,
                         const ir::AccessSite& site, const Witness& witness, const Shape& shape,
                         std::optional<std::size_t> domainOf) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(shape.size[0]),
                                static_cast<std::int64_t>(shape.size[1]),
                                static_cast<std::int64_t>(shape.size[2])};
  const std::string form = ir::toString(site.index[static_cast<std::size_t>(witness.dimension)]);
  const std::string line =
      site.where.file != nullptr ? fmt::format(", at {}:{}", site.where.file, site.where.line) : "";
  std::string domain = "the global domain " + tuple(shape, sizes);
  if (domainOf && *domainOf != i) domain += ", which is that of " + describe(arguments, *domainOf);
  throw LaunchError(fmt::format(
      "kernel '{}' {} outside of {}: in dimension {} its index {} is {} for work-item {} of {}{}; "
      "give .global(...) the work-items that have elements, guard the access, or pass arrays of "
      "fitting shapes",
      version.name, site.writes ? "writes" : "reads", describe(arguments, i), witness.dimension + 1,
      form, witness.index, tuple(shape, witness.item), domain, line));
}

}  // namespace

void checkAccesses(const KernelVersion& version, Arguments arguments, const Shape& shape,
                   bool isDefaultDomain) {
  if (version.native || runtime::settings().checkBounds) return;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind != Argument::Kind::Array) continue;
    if (!first && isDefaultDomain) first = i;
    const ir::ArrayAccess* access = version.params[i].access;
    if (access == nullptr) continue;
    for (const ir::AccessSite& site : access->sites)
      if (const auto witness = witnessOf(site, arguments[i].view->extents, shape))
        refuse(version, arguments, i, site, *witness, shape, first);
  }
}

}  // namespace hpl::layout
