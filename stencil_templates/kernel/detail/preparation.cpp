// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/kernel/detail/preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hpl/array/annotation_splits.h"
#include "hpl/error.h"
#include "hpl/geometry/splits.h"
#include "stencil_templates/kernel/detail/helper_layout.h"
#include "stencil_templates/kernel/detail/prepared_parts.h"

namespace hpl::kernel_stencils {
namespace {

using geometry::Box;

const char* plural(std::int64_t n) { return n == 1 ? "" : "s"; }

Reach reachOf(const Preparation& p) {
  Reach reach;
  for (const PreparedInput& input : p.inputs) reach = unionOf(reach, input.reach);
  return reach;
}

Box boxOf(const Preparation& p) {
  return Box::ofExtents(p.inputs.front().array->hostView().extents);
}

void checkNumbers(const Preparation& p) {
  if (p.perThread != kChosenByLibrary && p.perThread < 1)
    throw ArgumentError(fmt::format("{}: {} elements per work-item; each computes at least one",
                                    p.name, p.perThread));
  if (p.local.dims != 0 && p.local.dims != p.rank)
    throw ArgumentError(
        fmt::format("{}: the local domain has {} dimension{} and the array {}; give them the same "
                    "number, or Domain() to leave it to the library",
                    p.name, p.local.dims, plural(p.local.dims), p.rank));
  for (int a = 0; a < p.local.dims; ++a)
    if (p.local.size[a] == 0)
      throw ArgumentError(
          fmt::format("{}: the local domain is empty in dimension {}; every size must be at least "
                      "1, or give Domain() to leave it to the library",
                      p.name, a + 1));
}

void checkShapes(const Preparation& p) {
  const Box box = boxOf(p);
  for (const PreparedInput& input : p.inputs)
    if (!(Box::ofExtents(input.array->hostView().extents) == box))
      throw ArgumentError(fmt::format(
          "{}: the inputs have different shapes; give all arrays of a stencil the same", p.name));
  const Reach reach = reachOf(p);
  for (int d = 0; d < p.rank; ++d) {
    const int most = std::max(reach.before[d], reach.after[d]);
    if (most > box.extent(d))
      throw ArgumentError(fmt::format(
          "{}: the stencil reaches {} element{} along dimension {}, of which the array has {}; use "
          "smaller extents or a larger array",
          p.name, most, plural(most), d + 1, box.extent(d)));
  }
}

void checkAnnotation(const Preparation& p) {
  for (int k = 0; k < p.annotation.count; ++k) {
    const launch::DimAnnotation& dim = p.annotation.dims[k];
    if (dim.dim < 0 || dim.dim >= p.rank)
      throw ArgumentError(fmt::format(
          "{}: dimension {} is to be split, but the array has {} dimension{}; dimensions count "
          "from 1, as in PART1",
          p.name, dim.dim + 1, p.rank, plural(p.rank)));
    if (dim.before < 0 || dim.after < 0)
      throw ArgumentError(fmt::format("{}: {} ghost cells; widths count from 0", p.name,
                                      std::min(dim.before, dim.after)));
  }
}

/// One dimension that is cut into several parts.
void checkCut(const Preparation& p, const launch::DimAnnotation& dim,
              const std::vector<geometry::Part>& parts) {
  const Reach reach = reachOf(p);
  const int before = reach.before[dim.dim], after = reach.after[dim.dim];
  for (const PreparedInput& input : p.inputs)
    if (input.isPeriodic && input.reach.before[dim.dim] + input.reach.after[dim.dim] > 0)
      throw ArgumentError(fmt::format(
          "{}: dimension {} of a periodic stencil is split over {} devices, and the first part "
          "does not have the last elements, which are its neighbours; split another dimension, use "
          "one device, or the launch-level Stencil, which exchanges them",
          p.name, dim.dim + 1, p.devices.size()));
  if (dim.before < before || dim.after < after)
    throw ArgumentError(fmt::format(
        "{}: the stencil reaches {} element{} back and {} ahead along dimension {}, but the parts "
        "have only {} and {} ghost cells; give PART{}(array, {})",
        p.name, before, plural(before), after, dim.dim + 1, dim.before, dim.after, dim.dim + 1,
        std::max(before, after)));
  const int most = std::max(before, after);
  for (std::size_t device = 0; device < parts.size(); ++device) {
    const Box& core = parts[device].core;
    if (core.empty() || core.extent(dim.dim) >= most) continue;
    throw ArgumentError(fmt::format(
        "{}: the stencil reaches {} elements along dimension {}, but the part of device {} ({}) "
        "has {}; use fewer devices or smaller extents",
        p.name, most, dim.dim + 1, device, p.devices[device].name(), core.extent(dim.dim)));
  }
}

void checkParts(const Preparation& p, const std::vector<geometry::Part>& parts) {
  for (int k = 0; k < p.annotation.count; ++k) {
    const launch::DimAnnotation& dim = p.annotation.dims[k];
    const auto isCut = [&](const geometry::Part& part) {
      return !part.core.empty() && part.core.extent(dim.dim) < boxOf(p).extent(dim.dim);
    };
    if (std::any_of(parts.begin(), parts.end(), isCut)) checkCut(p, dim, parts);
  }
}

/// 32-bit integers count the elements of a part in kernels with tiles.
void checkLength(const Preparation& p, const Box& part) {
  for (int d = 0; d < p.rank; ++d)
    if (part.extent(d) > std::numeric_limits<int>::max() / 2)
      throw ArgumentError(fmt::format(
          "{}: {} elements along dimension {} are more than the tile form can count; use "
          "StencilForm::Direct or more devices",
          p.name, part.extent(d), d + 1));
}

Domain ownDomain(const Box& part, int rank) {
  Domain domain;
  domain.dims = rank;
  for (int a = 0; a < 3; ++a)
    domain.size[a] = a < rank ? static_cast<std::size_t>(part.extent(rank - 1 - a)) : 1;
  return domain;
}

/// As many groups as the part needs.
Domain tiledDomain(const Box& part, const TileShape& tile, int rank) {
  Domain domain = ownDomain(part, rank);
  for (int a = 0; a < rank; ++a) {
    const std::size_t block =
        tile.local.size[a] * (a == 0 ? static_cast<std::size_t>(tile.perThread) : 1);
    domain.size[a] = (domain.size[a] + block - 1) / block * tile.local.size[a];
  }
  return domain;
}

Array<int, 1> helperFor(const Preparation& p, const Box& part, const TileShape& tile,
                        bool isTiled) {
  Array<int, 1> helper(static_cast<int>(kHelperWords));
  helper.label("helper_of_" + p.name);
  int* words = helper.data(HPL_WR);
  std::fill(words, words + kHelperWords, 0);
  words[kSignature] = signatureOf(p.rank, reachOf(p), isTiled);
  const Box whole = boxOf(p);
  for (int d = 0; d < p.rank; ++d) {
    words[kExtent + d] =
        static_cast<int>(std::min<std::int64_t>(part.extent(d), std::numeric_limits<int>::max()));
    words[kBeforeIsBorder + d] = part.lo(d) == whole.lo(d) ? 1 : 0;
    words[kAfterIsBorder + d] = part.hi(d) == whole.hi(d) ? 1 : 0;
  }
  words[kPerThread] = tile.perThread;
  words[kTileRow] = static_cast<int>(tile.extents[p.rank - 1]);
  words[kTilePlane] =
      p.rank == 3 ? static_cast<int>(tile.extents[1] * tile.extents[2]) : words[kTileRow];
  rememberPart(helper, {p.name, part, whole});
  return helper;
}

}  // namespace

Prepared prepare(const Preparation& p) {
  checkNumbers(p);
  checkAnnotation(p);
  checkShapes(p);
  const Box whole = boxOf(p);
  const std::vector<geometry::Part> parts = geometry::splitBox(
      whole, launch::splitsOf(p.annotation, whole, static_cast<int>(p.devices.size())));
  checkParts(p, parts);
  std::vector<Device> tiled;
  for (const Device& device : p.devices)
    if (usesTile(p.form, device)) tiled.push_back(device);
  TileShape tile;
  Prepared result;
  if (!tiled.empty()) {
    tile = chooseTile(p, tiled);
    std::copy(tile.extents, tile.extents + 3, result.tile);
  }
  for (std::size_t i = 0; i < p.devices.size(); ++i) {
    const bool isTiled = usesTile(p.form, p.devices[i]);
    // Devices without work get an element that is not used.
    Box part = parts[i].full;
    if (part.empty()) part = Box::ofExtents(geometry::Extents::filled(p.rank, 1));
    if (isTiled) checkLength(p, part);
    result.helper.push_back(helperFor(p, part, tile, isTiled));
    // The shape of the part, which is what a launch chooses by itself.
    if (tiled.empty()) continue;
    result.global.push_back(isTiled ? tiledDomain(part, tile, p.rank) : ownDomain(part, p.rank));
    result.local.push_back(isTiled ? tile.local : Domain());
  }
  return result;
}

std::vector<Device> firstDevices(const std::string& name, int n) {
  if (n < 1) throw ArgumentError(fmt::format("{}: {} devices; ask for at least one", name, n));
  const DeviceType type = defaultDevice().type();
  std::vector<Device> list = devices(type);
  const auto there = static_cast<int>(list.size());
  if (n > there)
    throw DeviceError(fmt::format(
        "{}: {} devices are asked for, and there {} {} of type {}; HPL_DEVICES=\"cpu:0*{}\" opens "
        "one device several times",
        name, n, there == 1 ? "is" : "are", there, deviceTypeName(type), n));
  list.erase(list.begin() + n, list.end());
  return list;
}

launch::Annotation annotationOf(const std::string& name, int rank, int dim, const Reach& reach) {
  if (dim < 1 || dim > rank)
    throw ArgumentError(fmt::format(
        "{}: dimension {} is to be split, but the array has {} dimension{}; dimensions count from "
        "1, as in PART1",
        name, dim, rank, plural(rank)));
  const int width = std::max(reach.before[dim - 1], reach.after[dim - 1]);
  return {{{dim - 1, width, width}}, 1, MANUAL_SYNC};
}

}  // namespace hpl::kernel_stencils
