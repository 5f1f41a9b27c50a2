// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/rows_checks.h"

#include <algorithm>
#include <array>
#include <set>

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/counters.h"

namespace hpl::strategies {
namespace detail {

namespace {

/// Whether each work-item writes its own element of a grid in a vector, whose rows run along the
/// launch's.
bool isOwnInVector(const ir::AccessSite& site, const RowsOptions& options) {
  if (site.index.size() != 1) return false;
  const ir::FlatIndex& flat = site.index.front().flat;
  return flat.terms == options.dims && flat.axes[0] == options.order[0] && flat.isExact() &&
         flat.isKnownFor(sizesOf(options));
}

/// Throws unless each work-item writes one element of each row, its own.
void checkWrite(const ir::AccessSite& site, const std::string& name, const RowsOptions& options) {
  if (isOwnInVector(site, options)) return;
  const ir::IndexForm& last = site.index.back();
  if (!last.isAffine() || last.axis != options.order[0] || !last.isExact())
    throw Refused{"it writes " + name + " elsewhere than along id" + axisName(options.order[0]) +
                  at(site.where)};
  for (int axis = 0; axis < options.dims; ++axis) {
    const auto own = std::count_if(
        site.index.begin(), site.index.end(),
        [&](const ir::IndexForm& f) { return f.isAffine() && f.axis == axis && f.isExact(); });
    const bool walks =
        std::any_of(site.index.begin(), site.index.end(),
                    [&](const ir::IndexForm& f) { return f.isBounded() && f.axis == axis; });
    if (own != 1 && walks)
      throw Refused{"it writes " + name + " elsewhere than along id" + axisName(axis) +
                    at(site.where)};
    if (own != 1) throw Refused{"several work-items write one element of " + name + at(site.where)};
  }
}

/// Whether both write at the same offsets.
bool areAlike(const ir::AccessSite& a, const ir::AccessSite& b) {
  for (std::size_t d = 0; d < a.index.size(); ++d) {
    const ir::IndexForm &x = a.index[d], &y = b.index[d];
    if (x.isAffine() != y.isAffine() || x.isFlat() != y.isFlat()) return false;
    if ((x.isAffine() || x.isFlat()) && !(x == y)) return false;
  }
  return true;
}

void checkWrites(const ir::ArrayAccess& access, const RowsOptions& options) {
  const std::string name = "'" + access.array->name + "'";
  const ir::AccessSite* first = nullptr;
  for (const ir::AccessSite& site : access.sites) {
    if (!site.writes) continue;
    if (site.alias) throw Refused{"it writes " + name + " through an alias" + at(site.where)};
    checkWrite(site, name, options);
    // A store for some lanes rewrites the others, which must be this work-item's too.
    if (first != nullptr && !areAlike(site, *first))
      throw Refused{"it writes " + name + " at different offsets" + at(site.where)};
    first = &site;
  }
}

}  // namespace

void checkKernel(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                 const RowsOptions& options) {
  if (summary.sharesWithinGroups())
    throw Refused{"its work-items share local memory or wait for each other"};
  if (summary.usesAtomics) checkCounters(kernel, summary, options);
  if (summary.usesLocalIdOrGroup) throw Refused{"it asks for local or group ids"};
  for (const ir::Function* function : kernel.functions)
    if (function->native != nullptr)
      throw Refused{"it calls '" + function->native->name +
                    "', OpenCL C that computes one element at a time"};
  if (!kernel.functions.empty())
    throw Refused{"it calls '" + kernel.functions.front()->name +
                  "' with call(); called directly it would be inlined"};
  bool writes = false;
  for (const ir::ArrayAccess& access : summary.arrays) {
    if (!access.written) continue;
    writes = true;
    if (!access.atomics && !options.ownElements) checkWrites(access, options);
  }
  if (!writes) throw Refused{"it writes no array"};
}

bool knowsVectors(const ir::AccessSummary& summary) {
  return std::any_of(summary.arrays.begin(), summary.arrays.end(), [](const ir::ArrayAccess& a) {
    return std::any_of(a.sites.begin(), a.sites.end(), [](const ir::AccessSite& site) {
      return site.index.size() == 1 && site.index.front().isFlat();
    });
  });
}

bool isIdempotent(const ir::AccessSummary& summary) {
  return std::none_of(summary.arrays.begin(), summary.arrays.end(),
                      [](const ir::ArrayAccess& a) { return a.written && a.read; });
}

}  // namespace detail

bool hasReuse(const ir::Kernel& kernel, const ir::AccessSummary& summary) {
  const auto hasLoop = [](const auto& self, const ir::Block& block) -> bool {
    return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const ir::Stmt* stmt) {
      bool found = stmt->as<ir::Loop>() != nullptr || stmt->as<ir::DoLoop>() != nullptr;
      ir::forEachBlock(*stmt, [&](const ir::Block& inner) { found = found || self(self, inner); });
      return found;
    });
  };
  if (hasLoop(hasLoop, *kernel.entry->body)) return true;
  for (const ir::ArrayAccess& access : summary.arrays) {
    for (const ir::AccessSite& site : access.sites) {
      if (!site.reads) continue;
      for (const ir::IndexForm& form : site.index)
        if (!form.isAffine() || form.range.lo != 0 || form.range.hi != 0) return true;
    }
  }
  return false;
}

namespace {

/// Different positions that are read for several ids in a row along an axis.
std::size_t positions(const ir::AccessSummary& summary, int axis, int ids) {
  std::set<std::vector<std::int64_t>> found;
  for (const ir::ArrayAccess& access : summary.arrays) {
    for (const ir::AccessSite& site : access.sites) {
      if (!site.reads || site.alias) continue;
      for (int i = 0; i < ids; ++i) {
        std::vector<std::int64_t> position{access.array->paramIndex};
        for (const ir::IndexForm& form : site.index)
          position.push_back(form.range.lo + (form.isAffine() && form.axis == axis ? i : 0));
        found.insert(std::move(position));
      }
    }
  }
  return found.size();
}

}  // namespace

std::size_t distinctReads(const ir::AccessSummary& summary) { return positions(summary, 0, 1); }

JamChoice chooseJam(const ir::AccessSummary& summary, const RowsOptions& options, bool isTiled) {
  const int slow = options.dims == 3 ? options.order[2] : options.order[1];
  JamChoice choice;
  if (options.dims == 1) return choice;
  // Loads for each row where `rows` are computed at once.
  const auto loads = [&](int rows) {
    return static_cast<double>(positions(summary, slow, rows)) / rows;
  };
  const double one = loads(1);
  if (one > 0 && loads(4) <= 0.95 * one) choice.jam = 4;
  // Four planes read four times as many rows beside each other. Stars share little, and in arrays
  // that no cache holds they are up to a quarter faster with two.
  if (!isTiled && options.dims == 3 && choice.jam == 4 && loads(4) > 0.85 * loads(2))
    choice.jam = 2;
  // Long sums of loads: several of them hide the latency of additions.
  if (one >= 50 && choice.jam == 1) choice.vectors = 3;
  return choice;
}

}  // namespace hpl::strategies
