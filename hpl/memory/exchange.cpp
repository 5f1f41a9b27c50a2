// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/exchange.h"

#include <array>
#include <string>

#include "hpl/coherence/operation.h"
#include "hpl/memory/detail/execution.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/session.h"
#include "hpl/memory/root.h"

namespace hpl::memory {

namespace {

bool hasGhosts(const detail::RootState& state) {
  const coherence::DistributionPtr& active = state.known->active();
  return active != nullptr && active->hasGhosts();
}

}  // namespace

void exchangeGhosts(std::span<View* const> views) {
  for (View* view : views) detail::requireReachable(view->root());
  detail::Parties arrays;
  for (const View* view : views) arrays.add(view->root());
  const detail::Party party = arrays.common([] { return std::string("syncGhosts(...)"); });
  detail::beginOperation(party, [&](detail::OperationName& name) {
    name.what = "syncGhosts() of";
    for (const View* view : views) {
      name.what += (view == views.front() ? " " : ", ") + view->root().describe();
      detail::addView(name, view->root().whole());
    }
  });
  detail::withRanks(party, [&] {
    detail::Lock lock(detail::coherenceMutex());
    // A list of the right length would be an allocation.
    std::array<detail::RootState*, coherence::kMostOperands> roots;
    std::size_t count = 0;
    for (View* view : views)
      if (hasGhosts(view->root().state())) roots[count++] = &view->root().state();
    if (count > 0) detail::exchangeGhosts(lock, std::span(roots).first(count));
  });
}

std::vector<GhostCells> ghostsOf(View& view) {
  const detail::Lock lock(detail::coherenceMutex());
  std::vector<GhostCells> ghosts;
  const coherence::DistributionPtr& active = view.root().state().known->active();
  if (active == nullptr) return ghosts;
  const auto deviceOf = [&](int part) { return &detail::memoryOf(active->spaceOf(part)).device; };
  for (int mirror = 0; mirror < active->partCount(); ++mirror)
    for (const coherence::GhostLink& link : active->ghostLinks(mirror))
      ghosts.push_back({deviceOf(link.owner), deviceOf(mirror), link.cells});
  return ghosts;
}

}  // namespace hpl::memory
