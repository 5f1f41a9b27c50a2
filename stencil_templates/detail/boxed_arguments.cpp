// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/boxed_arguments.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "hpl/memory/root.h"

namespace hpl::stencils {
namespace {

using geometry::Index;

/// The places first + i * step along a dimension, for some i; step 0: one place.
struct Places {
  Index first = 0;
  Index step = 0;
};

/// Those of the view's cells along a dimension of its root; nothing where more would have to be
/// known.
std::optional<Places> placesOf(const memory::View& view, int dim) {
  const Index begin = view.box().lo(dim);
  if (view.map() == nullptr) return Places{begin, view.box().extent(dim) > 1 ? 1 : 0};
  const geometry::IndexMap::Form& form = view.map()->form(dim);
  if (form.divisor != 1 || form.modulus != 0) return std::nullopt;
  Places places{begin + form.first, 0};
  for (int d = 0; d < view.map()->rank(); ++d)
    if (view.extents[d] > 1)
      places.step = std::gcd(places.step, form.steps[static_cast<std::size_t>(d)]);
  return places;
}

bool areApart(const Places& a, const Places& b) {
  const Index step = std::gcd(a.step, b.step);
  return step == 0 ? a.first != b.first : (a.first - b.first) % step != 0;
}

}  // namespace

bool shareCells(const memory::View& x, const memory::View& y) {
  if (&x.root() != &y.root() || !x.box().intersects(y.box())) return false;
  for (int d = 0; d < x.box().rank(); ++d) {
    const auto one = placesOf(x, d), other = placesOf(y, d);
    if (one && other && areApart(*one, *other)) return false;
  }
  return true;
}

const memory::View& programsView(const StencilArgument& argument) {
  const memory::View* mapped = argument.argument.mapped();
  return mapped != nullptr ? *mapped : *argument.argument.view;
}

bool isRankLocal(const memory::View& view) { return view.root().isRankLocal(); }

bool BoxCopies::isNeeded(const StencilArgument& argument) noexcept {
  return argument.copyInBox != nullptr && argument.argument.mapped() != nullptr;
}

StencilArgument BoxCopies::replace(const StencilArgument& argument, bool isWritten) {
  const memory::View* view = argument.argument.mapped();
  auto copy = std::find_if(copies_.begin(), copies_.end(),
                           [&](const Copy& other) { return other.view == view; });
  if (copy == copies_.end())
    copy = copies_.insert(copy, {view, argument.copyInBox(argument.array), false});
  copy->isWritten = copy->isWritten || isWritten;
  StencilArgument result = copy->box->argument();
  result.argument.view->root().setLabel(view->root().label());
  // Nor may a const view be written through its copy.
  if (argument.exchange == nullptr) result.exchange = nullptr;
  return result;
}

const memory::View& BoxCopies::copiedView(const StencilArgument& argument) const {
  for (const Copy& copy : copies_)
    if (copy.box->argument().argument.view == argument.argument.view) return *copy.view;
  return programsView(argument);
}

void BoxCopies::fill() {
  for (const Copy& copy : copies_) copy.box->fill();
}

void BoxCopies::bringBack() {
  for (const Copy& copy : copies_)
    if (copy.isWritten) copy.box->bringBack();
}

bool BoxedArguments::areNeeded(const StencilArgument* arguments, std::size_t count) noexcept {
  return std::any_of(arguments, arguments + count, BoxCopies::isNeeded);
}

BoxedArguments::BoxedArguments(const StencilArgument* arguments, std::size_t count,
                               std::size_t begin, std::size_t end)
    : arguments_(arguments, arguments + count) {
  for (std::size_t i = 0; i < count; ++i)
    if (BoxCopies::isNeeded(arguments[i]))
      arguments_[i] = copies_.replace(arguments[i], i >= begin && i < end);
  copies_.fill();
}

}  // namespace hpl::stencils
