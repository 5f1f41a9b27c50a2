// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "hpl/array/annotation_splits.h"
#include "hpl/error.h"
#include "hpl/launch/detail/shares.h"

namespace hpl::launch {
namespace {

using geometry::Box;

std::string fullNameOf(const ShareJob& job, std::size_t i) {
  return fmt::format("argument {} of kernel '{}' ({})", i + 1, job.version->name,
                     job.arguments[i].view->root().describe());
}

std::string partName(const Annotation& annotation) {
  std::string name = "PART";
  for (int d = 0; d < annotation.count; ++d) name += std::to_string(annotation.dims[d].dim + 1);
  return name;
}

void checkAnnotation(const ShareJob& job, std::size_t i) {
  const Argument& argument = job.arguments[i];
  const Annotation& annotation = argument.annotation();
  for (int k = 0; k < annotation.count; ++k) {
    const DimAnnotation& dim = annotation.dims[k];
    if (dim.dim >= argument.rank)
      throw ArgumentError(fmt::format(
          "{}: {} splits dimension {}, but the array has {} dimension{}; annotate one that it has",
          fullNameOf(job, i), partName(annotation), dim.dim + 1, argument.rank,
          argument.rank == 1 ? "" : "s"));
    if (dim.before < 0 || dim.after < 0)
      throw ArgumentError(
          fmt::format("{}: {} asks for an overlap of {} cells; overlaps count from 0",
                      fullNameOf(job, i), partName(annotation), std::min(dim.before, dim.after)));
  }
}

bool isPeriodic(const Annotation& annotation) {
  return std::any_of(annotation.dims, annotation.dims + annotation.count,
                     [](const DimAnnotation& dim) { return dim.wrapping == PERIODIC; });
}

std::string cellsOf(geometry::Index cells) {
  return fmt::format("{} cell{}", cells, cells == 1 ? "" : "s");
}

/// Ghosts beyond the ends of an array are cells of the array, each of which has one image there.
void checkPeriodic(const ShareJob& job, std::size_t i, const DimAnnotation& dim) {
  const Argument& argument = job.arguments[i];
  const auto refuse = [&](const std::string& reason) {
    throw ArgumentError(fmt::format("{}: {} makes dimension {} PERIODIC{}", fullNameOf(job, i),
                                    partName(argument.annotation()), dim.dim + 1, reason));
  };
  if (argument.view != &argument.view->root().whole())
    refuse(
        fmt::format(", but the argument is the view {} of the array, and what lies beyond its "
                    "ends are other cells; annotate the whole array, or leave PERIODIC out",
                    argument.view->box().toString()));
  const geometry::Index widest = std::max(dim.before, dim.after);
  if (widest == 0)
    refuse(
        ", but gives it no ghosts, which alone make a difference there; give it an overlap, or "
        "leave PERIODIC out");
  const geometry::Index extent = argument.view->extents[dim.dim];
  if (widest > extent)
    refuse(
        fmt::format(" with ghosts of {}, but the array has only {} there; make the ghosts at "
                    "most as wide as the array",
                    cellsOf(widest), cellsOf(extent)));
}

/// Kernels rely on it that a whole array begins where its memory does; beside ghosts beyond its
/// ends it cannot.
void checkAlone(const ShareJob& job, std::size_t i) {
  for (std::size_t j = 0; j < job.arguments.size(); ++j) {
    const Argument& other = job.arguments[j];
    if (other.kind != Argument::Kind::Array ||
        &other.view->root() != &job.arguments[i].view->root() ||
        other.annotation() == job.arguments[i].annotation())
      continue;
    throw ArgumentError(fmt::format(
        "{} is PERIODIC, and stands without that as argument {}, too; give all arguments "
        "that are the array the same annotation, or pass a copy of it",
        fullNameOf(job, i), j + 1));
  }
}

/// The parts of a periodic dimension have their ghosts beyond the ends of the array, too.
void growBeyondEnds(const ShareJob& job, std::size_t i, const DimAnnotation& dim, Cut& cut) {
  const geometry::Index widest = std::max(dim.before, dim.after);
  for (std::size_t d = 0; d < cut.size(); ++d) {
    const Box& core = cut[d].core;
    if (core.empty()) continue;
    if (core.extent(dim.dim) < widest)
      throw ArgumentError(fmt::format(
          "{}: {} makes dimension {} PERIODIC with ghosts of {}, but the part of device {} ({}) "
          "has only {} there; use fewer devices, or narrower ghosts",
          fullNameOf(job, i), partName(job.arguments[i].annotation()), dim.dim + 1, cellsOf(widest),
          d, job.devices[d]->name(), cellsOf(core.extent(dim.dim))));
    cut[d].full =
        cut[d].full.withRange(dim.dim, core.lo(dim.dim) - dim.before, core.hi(dim.dim) + dim.after);
  }
}

std::vector<geometry::DimSplit> splitsOf(const ShareJob& job, std::size_t i) {
  return splitsOf(job.arguments[i].annotation(), job.arguments[i].view->box(),
                  static_cast<int>(job.devices.size()), job.weights);
}

Cut cutOne(const ShareJob& job, std::size_t i) {
  checkAnnotation(job, i);
  const Annotation& annotation = job.arguments[i].annotation();
  const Box& whole = job.arguments[i].view->box();
  Cut cut = geometry::splitBox(whole, splitsOf(job, i));
  if (isPeriodic(annotation)) checkAlone(job, i);
  for (int k = 0; k < annotation.count; ++k) {
    if (annotation.dims[k].wrapping != PERIODIC) continue;
    checkPeriodic(job, i, annotation.dims[k]);
    growBeyondEnds(job, i, annotation.dims[k], cut);
  }
  return cut;
}

coherence::DistributionPtr periodicDistribution(const ShareJob& job, std::size_t i) {
  const Annotation& annotation = job.arguments[i].annotation();
  const Box& whole = job.arguments[i].view->box();
  std::vector<coherence::GridAxis> axes;
  for (geometry::DimSplit& split : splitsOf(job, i))
    axes.push_back({std::move(split), annotation.dims[axes.size()].wrapping == PERIODIC});
  std::vector<coherence::SpaceId> spaces;
  spaces.reserve(job.devices.size());
  for (runtime::DeviceState* device : job.devices)
    spaces.push_back(memory::detail::spaceOf(*device));
  return coherence::Distribution::grid(whole, axes, std::move(spaces));
}

/// Arrays that the kernel walks through with the same index must begin at the same cell of each
/// part.
void checkAlignment(const ShareJob& job, const std::vector<Cut>& cuts) {
  struct First {
    std::size_t argument;
    int dim;
  };
  std::vector<First> first(3, {job.arguments.size(), 0});
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (cuts[i].empty() || access == nullptr) continue;
    const Annotation& annotation = job.arguments[i].annotation();
    for (int k = 0; k < annotation.count; ++k) {
      const int dim = annotation.dims[k].dim;
      const int axis = axisThrough(*access, dim);
      if (axis < 0) continue;
      First& other = first[static_cast<std::size_t>(axis)];
      if (other.argument == job.arguments.size()) {
        other = {i, dim};
        continue;
      }
      const Box& a = job.arguments[other.argument].view->box();
      const Box& b = job.arguments[i].view->box();
      for (std::size_t p = 0; p < cuts[i].size(); ++p) {
        const Box& fullA = cuts[other.argument][p].full;
        const Box& fullB = cuts[i][p].full;
        if (fullA.empty() && fullB.empty()) continue;
        const bool bothThere = !fullA.empty() && !fullB.empty();
        if (bothThere && fullA.lo(other.dim) - a.lo(other.dim) == fullB.lo(dim) - b.lo(dim))
          continue;
        const auto range = [](const Box& box, int d) {
          return box.empty() ? std::string("nothing")
                             : fmt::format("cells {} to {}", box.lo(d), box.hi(d) - 1);
        };
        throw ArgumentError(fmt::format(
            "kernel '{}' reads and writes arguments {} and {} at the same index {}, but on device "
            "{} they are split differently: {} has {} of dimension {}, {} has {} of dimension {}; "
            "give both the same annotation",
            job.version->name, other.argument + 1, i + 1,
            axis == 0   ? "idx"
            : axis == 1 ? "idy"
                        : "idz",
            p, job.arguments[other.argument].view->root().describe(), range(fullA, other.dim),
            other.dim + 1, job.arguments[i].view->root().describe(), range(fullB, dim), dim + 1));
      }
    }
  }
}

}  // namespace

int axisThrough(const ir::ArrayAccess& access, int dim) {
  int axis = -1;
  for (const auto* forms : {&access.reads, &access.writes}) {
    if (forms->empty()) continue;
    const ir::IndexForm& form = (*forms)[static_cast<std::size_t>(dim)];
    if (!form.isAffine() || (axis >= 0 && form.axis != axis)) return -1;
    axis = form.axis;
  }
  return axis;
}

bool ShareJob::anyAnnotated() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& a) { return a.annotation().count > 0; });
}

bool ShareJob::anyPerDevice() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& a) { return a.kind == Argument::Kind::PerDevice; });
}

std::vector<Cut> cutArguments(const ShareJob& job) {
  std::vector<Cut> cuts(job.arguments.size());
  for (std::size_t i = 0; i < job.arguments.size(); ++i)
    if (job.arguments[i].annotation().count > 0) cuts[i] = cutOne(job, i);
  checkAlignment(job, cuts);
  return cuts;
}

std::vector<coherence::DistributionPtr> distributionsOf(const ShareJob& job,
                                                        const std::vector<Cut>& cuts) {
  std::vector<coherence::DistributionPtr> ofArgument(job.arguments.size());
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    if (cuts[i].empty()) continue;
    if (isPeriodic(job.arguments[i].annotation())) {
      ofArgument[i] = periodicDistribution(job, i);
      continue;
    }
    std::vector<coherence::Part> parts;
    for (std::size_t d = 0; d < job.devices.size(); ++d) {
      const geometry::Part& part = cuts[i][d];
      if (part.full.empty()) continue;
      const coherence::SpaceId space = memory::detail::spaceOf(*job.devices[d]);
      parts.push_back({space, part.full, geometry::Region(part.core)});
    }
    ofArgument[i] = coherence::Distribution::blocks(job.arguments[i].view->box(), std::move(parts));
  }
  return ofArgument;
}

}  // namespace hpl::launch
