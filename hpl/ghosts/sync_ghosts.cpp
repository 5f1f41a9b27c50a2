// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/sync_ghosts.h"

#include <fmt/format.h>

#include <array>

#include "hpl/array/detail/array_base.h"
#include "hpl/coherence/operation.h"
#include "hpl/error.h"
#include "hpl/memory/detail/execution.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/session.h"
#include "hpl/memory/root.h"

namespace hpl::detail {

namespace {

void requireDifferent(std::span<memory::View* const> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (&views[i]->root() != &views[j]->root()) continue;
      throw ArgumentError(
          fmt::format("syncGhosts(...): arguments {} and {} are one array ({}), whose ghosts are "
                      "exchanged as a whole; name each array once",
                      j + 1, i + 1, views[i]->root().describe()));
    }
  }
  if (views.size() > coherence::kMostOperands)
    throw ArgumentError(fmt::format("syncGhosts(...) of {} arrays: name at most {} in one exchange",
                                    views.size(), coherence::kMostOperands));
}

bool hasGhosts(const memory::detail::RootState& state) {
  const coherence::DistributionPtr& active = state.known->active();
  return active != nullptr && active->hasGhosts();
}

}  // namespace

void syncGhosts(std::span<memory::View* const> views) {
  refuseInKernel("syncGhosts()");
  requireDifferent(views);
  for (memory::View* view : views) memory::detail::requireReachable(view->root());
  memory::detail::beginOperation([&](memory::detail::OperationName& name) {
    name.what = "syncGhosts() of";
    for (const memory::View* view : views) {
      name.what += (view == views.front() ? " " : ", ") + view->root().describe();
      memory::detail::addView(name, view->root().whole());
    }
  });
  memory::detail::withRanks([&] {
    memory::detail::Lock lock(memory::detail::coherenceMutex());
    // A list of the right length would be an allocation.
    std::array<memory::detail::RootState*, coherence::kMostOperands> roots;
    std::size_t count = 0;
    for (memory::View* view : views)
      if (hasGhosts(view->root().state())) roots[count++] = &view->root().state();
    if (count > 0) memory::detail::exchangeGhosts(lock, std::span(roots).first(count));
  });
}

void syncGhosts(memory::View& view) {
  memory::View* const views[] = {&view};
  syncGhosts(views);
}

}  // namespace hpl::detail
