// SPDX-License-Identifier: Apache-2.0
// What the kernels of time tiles access: their functions are recorded for a cell of one step, and
// say less than that.
#include <algorithm>

#include "stencil_templates/detail/time_recipe.h"

namespace hpl::stencils {

/// Whether one function writes all cells of the field; several are not put together.
bool TimeRecipe::coversGrid(int field) const {
  return std::any_of(functions_.begin(), functions_.end(), [&](const TimeFunction& function) {
    const auto& writes = function.writes;
    return std::find(writes.begin(), writes.end(), field) != writes.end() &&
           function.low == std::array<std::int64_t, 3>{} &&
           function.high == std::array<std::int64_t, 3>{};
  });
}

void TimeRecipe::adjust(ir::AccessSummary& summary) const {
  const strategies::Growth halo = strategies::haloOf(program_, tile_.depth);
  const std::size_t dims = static_cast<std::size_t>(program_.dims);
  for (std::size_t f = 0; f < program_.fields.size(); ++f) {
    const strategies::TimeField& field = program_.fields[f];
    for (const int parameter : {field.current, field.next}) {
      if (parameter < 0) continue;
      const bool writes = parameter != field.current;
      const bool covers = field.isLoaded() || coversGrid(static_cast<int>(f));
      const auto found = std::find_if(
          summary.arrays.begin(), summary.arrays.end(),
          [&](const ir::ArrayAccess& access) { return access.array->paramIndex == parameter; });
      ir::ArrayAccess access;
      access.array = found->array;
      if (field.lifetime == strategies::Lifetime::Temporary || !(writes || field.isLoaded())) {
        *found = std::move(access);
        continue;
      }
      access.read = access.readsOldContents = !writes;
      access.written = writes;
      access.coversThreads = writes && covers;
      ir::AccessSite& site = access.sites.emplace_back();
      site.reads = !writes;
      site.writes = writes;
      for (std::size_t d = 0; d < dims; ++d) {
        const int axis = program_.dims - 1 - static_cast<int>(d);
        if (access.coversThreads) access.coverAxes.push_back(axis);
        const bool isAnywhere = isPeriodic(static_cast<int>(d)) && !program_.isJoined[d];
        const std::int64_t shift = program_.ghostsBefore[d];
        site.index.push_back(writes       ? ir::IndexForm::affine(axis, 0, 0)
                             : isAnywhere ? ir::IndexForm::unknown()
                                          : ir::IndexForm::affine(axis, shift - halo.before[d],
                                                                  shift + halo.after[d]));
      }
      (writes ? access.writes : access.reads) = site.index;
      *found = std::move(access);
    }
  }
  if (isPersistent()) adjustShared(summary);
  if (tile_.looks) adjustLooks(summary);
  adjustTables(summary);
  adjustRecords(summary);
}

/// The samples of a cell are its work-item's.
ir::OwnCells TimeRecipe::cellsOfRecord(const TimeFunction& function) const {
  const auto axisOf = [&](std::size_t dim) { return program_.dims - 1 - static_cast<int>(dim); };
  ir::OwnCells own;
  for (std::size_t d = 0; d < static_cast<std::size_t>(program_.dims); ++d) {
    const std::int64_t first = function.recording->first[d];
    own.ids[static_cast<std::size_t>(axisOf(d))] = {first, first + function.most[d] - 1};
  }
  own.axes.push_back(-1);
  for (const std::size_t d : function.recording->dims) own.axes.push_back(axisOf(d));
  return own;
}

/// Some cells, which the steps of the launch decide; the others stay as they are.
void TimeRecipe::adjustRecords(ir::AccessSummary& summary) const {
  for (ir::ArrayAccess& access : summary.arrays) {
    const auto record = records_.find(access.array->paramIndex);
    if (record == records_.end()) continue;
    ir::ArrayAccess some;
    some.array = access.array;
    some.read = some.readsOldContents = some.written = true;
    ir::AccessSite& site = some.sites.emplace_back();
    site.reads = site.writes = true;
    site.index.assign(static_cast<std::size_t>(some.array->rank), ir::IndexForm::unknown());
    some.reads = some.writes = site.index;
    some.ownCells = cellsOfRecord(functions_[record->second]);
    access = std::move(some);
  }
}

/// Parameters say which steps a launch does.
void TimeRecipe::adjustTables(ir::AccessSummary& summary) const {
  for (const strategies::TimeProgram::StepScalar& own : program_.stepScalars) {
    for (ir::ArrayAccess& access : summary.arrays) {
      if (access.array->paramIndex != own.table) continue;
      ir::ArrayAccess all;
      all.array = access.array;
      access = std::move(all);
      access.read = access.readsOldContents = true;
      ir::AccessSite& site = access.sites.emplace_back();
      site.reads = true;
      site.index.push_back(ir::IndexForm::unknown());
      access.reads = site.index;
    }
  }
}

/// Each group writes its own cells before it reads them.
void TimeRecipe::adjustLooks(ir::AccessSummary& summary) const {
  for (ir::ArrayAccess& access : summary.arrays) {
    const int parameter = access.array->paramIndex;
    if (parameter != program_.looks.old && parameter != program_.looks.residual) continue;
    ir::ArrayAccess own;
    own.array = access.array;
    if (parameter == program_.looks.residual) {
      access = std::move(own);
      continue;
    }
    own.read = own.written = own.coversThreads = true;
    ir::AccessSite& site = own.sites.emplace_back();
    site.reads = site.writes = true;
    for (int axis = program_.dims - 1; axis >= 0; --axis) {
      own.coverAxes.push_back(axis);
      site.index.push_back(ir::IndexForm::affine(axis, 0, 0));
    }
    own.reads = own.writes = site.index;
    access = std::move(own);
  }
}

/// The cells that groups exchange, and the flags, are anywhere.
void TimeRecipe::adjustShared(ir::AccessSummary& summary) const {
  const auto isShared = [&](int parameter) {
    return parameter == program_.flags || (tile_.looks && parameter == program_.looks.values) ||
           std::any_of(
               program_.fields.begin(), program_.fields.end(),
               [&](const strategies::TimeField& field) { return parameter == field.between; });
  };
  for (ir::ArrayAccess& access : summary.arrays) {
    if (!isShared(access.array->paramIndex)) continue;
    access.read = access.readsOldContents = access.written = true;
    ir::AccessSite& site = access.sites.emplace_back();
    site.reads = site.writes = true;
    site.index.assign(static_cast<std::size_t>(access.array->rank), ir::IndexForm::unknown());
    access.reads = access.writes = site.index;
  }
}

}  // namespace hpl::stencils
