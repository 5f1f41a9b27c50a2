// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hpl/error.h"
#include "stencil_templates/kernel/detail/preparation.h"

namespace hpl::kernel_stencils {
namespace {

/// Local memory of GPUs: 32 banks of 4 bytes, for 32 work-items that run together.
constexpr std::int64_t kTogether = 32;
constexpr std::int64_t kBankBytes = 128;

/// Limits of the devices.
struct Limits {
  std::size_t localMemory = std::numeric_limits<std::size_t>::max();
  std::size_t groupSize = std::numeric_limits<std::size_t>::max();
  std::size_t itemSizes[3];
  std::string device;

  explicit Limits(const std::vector<Device>& devices) {
    std::fill(itemSizes, itemSizes + 3, groupSize);
    for (const Device& each : devices) {
      const DeviceProperties properties = each.getProperties();
      const auto lower = [](std::size_t& limit, std::size_t value) {
        if (value > 0) limit = std::min(limit, value);
      };
      if (properties.localMemory > 0 && properties.localMemory < localMemory)
        device = properties.name;
      lower(localMemory, properties.localMemory);
      lower(groupSize, properties.maxWorkGroupSize);
      for (std::size_t a = 0; a < 3; ++a) lower(itemSizes[a], properties.maxWorkItemSizes[a]);
    }
  }

  bool holdGroup(const Domain& local) const {
    for (std::size_t a = 0; a < 3; ++a)
      if (local.size[a] > itemSizes[a]) return false;
    return local.size[0] * local.size[1] * local.size[2] <= groupSize;
  }
};

/// Whether work-items of several rows that run together use different banks.
bool isFreeOfConflicts(std::int64_t row, std::int64_t width, std::int64_t rows,
                       std::int64_t elementSize) {
  bool used[kBankBytes] = {};
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t byte = 0; byte < width; ++byte) {
      bool& mark = used[(r * row * elementSize + byte) % kBankBytes];
      if (mark) return false;
      mark = true;
    }
  }
  return true;
}

/// The length of a row in elements, so that rows that are read together lie in different banks.
/// It matters where groups are narrower than what runs together; a row that would grow by more
/// than half costs more than conflicts do.
std::int64_t paddedRow(std::int64_t row, const Domain& local, std::int64_t elementSize) {
  const auto width = static_cast<std::int64_t>(local.size[0]);
  const auto height = static_cast<std::int64_t>(local.size[1]);
  if (width >= kTogether || local.dims < 2) return row;
  const std::int64_t bytes = width * elementSize;
  const std::int64_t rows = std::min({kTogether / width, height, kBankBytes / bytes});
  for (std::int64_t padded = row; padded <= row + row / 2; ++padded)
    if (isFreeOfConflicts(padded, bytes, rows, elementSize)) return padded;
  return row;
}

TileShape shapeOf(const Preparation& p, const Domain& local, int perThread) {
  TileShape shape;
  shape.local = local;
  shape.perThread = perThread;
  std::size_t largest = 1;
  Reach reach;
  for (const PreparedInput& input : p.inputs) {
    reach = unionOf(reach, input.reach);
    largest = std::max(largest, input.elementSize);
  }
  for (int d = 0; d < p.rank; ++d) {
    const int axis = p.rank - 1 - d;
    shape.extents[d] = static_cast<std::int64_t>(local.size[axis]) * (axis == 0 ? perThread : 1) +
                       reach.before[d] + reach.after[d];
  }
  shape.extents[p.rank - 1] =
      paddedRow(shape.extents[p.rank - 1], local, static_cast<std::int64_t>(largest));
  return shape;
}

std::string toText(const Domain& domain) {
  std::string text = "(";
  for (int a = 0; a < domain.dims; ++a)
    text += (a > 0 ? ", " : "") + std::to_string(domain.size[a]);
  return text + ")";
}

/// Halves the longest side, the last of equals: rows stay long. False: all are 1.
bool halve(Domain& local) {
  int longest = 0;
  for (int a = 1; a < local.dims; ++a)
    if (local.size[a] >= local.size[longest]) longest = a;
  if (local.size[longest] <= 1) return false;
  local.size[longest] /= 2;
  return true;
}

std::string wayOut(const Preparation& p, const Limits& limits, Domain local, int perThread) {
  while (halve(local))
    if (shapeOf(p, local, perThread).bytes(p) <= limits.localMemory)
      return fmt::format("local domain {} would fit", toText(local));
  return perThread > 1 ? "no local domain fits; let each work-item compute fewer elements"
                       : "no local domain fits; use StencilForm::Direct";
}

TileShape chosenByUser(const Preparation& p, const Limits& limits, int perThread) {
  if (!limits.holdGroup(p.local))
    throw LaunchError(fmt::format(
        "{}: local domain {} has more work-items than a group of device {} holds ({}); choose a "
        "smaller one, or leave it to the library",
        p.name, toText(p.local), limits.device, limits.groupSize));
  const TileShape shape = shapeOf(p, p.local, perThread);
  if (shape.bytes(p) > limits.localMemory)
    throw LaunchError(fmt::format(
        "{}: the tile{} for local domain {} and {} element{} per work-item take{} {} bytes of "
        "local memory, and device {} has {}; {}",
        p.name, p.inputs.size() > 1 ? "s" : "", toText(p.local), perThread,
        perThread == 1 ? "" : "s", p.inputs.size() > 1 ? "" : "s", shape.bytes(p), limits.device,
        limits.localMemory, wayOut(p, limits, p.local, perThread)));
  return shape;
}

TileShape chosenByLibrary(const Preparation& p, const Limits& limits) {
  // Whole warps along x; a few hundred work-items.
  static const Domain kWanted[3] = {Domain(256), Domain(32, 8), Domain(32, 4, 2)};
  Domain local = kWanted[p.rank - 1];
  int perThread = p.perThread == kChosenByLibrary ? (p.rank == 3 ? 2 : 4) : p.perThread;
  for (;;) {
    const TileShape shape = shapeOf(p, local, perThread);
    if (limits.holdGroup(local) && shape.bytes(p) <= limits.localMemory) return shape;
    if (p.perThread == kChosenByLibrary && perThread > 1) {
      perThread /= 2;
    } else if (!halve(local)) {
      throw LaunchError(fmt::format(
          "{}: even for one work-item the neighbourhood takes {} bytes of local memory, and device "
          "{} has {}; use StencilForm::Direct",
          p.name, shape.bytes(p), limits.device, limits.localMemory));
    }
  }
}

}  // namespace

std::size_t TileShape::bytes(const Preparation& preparation) const {
  std::size_t elementSizes = 0;
  for (const PreparedInput& input : preparation.inputs) elementSizes += input.elementSize;
  std::size_t elements = 1;
  for (const std::int64_t extent : extents) elements *= static_cast<std::size_t>(extent);
  return elements * elementSizes;
}

TileShape chooseTile(const Preparation& preparation, const std::vector<Device>& devices) {
  const Limits limits(devices);
  if (preparation.local.dims == 0) return chosenByLibrary(preparation, limits);
  const int perThread = preparation.perThread == kChosenByLibrary ? 1 : preparation.perThread;
  return chosenByUser(preparation, limits, perThread);
}

}  // namespace hpl::kernel_stencils
