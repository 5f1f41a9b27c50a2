// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/aliases.h"

#include <algorithm>
#include <numeric>

#include "hpl/memory/root.h"

namespace hpl::launch {
namespace {

using geometry::Box;
using geometry::Index;
using ir::IndexForm;

/// Whether the form is an id times `times` plus an offset, for all ids of the domain.
bool isStrided(const IndexForm& form, const Domain& global) {
  if (!form.isBounded() || form.over != 1 || form.axis >= global.dims) return false;
  return static_cast<Index>(global.size[form.axis]) - 1 <= form.lastBoundedId();
}

/// Whether the indices of a dimension are of other residues, whatever the ids.
bool areApart(const IndexForm& a, Index firstOfA, const IndexForm& b, Index firstOfB) {
  const Index stride = std::gcd(a.times, b.times);
  const auto residue = [stride](Index place) { return (place % stride + stride) % stride; };
  // Beyond a stride of them offsets have the same residues again.
  const auto last = [stride](const IndexForm& form) {
    return std::min(form.range.hi, form.range.lo + stride - 1);
  };
  for (Index i = a.range.lo; i <= last(a); ++i)
    for (Index k = b.range.lo; k <= last(b); ++k)
      if (residue(firstOfA + i) == residue(firstOfB + k)) return false;
  return true;
}

/// Whether each id means one index by both, its own.
bool areSame(const IndexForm& a, Index firstOfA, const IndexForm& b, Index firstOfB) {
  return a.isAffine() && b.isAffine() && a.axis == b.axis && a.isExact() && b.isExact() &&
         firstOfA + a.range.lo == firstOfB + b.range.lo;
}

bool areApart(const ShareJob& job, const Alias& alias, const Domain& global) {
  const Box& written = job.arguments[alias.written].view->box();
  const Box& other = job.arguments[alias.other].view->box();
  const std::vector<IndexForm>& writes = job.version->params[alias.written].access->writes;
  const std::vector<ir::AccessSite>& sites = job.version->params[alias.other].access->sites;
  return std::all_of(sites.begin(), sites.end(), [&](const ir::AccessSite& site) {
    if (site.index.size() != writes.size()) return false;
    for (std::size_t d = 0; d < writes.size(); ++d) {
      const Index firstWritten = written.lo(static_cast<int>(d));
      const Index firstOther = other.lo(static_cast<int>(d));
      if (areSame(writes[d], firstWritten, site.index[d], firstOther)) return true;
      if (isStrided(writes[d], global) && isStrided(site.index[d], global) &&
          areApart(writes[d], firstWritten, site.index[d], firstOther))
        return true;
    }
    return false;
  });
}

}  // namespace

std::vector<Alias> aliasesIn(const ShareJob& job, const Domain& global) {
  std::vector<Alias> all;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    for (std::size_t j = 0; j < job.arguments.size(); ++j) {
      const Argument& a = job.arguments[i];
      const Argument& b = job.arguments[j];
      if (i == j || a.kind != Argument::Kind::Array || b.kind != Argument::Kind::Array) continue;
      const bool overlap =
          &a.view->root() == &b.view->root() && a.view->box().intersects(b.view->box());
      if (!overlap || !job.version->params[i].access->written) continue;
      all.push_back({i, j});
      all.back().isApart = areApart(job, all.back(), global);
    }
  }
  return all;
}

}  // namespace hpl::launch
