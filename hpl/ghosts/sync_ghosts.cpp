// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/sync_ghosts.h"

#include <fmt/format.h>

#include "hpl/coherence/operation.h"
#include "hpl/error.h"
#include "hpl/memory/exchange.h"
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

}  // namespace

void syncGhosts(std::span<memory::View* const> views) {
  refuseInKernel("syncGhosts()");
  requireDifferent(views);
  memory::exchangeGhosts(views);
}

void syncGhosts(memory::View& view) {
  memory::View* const views[] = {&view};
  syncGhosts(views);
}

}  // namespace hpl::detail
