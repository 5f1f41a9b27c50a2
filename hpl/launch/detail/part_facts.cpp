// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/part_facts.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "hpl/launch/detail/device_plan.h"
#include "hpl/launch/detail/origin.h"

namespace hpl::launch {

using coherence::Outcome;
using coherence::PartFacts;
using coherence::Reach;
using geometry::Extents;

namespace {

Reach noReach(int rank) { return {false, Extents::filled(rank, 0), Extents::filled(rank, 0)}; }

// Whether each of `dims` is indexed by one axis plus constants; the axes, if so.
bool findAxes(const std::vector<ir::IndexForm>& forms, std::span<const int> dims,
              std::array<int, 3>& dimOf) {
  dimOf = {-1, -1, -1};
  for (const int dim : dims) {
    const ir::IndexForm& form = forms[static_cast<std::size_t>(dim)];
    if (!form.isAffine()) return false;
    int& ofAxis = dimOf[static_cast<std::size_t>(form.axis)];
    if (ofAxis >= 0) return false;
    ofAxis = dim;
  }
  return true;
}

}  // namespace

void noteAccess(PartFacts& facts, const ir::ArrayAccess& access, std::span<const int> dims) {
  const int rank = access.array->rank;
  facts.reach = facts.writers = noReach(rank);
  std::array<int, 3> reads{}, writes{};
  facts.writers.known = !access.writes.empty() && findAxes(access.writes, dims, writes);
  facts.reach.known = !access.reads.empty() && findAxes(access.reads, dims, reads) &&
                      !(facts.writers.known && writes != reads);
  facts.dimOf = facts.writers.known ? writes : facts.reach.known ? reads : facts.dimOf;
  for (const int dim : dims) {
    const auto d = static_cast<std::size_t>(dim);
    if (facts.reach.known) {
      facts.reach.before[dim] = std::max<std::int64_t>(0, -access.reads[d].range.lo);
      facts.reach.after[dim] = std::max<std::int64_t>(0, access.reads[d].range.hi);
    }
    if (facts.writers.known) {
      facts.writers.before[dim] = std::max<std::int64_t>(0, access.writes[d].range.hi);
      facts.writers.after[dim] = std::max<std::int64_t>(0, -access.writes[d].range.lo);
    }
  }
}

void noteAccess(PartFacts& facts, const ir::PartSummary& summary, int parameter,
                std::span<const int> dims) {
  const ir::ArrayAccess* access = summary.access.find(parameter);
  if (access == nullptr) return;
  // Work-items that share values read what any of their group reads.
  if (!summary.access.sharesWithinGroups()) noteAccess(facts, *access, dims);
}

namespace {

// Dimension d is written along axis rank - 1 - d, at the work-item's own index.
bool writesOwnCells(const ir::ArrayAccess& access) {
  const int rank = static_cast<int>(access.writes.size());
  for (int d = 0; d < rank; ++d) {
    const ir::IndexForm& form = access.writes[static_cast<std::size_t>(d)];
    if (!(form == ir::IndexForm::affine(rank - 1 - d, 0, 0))) return false;
  }
  return rank > 0 && !access.atomics;
}

Reach margins(int rank, const std::array<std::int64_t, 3>& before,
              const std::array<std::int64_t, 3>& after) {
  Reach result = noReach(rank);
  result.known = true;
  for (int d = 0; d < rank; ++d) {
    const auto axis = static_cast<std::size_t>(rank - 1 - d);
    result.before[d] = before[axis];
    result.after[d] = after[axis];
  }
  return result;
}

}  // namespace

Outcome outcomeOf(const ir::PartSummary& summary, int parameter) {
  Outcome outcome;
  const ir::ArrayAccess* access = summary.access.find(parameter);
  if (access == nullptr || !writesOwnCells(*access)) return outcome;
  outcome.known = summary.sameEverywhere[static_cast<std::size_t>(parameter)];
  const int rank = access->array->rank;
  const ir::Rim rim = access->writeRim();
  const ir::Rim bounds = access->writeBounds();
  outcome.alike = margins(rank, summary.before, summary.after);
  outcome.written = margins(rank, rim.before, rim.after);
  for (int d = 0; d < rank; ++d)
    outcome.written.known =
        outcome.written.known && rim.known[static_cast<std::size_t>(rank - 1 - d)];
  outcome.left = margins(rank, bounds.before, bounds.after);
  return outcome;
}

namespace {

/// The dimensions of which the argument is only a part.
std::vector<int> splitDims(const memory::detail::DeviceUse& use) {
  std::vector<int> dims;
  const geometry::Box& whole = use.view->root().whole().box();
  for (int d = 0; d < whole.rank(); ++d)
    if (use.cells().extent(d) < whole.extent(d)) dims.push_back(d);
  return dims;
}

ir::PartRoles explicitRoles(const DevicePlan& plan) {
  ir::PartRoles roles(plan.version->params.size());
  std::size_t array = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (!plan.version->params[i].isBuffer()) continue;
    for (const int dim : splitDims(plan.uses[array++])) roles[i].split |= 1U << dim;
  }
  return roles;
}

}  // namespace

void noteExplicitFacts(DevicePlan& plan) {
  ir::PartSummary summary;
  const bool isKnown = plan.version->kernel != nullptr && plan.version->rewriter == nullptr;
  if (isKnown)
    summary = ir::analyzeParts(*plan.version->kernel, explicitRoles(plan), alignedAxes(plan));
  std::size_t array = 0;
  for (std::size_t i = 0; i < plan.version->params.size(); ++i) {
    if (!plan.version->params[i].isBuffer()) continue;
    memory::detail::DeviceUse& use = plan.uses[array++];
    if (!use.mayBePart) continue;
    auto facts = std::make_shared<PartFacts>();
    if (isKnown) {
      const auto parameter = static_cast<int>(i);
      noteAccess(*facts, summary, parameter, splitDims(use));
      const bool coversPart =
          plan.domains.global.dims == 0 && use.view->extents == plan.views.front()->extents;
      if (coversPart) facts->outcome = outcomeOf(summary, parameter);
    }
    use.facts = std::move(facts);
  }
}

}  // namespace hpl::launch
