// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/axes.h"

#include <algorithm>
#include <climits>
#include <unordered_set>
#include <vector>

#include "hpl/ir/detail/slopes.h"
#include "hpl/ir/walk.h"

namespace hpl::ir {
namespace {

constexpr const char* kNames[] = {"idx", "idy", "idz"};

/// How the address of an access moves along one axis.
enum class Step {
  /// Not at all.
  None,
  /// To the neighbouring element.
  Neighbour,
  /// Within the last dimension, by what is not known.
  Somewhere,
  /// Far.
  Far
};

struct Site {
  const Variable* array;
  std::array<Step, 3> steps;
  /// Per axis: the slowest dimension that it moves along, counted from the last one (0).
  std::array<int, 3> height{};
  bool isWritten = false;
};

class SiteCollector {
 public:
  explicit SiteCollector(const Kernel& kernel) : slopes_(kernel) {
    collect(*kernel.entry->body);
    for (const Function* function : kernel.functions) {
      for (const Variable* param : function->params) note(*param);
      collect(*function->body);
    }
  }

  std::vector<Site> sites;
  bool hasAlias = false;

 private:
  void note(const Variable& variable) { hasAlias = hasAlias || variable.role == Role::Alias; }

  void collect(const Block& block) {
    for (const Stmt* stmt : block.stmts) {
      if (const auto* declare = stmt->as<Declare>()) note(*declare->variable);
      if (const auto* assign = stmt->as<Assign>()) written_ = accessOf(*assign->target);
      forEachExpr(*stmt, [this](const Expr& expr) { collect(expr); });
      forEachBlock(*stmt, [this](const Block& inner) { collect(inner); });
    }
  }

  void collect(const Expr& expr) {
    if (isLeaf(expr) || !seen_.insert(&expr).second) return;
    const auto* access = expr.as<Access>();
    if (access != nullptr && access->array->space != Space::Private) add(*access);
    forEachOperand(expr, [this](const Expr& operand) { collect(operand); });
  }

  void add(const Access& access) {
    Site site{access.array, {}, {}, &access == written_};
    const std::size_t rank = access.indices.size();
    for (std::size_t d = 0; d < rank; ++d) {
      const detail::Slopes slopes = slopes_.of(*access.indices[d]);
      const bool isLast = d + 1 == rank;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (slopes[axis] == 0) continue;
        site.height[axis] = std::max(site.height[axis], static_cast<int>(rank - 1 - d));
        if (!isLast) {
          site.steps[axis] = Step::Far;
        } else if (site.steps[axis] != Step::Far) {
          site.steps[axis] = !slopes[axis]                             ? Step::Somewhere
                             : slopes[axis] == 1 || slopes[axis] == -1 ? Step::Neighbour
                                                                       : Step::Far;
        }
      }
    }
    sites.push_back(site);
  }

  detail::SlopeTable slopes_;
  /// The element that the statement writes.
  const Access* written_ = nullptr;
  std::unordered_set<const Expr*> seen_;
};

/// The site that would suffer if `axis` ran fastest; null when none would. None is a Neighbour
/// along x.
const Site* obstacle(const std::vector<Site>& sites, std::size_t axis) {
  for (const Site& site : sites) {
    if (site.steps[axis] == Step::Far) return &site;
    if (site.steps[0] == Step::Somewhere && site.steps[axis] != Step::Neighbour) return &site;
    if (site.steps[axis] == Step::Somewhere && site.steps[0] != Step::Far) return &site;
  }
  return nullptr;
}

const Site* firstNeighbour(const std::vector<Site>& sites, std::size_t axis) {
  const auto found = std::find_if(sites.begin(), sites.end(), [axis](const Site& site) {
    return site.steps[axis] == Step::Neighbour;
  });
  return found == sites.end() ? nullptr : &*found;
}

/// `fastest` first, then the others by the height of the dimensions that they run along.
std::array<int, 3> orderWith(const std::vector<Site>& sites, int fastest) {
  // Axes that index nothing are the slowest.
  std::array<int, 3> height{};
  for (const Site& site : sites)
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (site.steps[axis] != Step::None)
        height[axis] = std::max(height[axis], 1 + site.height[axis]);
  for (int& h : height)
    if (h == 0) h = INT_MAX;
  height[static_cast<std::size_t>(fastest)] = 0;
  std::array<int, 3> axes{0, 1, 2};
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) {
    return height[static_cast<std::size_t>(a)] < height[static_cast<std::size_t>(b)];
  });
  std::array<int, 3> dimension{};
  for (int d = 0; d < 3; ++d)
    dimension[static_cast<std::size_t>(axes[static_cast<std::size_t>(d)])] = d;
  return dimension;
}

/// Whether some site is contiguous along `one` axis and far apart along the `other`.
bool hasAcross(const std::vector<Site>& sites, std::size_t one, std::size_t other) {
  return std::any_of(sites.begin(), sites.end(), [&](const Site& site) {
    return site.steps[one] == Step::Neighbour && site.steps[other] == Step::Far;
  });
}

bool hasWrites(const std::vector<Site>& sites, std::size_t axis) {
  return std::any_of(sites.begin(), sites.end(), [&](const Site& site) {
    return site.isWritten && site.steps[axis] == Step::Neighbour;
  });
}

AxisOrder natural(std::string reason, int crossing = -1) {
  return {{0, 1, 2}, crossing, std::move(reason)};
}

std::string runs(std::size_t axis, const Site& site) {
  return std::string(kNames[axis]) + " runs along the last dimension of '" + site.array->name + "'";
}

}  // namespace

AxisOrder chooseAxes(const Kernel& kernel, const AccessSummary& summary) {
  if (summary.usesBarrier || summary.usesLocalMemory)
    return natural("its groups share local memory or meet at barriers");
  if (summary.usesLocalIdOrGroup) return natural("it asks for its place in the group");
  if (summary.usesAtomics) return natural("it uses atomics, whose order would change");
  const SiteCollector collector(kernel);
  if (collector.hasAlias) return natural("it uses AliasArrays");
  const std::vector<Site>& sites = collector.sites;
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
    if (!hasAcross(sites, axis, 0) || !hasAcross(sites, 0, axis)) continue;
    const std::string reason =
        runs(0, *firstNeighbour(sites, 0)) + ", and " + runs(axis, *firstNeighbour(sites, axis));
    if (hasWrites(sites, 0) || !hasWrites(sites, axis))
      return natural(reason, static_cast<int>(axis));
    return {orderWith(sites, static_cast<int>(axis)), 0, reason + ", which is written"};
  }
  if (const Site* site = firstNeighbour(sites, 0)) return natural(runs(0, *site));
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
    const Site* gain = firstNeighbour(sites, axis);
    if (gain == nullptr) continue;
    if (const Site* site = obstacle(sites, axis))
      return natural(runs(axis, *gain) + ", but not of '" + site->array->name + "'");
    return {orderWith(sites, static_cast<int>(axis)), -1, runs(axis, *gain)};
  }
  return natural("no id runs along the last dimension of an array");
}

}  // namespace hpl::ir
