// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/exchange_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hpl/coherence/images.h"
#include "hpl/geometry/box_index.h"
#include "hpl/geometry/hierarchy.h"

namespace hpl::launch {
namespace {

using geometry::Box;
using geometry::Index;
using geometry::Region;

/// The host spends as long on a transfer as a link needs for this many bytes: 1.6 us at 10 GB/s.
constexpr Index kBytesOfMessage = 16 << 10;
/// Each row of a strided copy costs memory some cache lines beside its own bytes; memory moves a
/// line about eight times as fast as a link.
constexpr Index kBytesOfRun = 16;

/// Contiguous pieces of a box of an array.
Index runsOf(const Box& cells, const Box& array) {
  Index runs = 1;
  bool isContiguous = true;
  for (int d = cells.rank() - 1; d >= 0; --d) {
    if (!isContiguous) runs *= cells.extent(d);
    isContiguous = isContiguous && cells.extent(d) == array.extent(d);
  }
  return runs;
}

std::array<Index, 3> wholeDomain(const Cutting& cutting) {
  std::array<Index, 3> domain{};
  for (const Slice& slice : cutting.slices)
    for (std::size_t a = 0; a < 3; ++a) domain[a] = std::max(domain[a], slice[a].hi);
  return domain;
}

}  // namespace

Index ExchangeCost::inBytes() const {
  const Index slower = bytesBetweenNodes.value_or(0) * (geometry::kNodeLinkSpeed - 1);
  return bytes + slower + messages * kBytesOfMessage + runs * kBytesOfRun;
}

std::string ExchangeCost::describe() const {
  return fmt::format(
      "{} bytes in {} message{}{}", bytes, messages, messages == 1 ? "" : "s",
      bytesBetweenNodes ? fmt::format(" ({} between nodes)", *bytesBetweenNodes) : "");
}

Box ownCells(const Box& view, const AxisDims& dims, const Cutting& cutting, std::size_t device,
             const std::array<Index, 3>& domain) {
  Box own = view;
  for (std::size_t a = 0; a < 3; ++a) {
    const int d = dims.dim[a];
    if (d < 0 || !cutting.cut[a]) continue;
    const geometry::Interval& part = cutting.slices[device][a];
    const Index extent = view.extent(d);
    const bool isFirst = part.lo == 0 && part.length() > 0;
    const bool isLast = part.hi == domain[a] && part.length() > 0;
    const Index lo = isFirst ? 0 : std::clamp<Index>(dims.cellAt(a, part.lo), 0, extent);
    const Index hi = isLast ? extent : std::clamp(dims.cellAt(a, part.hi), lo, extent);
    own = own.withRange(d, view.lo(d) + lo, view.lo(d) + hi);
  }
  return own;
}

/// In a grid of equal blocks only those differ that are of other lengths or near to the ends: one
/// of each kind stands for all.
std::vector<ExchangeModel::Sample> ExchangeModel::samplesOf(const Cutting& cutting) const {
  std::array<Index, 3> reach{};
  bool isUniform = cutting.isGrid();
  for (const ReadArray& array : arrays_) {
    isUniform = isUniform && array.footprint.movesWithSlice();
    for (std::size_t a = 0; a < 3; ++a)
      reach[a] = std::max(reach[a], array.footprint.reachAlong(static_cast<int>(a)));
  }
  const std::array<Index, 3> domain = wholeDomain(cutting);
  std::vector<Sample> samples;
  std::map<std::array<Index, 9>, std::size_t> kinds;
  for (std::size_t device = 0; device < cutting.slices.size(); ++device) {
    const Slice& slice = cutting.slices[device];
    if (isEmpty(slice)) continue;
    std::array<Index, 9> kind{};
    for (std::size_t a = 0; a < 3; ++a) {
      kind[3 * a] = slice[a].length();
      kind[3 * a + 1] = std::min(slice[a].lo, reach[a] + 1);
      kind[3 * a + 2] = std::min(domain[a] - slice[a].hi, reach[a] + 1);
    }
    const auto [place, isNew] = kinds.emplace(kind, samples.size());
    if (isNew || !isUniform) {
      samples.push_back({device, 1});
    } else {
      ++samples[place->second].count;
    }
  }
  return samples;
}

ExchangeCost ExchangeModel::costOf(const Cutting& cutting) const {
  return costOf(cutting, samplesOf(cutting), {});
}

/// Devices with equal blocks have neighbours on different nodes: each of them counts for itself.
ExchangeCost ExchangeModel::costOf(const Cutting& cutting, const std::vector<int>& nodes) const {
  std::vector<Sample> all;
  for (std::size_t device = 0; device < cutting.slices.size(); ++device)
    if (!isEmpty(cutting.slices[device])) all.push_back({device, 1});
  return costOf(cutting, all, nodes);
}

namespace {

/// An array whose cells belong to the devices as a cutting says.
class DividedArray {
 public:
  DividedArray(const ReadArray& array, const Cutting& cutting)
      : array_(array),
        cutting_(cutting),
        domain_{wholeDomain(cutting), cutting.cut},
        owners_(ownBoxes()) {}

  Box ownedBy(std::size_t device) const { return owners_[static_cast<int>(device)]; }

  /// Calls f with each box that the device reads of other devices' cells, and g with each owner of
  /// cells of it and the box where these lie.
  template <class F, class G>
  void forEachGhost(std::size_t device, F&& f, G&& g) const {
    Region ghosts = array_.footprint.of(array_.view, cutting_.slices[device], domain_);
    ghosts.subtract(ownedBy(device));
    for (const Box& box : ghosts) {
      f(box);
      coherence::forEachHome(array_.cells, box, [&](const Box& home, const geometry::Point&) {
        owners_.forEachMeeting(home, [&](int owner) { g(static_cast<std::size_t>(owner), home); });
      });
    }
  }

 private:
  std::vector<Box> ownBoxes() const {
    std::vector<Box> own;
    own.reserve(cutting_.slices.size());
    for (std::size_t d = 0; d < cutting_.slices.size(); ++d)
      own.push_back(ownCells(array_.cells, array_.dims, cutting_, d, domain_.size));
    return own;
  }

  const ReadArray& array_;
  const Cutting& cutting_;
  SlicedDomain domain_;
  geometry::BoxIndex owners_;
};

}  // namespace

ExchangeCost ExchangeModel::costOf(const Cutting& cutting, const std::vector<Sample>& samples,
                                   const std::vector<int>& nodes) const {
  ExchangeCost cost;
  if (!nodes.empty()) cost.bytesBetweenNodes = 0;
  cost.idle =
      static_cast<int>(std::count_if(cutting.slices.begin(), cutting.slices.end(), isEmpty));
  for (const ReadArray& array : arrays_) {
    const DividedArray divided(array, cutting);
    for (const Sample& sample : samples)
      divided.forEachGhost(
          sample.device,
          [&](const Box& box) {
            cost.bytes += sample.count * box.volume() * array.elementBytes;
            cost.runs += sample.count * runsOf(box, array.view);
          },
          [&](std::size_t owner, const Box& home) {
            cost.messages += sample.count;
            if (nodes.empty() || nodes[owner] == nodes[sample.device]) return;
            *cost.bytesBetweenNodes += sample.count * array.elementBytes *
                                       intersect(home, divided.ownedBy(owner)).volume();
          });
  }
  return cost;
}

geometry::SquareMatrix ExchangeModel::bytesBetween(const Cutting& cutting,
                                                   const std::vector<std::size_t>& devices) const {
  geometry::SquareMatrix bytes(static_cast<int>(devices.size()));
  std::map<std::size_t, int> placeOf;
  for (const std::size_t device : devices)
    placeOf.emplace(device, static_cast<int>(placeOf.size()));
  for (const ReadArray& array : arrays_) {
    const DividedArray divided(array, cutting);
    for (const auto& [device, place] : placeOf) {
      if (isEmpty(cutting.slices[device])) continue;
      divided.forEachGhost(
          device, [](const Box&) {},
          [&, to = place](std::size_t owner, const Box& home) {
            const auto from = placeOf.find(owner);
            // A block's own cells across a periodic border take no link.
            if (from == placeOf.end() || from->second == to) return;
            bytes(to, from->second) += static_cast<double>(
                intersect(home, divided.ownedBy(owner)).volume() * array.elementBytes);
          });
    }
  }
  return bytes;
}

}  // namespace hpl::launch
