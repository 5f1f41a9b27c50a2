// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "hpl/coherence/detail/part_copy.h"
#include "hpl/coherence/detail/part_trust.h"
#include "hpl/coherence/detail/plans.h"
#include "hpl/coherence/detail/sources.h"
#include "hpl/coherence/detail/writes.h"
#include "hpl/error.h"

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Region;
using Origin = Distribution::Origin;

namespace {

// One device's share of a use.
struct Work {
  const Use* use = nullptr;
  std::size_t number = 0;  // of the use
  SpaceId device = kHosts;
  Box cells;
  int annotated = -1;  // the part of use->distribution
  // Where it works, and the part of the distribution before the launch whose ghosts it reads as the
  // device has them; -1: it wants present values.
  SpaceId space = kHosts;
  int part = -1;
};

bool needsContents(const Use& use) { return use.reads || (use.writes && !use.overwrites); }

// Cells beyond the ends of an array, which are those of the other end, are only read, and not
// farther away than one period.
bool readsImages(const Use& use, const Box& root) {
  if (!use.isSlice || use.writes || use.cells.rank() != root.rank()) return false;
  Box around = root;
  for (int d = 0; d < root.rank(); ++d)
    around = around.withRange(d, root.lo(d) - root.extent(d), root.hi(d) + root.extent(d));
  return around.contains(use.cells);
}

// The views that the launch writes may become parts of an explicit distribution.
bool makesPart(const Use& use, const Box& whole) {
  return use.isView && use.writes && use.distribution == nullptr && use.cells != whole;
}

// A launch while it is planned.
class LaunchPlan {
 public:
  LaunchPlan(const Planning& planning, const Launch& launch)
      : planning_(planning), launch_(launch) {}

  void run();

 private:
  Draft& draftOf(const Use& use) const { return planning_.draft(use.operand); }
  void requireSensible(const Use& use) const;
  void listWork();
  void foresee();
  const Distribution* futureOf(const Use& use) const;
  void refreshStale(LaunchTrust& trust) const;
  void findPlaces();
  bool staysInOwnMemory(const Work& work) const;
  Region strandedGhosts(const Work& work) const;
  void fetch(std::size_t operand, Sources& sources);
  void save(std::size_t operand, Sources& sources);
  void adoptViews();
  void adoptAnnotations();
  void promote(Draft& draft, const ExplicitParts::Promotion& promotion) const;
  void applyAllWrites();
  void endCoveredParts();

  const Planning& planning_;
  const Launch& launch_;
  std::vector<Work> work_;
  // By operand: the explicit parts when the launch is done, where it writes views.
  std::vector<std::optional<ExplicitParts::Outcome>> future_;
};

void LaunchPlan::requireSensible(const Use& use) const {
  const Draft& draft = draftOf(use);
  if (use.distribution == nullptr) {
    planning_.machine.requireAlive(use.device);
    if (use.cells.rank() == draft.box().rank() && draft.box().contains(use.cells)) return;
    if (readsImages(use, draft.box())) return;
    throw ShapeError(
        fmt::format("{} is to work on cells {} of {}, which has cells {}: name some of "
                    "those",
                    planning_.machine.describe(use.device), use.cells.toString(),
                    draft.root().describe(), draft.box().toString()));
  }
  const Box& cut = use.distribution->root();
  const bool fits = cut.rank() == draft.box().rank() && draft.box().contains(cut);
  if (cut != draft.box() && (!fits || use.distribution->isPeriodic()))
    throw ShapeError(fmt::format(
        "{} has cells {}, but is used with a distribution of cells {}: make "
        "the distribution for this array",
        draft.root().describe(), draft.box().toString(), use.distribution->root().toString()));
}

void LaunchPlan::listWork() {
  std::size_t count = 0;
  for (const Use& use : launch_.uses)
    count +=
        use.distribution == nullptr ? 1 : static_cast<std::size_t>(use.distribution->partCount());
  work_.reserve(count);
  for (std::size_t number = 0; number < launch_.uses.size(); ++number) {
    const Use& use = launch_.uses[number];
    requireSensible(use);
    if (use.distribution == nullptr) {
      work_.push_back({&use, number, use.device, use.cells});
      continue;
    }
    for (int part = 0; part < use.distribution->partCount(); ++part) {
      const Box full = use.distribution->fullOf(part);
      const SpaceId device = use.distribution->spaceOf(part);
      planning_.machine.requireAlive(device);
      work_.push_back({&use, number, device, full, part});
    }
  }
}

// ---- what will be ----------------------------------------------------------------------------

void LaunchPlan::foresee() {
  future_.resize(planning_.drafts.size());
  for (std::size_t operand = 0; operand < future_.size(); ++operand) {
    Draft& draft = *planning_.drafts[operand];
    std::vector<WrittenView> written;
    for (const Use& use : launch_.uses)
      if (static_cast<std::size_t>(use.operand) == operand && makesPart(use, draft.box()))
        written.push_back({use.device, use.cells, use.madeFrom});
    if (written.empty()) continue;
    const ExplicitParts none(draft.box());
    const ExplicitParts& now = draft.explicitParts != nullptr ? *draft.explicitParts : none;
    future_[operand] = now.after(written);
    planning_.step.changes[operand] = future_[operand]->changes;
  }
}

const Distribution* LaunchPlan::futureOf(const Use& use) const {
  const auto& future = future_[static_cast<std::size_t>(use.operand)];
  return future ? future->parts.distribution().get() : nullptr;
}

// ---- before the kernels ----------------------------------------------------------------------

// Arrays that ask for it are exchanged where the launch needs stale ghosts: all in one exchange.
void LaunchPlan::refreshStale(LaunchTrust& trust) const {
  std::vector<char> isStale(planning_.drafts.size(), 0);
  for (const std::vector<PartUse>& uses : trust.devices()) {
    for (const PartUse& use : uses) {
      char& stale = isStale[static_cast<std::size_t>(use.use->operand)];
      if (stale != 0 || !use.use->facts->refresh) continue;
      stale = staleFor(draftOf(*use.use), use).empty() ? 0 : 1;
    }
  }
  for (std::size_t operand = 0; operand < isStale.size(); ++operand)
    if (isStale[operand] != 0) exchangeGhosts(planning_, static_cast<int>(operand));
}

// Whether an explicit subarray is used in the device's own memory though the hosts' is shared.
bool LaunchPlan::staysInOwnMemory(const Work& work) const {
  Draft& draft = draftOf(*work.use);
  // Cells that the device has, and the hosts have not, need not move.
  if (draft.copiesOf(work.device).current.contains(work.cells) &&
      !draft.copiesOf(kHosts).current.contains(work.cells))
    return true;
  // The first launch of a part counts already: it may not write into memory that is shared.
  const Distribution* future = work.use->writes ? futureOf(*work.use) : nullptr;
  const int then = future != nullptr ? future->partOn(work.device, work.cells) : -1;
  if (then >= 0 && future->hasGhosts(then)) return true;
  return work.part >= 0 && draft.active->hasGhosts(work.part);
}

void LaunchPlan::findPlaces() {
  for (Work& work : work_) {
    const Use& use = *work.use;
    Draft& draft = draftOf(use);
    const DistributionPtr& active = draft.active;
    bool isOwn = false;
    if (use.distribution != nullptr) {
      isOwn = use.distribution->hasGhosts();
      if (isOwn && draft.isCutAs(use.distribution)) work.part = work.annotated;
    } else if (use.isView) {
      if (active != nullptr && active->origin() == Origin::Explicit && active->hasGhosts())
        work.part = active->partOn(work.device, work.cells);
      isOwn = staysInOwnMemory(work);
    } else {
      // The hosts' memory has no room beyond the ends.
      isOwn = !draft.box().contains(use.cells);
    }
    work.space = isOwn ? work.device : planning_.workSpaceOf(use.operand, work.device);
    if (work.space == kHosts) planning_.step.worksInHosts[work.number] = 1;
    if (work.part >= 0) planning_.step.seesPart[work.number] = 1;
  }
}

// The cells of a written part that are ghosts once the launch is done, and that it writes nowhere
// as their owner. An annotated launch writes every core.
Region LaunchPlan::strandedGhosts(const Work& work) const {
  const Distribution* then = futureOf(*work.use);
  if (then == nullptr || !work.use->isView || !then->hasGhosts()) return {};
  const int part = then->partOn(work.device, work.cells);
  if (part < 0) return {};
  Region ghosts = differenceOf(Region(work.cells), then->coreOf(part));
  for (const Work& other : work_) {
    if (ghosts.empty() || &other == &work || !other.use->writes ||
        other.use->operand != work.use->operand)
      continue;
    const int owner = then->partOn(other.device, other.cells);
    if (owner >= 0) ghosts.subtract(intersectionOf(then->coreOf(owner), Region(other.cells)));
  }
  const auto& promotions = future_[static_cast<std::size_t>(work.use->operand)]->promotions;
  for (const ExplicitParts::Promotion& promotion : promotions)
    ghosts.subtract(
        intersectionOf(promotion.cells, draftOf(*work.use).copiesOf(promotion.device).kept));
  return ghosts;
}

// All at once: what one device gets is no source for another one.
void LaunchPlan::fetch(std::size_t operand, Sources& sources) {
  Draft& draft = *planning_.drafts[operand];
  std::map<SpaceId, Region> missing;
  for (const Work& work : work_) {
    if (static_cast<std::size_t>(work.use->operand) != operand || !needsContents(*work.use))
      continue;
    const Copies& copies = draft.copiesOf(work.space);
    if (copies.current.contains(work.cells)) continue;
    const Region& touched = work.use->touched;
    Region cells = differenceOf(touched.empty() ? Region(work.cells) : touched, copies.current);
    if (work.part >= 0) cells.subtract(copies.kept);
    if (!cells.empty()) missing[work.space].add(cells);
  }
  std::vector<std::pair<SpaceId, Region>> arrived;
  for (const auto& [space, cells] : missing) {
    draft.requireValues(cells);
    Transfer like;
    like.fromOperand = like.toOperand = static_cast<int>(operand);
    like.to = space;
    arrived.emplace_back(space, sources.bring(cells, like, planning_.transfers));
  }
  for (const auto& [space, cells] : arrived) draft.change(space).current.add(cells);
}

// Parts overwrite their copies of cells that others own. Where no other space would have the old
// values after the launch, because the array was used in another way meanwhile, the hosts take them
// first.
void LaunchPlan::save(std::size_t operand, Sources& sources) {
  Draft& draft = *planning_.drafts[operand];
  if (!future_[operand]) return;
  std::map<SpaceId, Region> overwritten;
  for (const Work& work : work_) {
    const Use& use = *work.use;
    if (static_cast<std::size_t>(use.operand) != operand || !use.writes || work.space == kHosts)
      continue;
    const Region ghosts = strandedGhosts(work);
    if (!ghosts.empty()) overwritten[work.device].add(ghosts);
  }
  for (const auto& [device, ghosts] : overwritten) {
    Region only = intersectionOf(draft.copiesOf(device).current, ghosts);
    for (SpaceId other = 0; other < draft.spaceCount() && !only.empty(); ++other) {
      if (other == device) continue;
      const auto its = overwritten.find(other);
      const Region& current = draft.copiesOf(other).current;
      only.subtract(its == overwritten.end() ? current : differenceOf(current, its->second));
    }
    if (only.empty()) continue;
    Transfer like;
    like.why = Why::Save;
    like.fromOperand = like.toOperand = static_cast<int>(operand);
    like.to = kHosts;
    const Region saved = sources.bring(only, like, planning_.transfers);
    draft.change(kHosts).current.add(saved);
  }
}

// ---- after the kernels -----------------------------------------------------------------------

// The device's kept values of these cells are the array's values from now on.
void LaunchPlan::promote(Draft& draft, const ExplicitParts::Promotion& promotion) const {
  const Region cells = intersectionOf(draft.copiesOf(promotion.device).kept, promotion.cells);
  for (const Box& box : cells) {
    const Write write{promotion.device, box};
    applyWrites(draft, {&write, 1}, Writer::Assignment);
  }
}

void LaunchPlan::adoptViews() {
  for (std::size_t operand = 0; operand < future_.size(); ++operand) {
    if (!future_[operand]) continue;
    Draft& draft = *planning_.drafts[operand];
    draft.explicitParts = std::make_shared<const ExplicitParts>(future_[operand]->parts);
    for (const auto& promotion : future_[operand]->promotions) promote(draft, promotion);
    planning_.step.promoted[operand] = future_[operand]->promotions;
    draft.adopt(future_[operand]->parts.distribution());
  }
}

void LaunchPlan::adoptAnnotations() {
  for (const Use& use : launch_.uses) {
    Draft& draft = draftOf(use);
    if (use.distribution == nullptr || (!use.writes && draft.active != nullptr)) continue;
    if (use.writes) {
      draft.explicitParts = nullptr;
      draft.partsEnded = false;
    }
    draft.adopt(use.distribution);
  }
}

void LaunchPlan::applyAllWrites() {
  for (std::size_t operand = 0; operand < planning_.drafts.size(); ++operand) {
    Draft& draft = *planning_.drafts[operand];
    std::vector<Write> writes;
    for (const Work& work : work_) {
      const Use& use = *work.use;
      if (static_cast<std::size_t>(use.operand) != operand || !use.writes) continue;
      Write write{work.space, work.cells};
      const DistributionPtr& active = draft.active;
      const bool hasParts = active != nullptr && active->hasGhosts();
      if (use.distribution != nullptr) {
        if (hasParts && draft.isCutAs(use.distribution)) write.part = work.annotated;
      } else if (use.isView && hasParts && active->origin() == Origin::Explicit) {
        write.part = active->partOn(work.device, work.cells);
      }
      if (write.part < 0 && use.isSlice) draft.partsEnded = true;
      writes.push_back(write);
    }
    if (!writes.empty()) applyWrites(draft, writes, Writer::Launch);
    draft.endNewCut();
  }
}

// Several devices may have written the whole array together, none of them as a part.
void LaunchPlan::endCoveredParts() {
  for (std::size_t operand = 0; operand < planning_.drafts.size(); ++operand) {
    Draft& draft = *planning_.drafts[operand];
    if (draft.explicitParts == nullptr || draft.explicitParts->isEnded()) continue;
    Region left(draft.box());
    bool isWritten = false;
    for (const Work& work : work_) {
      const Use& use = *work.use;
      if (static_cast<std::size_t>(use.operand) != operand || !use.writes ||
          makesPart(use, draft.box()))
        continue;
      isWritten = true;
      left.subtract(work.cells);
    }
    if (isWritten && left.empty()) draft.endParts();
  }
}

void LaunchPlan::run() {
  planning_.step.worksInHosts.assign(launch_.uses.size(), 0);
  planning_.step.seesPart.assign(launch_.uses.size(), 0);
  listWork();
  foresee();
  LaunchTrust trust(launch_.uses, planning_.drafts);
  refreshStale(trust);
  findPlaces();
  for (std::size_t operand = 0; operand < planning_.drafts.size(); ++operand) {
    Sources sources(planning_.machine, *planning_.drafts[operand]);
    fetch(operand, sources);
    save(operand, sources);
  }
  trust.note(planning_.drafts);
  adoptViews();
  adoptAnnotations();
  applyAllWrites();
  endCoveredParts();
  trust.apply(planning_.drafts);
}

}  // namespace

void planLaunch(const Planning& planning, const Launch& launch) {
  LaunchPlan(planning, launch).run();
}

std::vector<StaleGhosts> findStale(std::span<const Use> uses, std::span<Draft*> drafts) {
  std::vector<StaleGhosts> found;
  LaunchTrust trust(uses, drafts);
  for (const std::vector<PartUse>& list : trust.devices()) {
    for (const PartUse& use : list) {
      Draft& draft = *drafts[static_cast<std::size_t>(use.use->operand)];
      Region stale = staleFor(draft, use);
      if (!stale.empty()) found.push_back({use.useNumber, use.part, std::move(stale)});
    }
  }
  return found;
}

}  // namespace hpl::coherence::detail
