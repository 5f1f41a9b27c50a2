// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/queue_plan.h"

#include <algorithm>
#include <set>

#include "hpl/ir/walk.h"

namespace hpl::strategies {
namespace detail {
namespace {

using ir::IndexForm;
using ir::Interval;
using ir::Variable;

/// Elements that are further away are not worth the memory of all that lies between.
constexpr std::int64_t kFarPlane = 16;
constexpr std::int64_t kFarColumn = 64;
/// Registers that the values of one array may take; GPUs have up to 255 for all of a work-item.
constexpr std::int64_t kMostQueued = 24;

bool isWithin(const Interval& inner, const Interval& outer) {
  return inner.lo >= outer.lo && inner.hi <= outer.hi;
}

/// Arrays in global memory whose elements are the same during the launch, and of types that every
/// device computes with.
bool isEligible(const ir::ArrayAccess& access, int dims) {
  const Variable& array = *access.array;
  const bool isKept = array.space == ir::Space::Global || array.space == ir::Space::Constant;
  const ir::Type& type = array.type;
  return isKept && !access.written && array.rank == dims && type.isScalar() && !type.complex &&
         !type.isStruct() && type.scalar != ir::Scalar::Bool && type.scalar != ir::Scalar::Half;
}

}  // namespace

QueuePlan::QueuePlan(const Source& source, const PlaneQueueOptions& options,
                     const std::vector<SeenRead>& anywhere, const std::vector<SeenRead>& inside)
    : dims_(options.dims), slow_(options.order[static_cast<std::size_t>(options.dims - 1)]) {
  for (const ir::ArrayAccess& access : source.summary().arrays)
    if (isEligible(access, dims_) && !source.isAliased(access.array))
      eligible_.insert(access.array);
  std::unordered_set<const ir::Access*> served;
  for (const SeenRead& read : anywhere) {
    if (axesOf(read).empty()) continue;
    include(read);
    served.insert(read.access);
  }
  for (const SeenRead& read : inside) {
    if (axesOf(read).empty()) continue;
    include(read);
    narrows_ = narrows_ || !served.contains(read.access);
  }
  finish();
}

const QueuedArray* QueuePlan::find(const Variable* array) const {
  const auto place = places_.find(array);
  return place == places_.end() ? nullptr : &arrays_[place->second];
}

std::vector<int> QueuePlan::axesOf(const SeenRead& read) const {
  if (!eligible_.contains(read.access->array)) return {};
  std::vector<int> axes;
  for (const IndexForm& form : read.forms) {
    if (!form.isAffine() || form.axis >= dims_) return {};
    const std::int64_t far = form.axis == slow_ ? kFarPlane : kFarColumn;
    if (!isWithin(form.range, {-far, far})) return {};
    axes.push_back(form.axis);
  }
  if (std::set<int>(axes.begin(), axes.end()).size() != axes.size()) return {};
  // One element is kept in one place: a second way through the array is read where it is.
  const QueuedArray* known = find(read.access->array);
  return known == nullptr || known->axis == axes ? axes : std::vector<int>{};
}

bool QueuePlan::isOwnColumn(const std::vector<IndexForm>& forms) const {
  return std::all_of(forms.begin(), forms.end(), [&](const IndexForm& form) {
    return form.isExact() && (form.axis == slow_ || form.range.lo == 0);
  });
}

bool QueuePlan::isInColumn(const QueuedArray& queued, const std::vector<IndexForm>& forms) const {
  for (std::size_t d = 0; d < forms.size(); ++d) {
    if (!forms[d].isAffine() || forms[d].axis != queued.axis[d]) return false;
    if (forms[d].axis == slow_ && !isWithin(forms[d].range, queued.column)) return false;
  }
  return isOwnColumn(forms);
}

void QueuePlan::include(const SeenRead& read) {
  const Variable* array = read.access->array;
  if (!places_.contains(array)) {
    arrays_.push_back({array, axesOf(read), Interval::none(), false, Interval::none(), {}});
    places_[array] = arrays_.size() - 1;
  }
  QueuedArray& queued = arrays_[places_.at(array)];
  const bool isOwn = isOwnColumn(read.forms);
  for (const IndexForm& form : read.forms) {
    if (form.axis == slow_) {
      Interval& planes = isOwn ? queued.column : queued.ring;
      planes = hull(planes, form.range);
    } else if (!isOwn) {
      Interval& halo = queued.halo[static_cast<std::size_t>(form.axis)];
      halo = hull(halo, form.range);
    }
  }
}

/// Keeps the arrays of which several elements are read, and lets the newest plane of each ring come
/// from the registers.
void QueuePlan::finish() {
  std::vector<QueuedArray> kept;
  std::int64_t planes = 1;
  for (QueuedArray& queued : arrays_) {
    queued.hasRing = !queued.ring.isEmpty();
    if (!queued.hasRing && queued.column.lo == queued.column.hi) continue;
    if (queued.hasRing) {
      const Interval newest{queued.ring.hi, queued.ring.hi};
      queued.column = hull(queued.column, newest);
      planes = std::max(planes, queued.ring.hi - queued.ring.lo + 1);
    }
    planes = std::max(planes, queued.column.hi - queued.column.lo + 1);
    if (queued.column.hi - queued.column.lo >= kMostQueued)
      throw Refused{"a queue of '" + queued.array->name + "' would hold " +
                    std::to_string(queued.column.hi - queued.column.lo + 1) +
                    " values, more than registers hold well"};
    kept.push_back(queued);
  }
  const std::string word = dims_ == 3 ? "planes" : "rows";
  if (planes < 2)
    throw Refused{"it reads no array, at constant offsets from its ids, in several " + word};
  arrays_ = std::move(kept);
  places_.clear();
  for (std::size_t i = 0; i < arrays_.size(); ++i) places_[arrays_[i].array] = i;
}

}  // namespace detail

int planesRead(const ir::AccessSummary& summary, int axis) {
  std::size_t most = 0;
  for (const ir::ArrayAccess& access : summary.arrays) {
    std::set<std::int64_t> planes;
    if (access.written) continue;
    for (const ir::AccessSite& site : access.sites) {
      const auto isAffine = [](const ir::IndexForm& form) { return form.isAffine(); };
      if (site.alias || !std::all_of(site.index.begin(), site.index.end(), isAffine)) continue;
      for (const ir::IndexForm& form : site.index)
        for (std::int64_t k = form.range.lo;
             form.axis == axis && k <= std::min(form.range.hi, form.range.lo + 64); ++k)
          planes.insert(k);
    }
    most = std::max(most, planes.size());
  }
  return static_cast<int>(most);
}

}  // namespace hpl::strategies
