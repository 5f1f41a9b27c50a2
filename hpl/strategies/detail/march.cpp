// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/march.h"

#include <algorithm>

namespace hpl::strategies::detail {

using ir::Expr;

const Expr* March::element(const std::string& row, std::size_t dimension, std::int64_t distance,
                           const ir::Access& element, const ir::Type& type) {
  if (!isOpen_) {
    const auto [found, isNew] =
        windows_.try_emplace(row, Window{element, type, dimension, distance, distance, {}});
    Window& window = found->second;
    window.from = std::min(window.from, distance);
    window.to = std::max(window.to, distance);
    return nullptr;
  }
  const Window& window = windows_.at(row);
  return builder_.ref(window.kept[static_cast<std::size_t>(distance - window.from)]);
}

const Expr* March::load(const Window& window, const Expr* id, std::int64_t distance) {
  ir::Access element = window.element;
  element.indices[window.dimension] = builder_.add(id, distance);
  return builder_.make(window.type, std::move(element));
}

void March::open() {
  isOpen_ = true;
  before_ = builder_.block();
  first_ = builder_.block();
  last_ = builder_.block();
  for (auto& [row, window] : windows_) {
    for (std::int64_t d = window.from; d <= window.to; ++d) {
      ir::Variable* kept = builder_.variable(window.element.array->name + "_kept", window.type);
      window.kept.push_back(kept);
      const bool isLast = d == window.to;
      builder_.declare(isLast ? *first_ : *before_, kept,
                       load(window, isLast ? builder_.ref(at_) : begin_, d));
    }
    for (std::size_t i = 0; i + 1 < window.kept.size(); ++i)
      builder_.assign(*last_, builder_.ref(window.kept[i]), builder_.ref(window.kept[i + 1]));
  }
}

}  // namespace hpl::strategies::detail
