// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/launch/detail/outside.h"
#include "hpl/launch/detail/shares.h"

namespace hpl::launch {
namespace {

using geometry::Box;
using geometry::Index;

[[noreturn]] void refuse(const ShareJob& job, const std::string& reason) {
  throw LaunchError(
      fmt::format("kernel '{}' cannot be distributed automatically over {} devices: "
                  "{}; annotate the arrays with PART1(...) or the like, or launch it "
                  "on one device",
                  job.version->name, job.devices.size(), reason));
}

std::string nameOf(const ShareJob& job, std::size_t i) {
  return fmt::format("argument {} ({})", i + 1, job.arguments[i].view->root().describe());
}

/// Where the first access stands that `isGuilty` says yes to.
template <class IsGuilty>
std::string whereIs(const ir::ArrayAccess& access, IsGuilty isGuilty) {
  for (const ir::AccessSite& site : access.sites) {
    if (!isGuilty(site) || site.where.line == 0) continue;
    return fmt::format(" ({}:{})", site.where.file, site.where.line);
  }
  return "";
}

/// The dimension of a written array that one axis walks through, each work-item at its own index
/// in all accesses; -1: there is none.
int ownDimension(const ir::ArrayAccess& access, int axis) {
  for (std::size_t d = 0; d < access.writes.size(); ++d) {
    const ir::IndexForm& form = access.writes[d];
    if (form.isAffine() && form.axis == axis && form.range.lo == 0 && form.range.hi == 0)
      return static_cast<int>(d);
  }
  return -1;
}

void checkKernel(const ShareJob& job) {
  if (job.version->native) refuse(job, "it is OpenCL C, whose accesses the library does not know");
  const ir::AccessSummary& summary = job.version->access;
  if (summary.usesLocalIdOrGroup)
    refuse(job,
           "it asks for local or group ids, which begin anew on every device (lidx, gidx, lszx, "
           "ngroupsx or reduce)");
}

/// Whether the launch can be cut along the axis; else why not.
std::string defectOf(const ShareJob& job, int axis) {
  for (std::size_t i = 0; i < job.count; ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access == nullptr || !access->written || job.arguments[i].kind != Argument::Kind::Array)
      continue;
    const int dim = ownDimension(*access, axis);
    if (access->atomics)
      return fmt::format("it updates {} with atomics{}, which do not reach across devices",
                         nameOf(job, i),
                         whereIs(*access, [](const auto& site) { return site.atomic; }));
    if (dim < 0)
      return fmt::format("it writes {} elsewhere than at its own {}{}", nameOf(job, i),
                         axisName(axis), whereIs(*access, [&](const ir::AccessSite& site) {
                           return site.writes &&
                                  std::none_of(site.index.begin(), site.index.end(),
                                               [&](const ir::IndexForm& form) {
                                                 return form == ir::IndexForm::affine(axis, 0, 0);
                                               });
                         }));
    if (access->reads.empty()) continue;
    if (!(access->reads[static_cast<std::size_t>(dim)] == ir::IndexForm::affine(axis, 0, 0)))
      return fmt::format("it reads {}, which it also writes, elsewhere than at its own {}{}",
                         nameOf(job, i), axisName(axis),
                         whereIs(*access, [&](const ir::AccessSite& site) {
                           return site.reads && !(site.index[static_cast<std::size_t>(dim)] ==
                                                  ir::IndexForm::affine(axis, 0, 0));
                         }));
  }
  return "";
}

/// Two arguments that are the same array, one of them written: cells of one device may be
/// another's.
void checkAliases(const ShareJob& job) {
  for (std::size_t i = 0; i < job.count; ++i) {
    for (std::size_t j = 0; j < job.count; ++j) {
      const Argument& a = job.arguments[i];
      const Argument& b = job.arguments[j];
      if (i == j || a.kind != Argument::Kind::Array || b.kind != Argument::Kind::Array) continue;
      const bool overlap =
          &a.view->root() == &b.view->root() && a.view->box().intersects(b.view->box());
      if (overlap && job.version->params[i].access->written)
        refuse(job,
               fmt::format("{} is written and also passed as argument {}", nameOf(job, i), j + 1));
    }
  }
}

Domain globalDomain(const ShareJob& job) {
  const geometry::Extents* first = nullptr;
  for (std::size_t i = 0; i < job.count && first == nullptr; ++i)
    if (job.arguments[i].kind == Argument::Kind::Array) first = &job.arguments[i].view->extents;
  const Shape shape =
      chooseShape(job.options, first, *job.devices.front(), job.version->name, false);
  Domain domain;
  domain.dims = static_cast<int>(shape.dims);
  std::copy(shape.size, shape.size + 3, domain.size);
  return domain;
}

bool isFirstAnywhere(const ShareJob& job) {
  return std::none_of(job.arguments, job.arguments + job.count,
                      [](const Argument& a) { return a.kind == Argument::Kind::PartExtent; });
}

}  // namespace

Box cellsTouched(const ir::ArrayAccess& access, const Box& view, int axis,
                 const geometry::Interval& slice) {
  Box cells;
  for (const auto* forms : {&access.reads, &access.writes}) {
    if (forms->empty()) continue;
    Box touched = view;
    for (int d = 0; d < view.rank(); ++d) {
      const ir::IndexForm& form = (*forms)[static_cast<std::size_t>(d)];
      Index lo = 0;
      Index hi = view.extent(d);
      if (form.isAffine() && form.axis == axis) {
        lo = std::clamp<Index>(slice.lo + form.range.lo, 0, hi);
        hi = std::clamp<Index>(slice.hi + form.range.hi, lo, hi);
      } else if (form.isConstant()) {
        lo = std::clamp<Index>(form.range.lo, 0, hi);
        hi = std::clamp<Index>(form.range.hi + 1, lo, hi);
      }
      touched = touched.withRange(d, view.lo(d) + lo, view.lo(d) + hi);
    }
    cells = hull(cells, touched);
  }
  // An array that is not accessed here still needs a place.
  if (cells.rank() > 0 && !cells.empty()) return cells;
  Box corner = view;
  for (int d = 0; d < view.rank(); ++d) corner = corner.withRange(d, view.lo(d), view.lo(d) + 1);
  return corner;
}

Division divide(const ShareJob& job) {
  checkKernel(job);
  if (!isFirstAnywhere(job))
    refuse(job, "a.part(d) is an argument, and without annotations there are no parts");
  checkAliases(job);
  Division division;
  division.global = globalDomain(job);
  // The slowest axis makes the longest contiguous slices.
  std::string why;
  for (division.axis = division.global.dims - 1; division.axis >= 0; --division.axis) {
    const std::string defect = defectOf(job, division.axis);
    if (defect.empty()) break;
    if (why.empty()) why = defect;
  }
  if (division.axis < 0) refuse(job, why);
  Shape whole;
  whole.dims = static_cast<cl_uint>(division.global.dims);
  std::copy(division.global.size, division.global.size + 3, whole.size);
  checkAccesses(*job.version, job.arguments, job.count, whole, job.options.global.dims == 0);
  const auto length = static_cast<Index>(division.global.size[division.axis]);
  const auto parts = static_cast<int>(job.devices.size());
  division.slices = job.weights.empty() ? geometry::splitEven(length, parts)
                                        : geometry::splitWeighted(length, parts, job.weights);
  for (const geometry::Interval& slice : division.slices) {
    std::vector<Box>& cells = division.cells.emplace_back(job.count);
    if (slice.length() == 0) continue;
    for (std::size_t i = 0; i < job.count; ++i)
      if (job.arguments[i].kind == Argument::Kind::Array)
        cells[i] = cellsTouched(*job.version->params[i].access, job.arguments[i].view->box(),
                                division.axis, slice);
  }
  return division;
}

}  // namespace hpl::launch
