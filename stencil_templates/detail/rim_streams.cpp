// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/rim_streams.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "hpl/geometry/splits.h"
#include "hpl/runtime/device_state.h"
#include "hpl/strategies/persistent.h"

namespace hpl::stencils {
namespace {

struct Range3 {
  Sizes lo{};
  Sizes hi{1, 1, 1};

  bool isEmpty() const { return lo[0] >= hi[0] || lo[1] >= hi[1] || lo[2] >= hi[2]; }
  friend auto operator<=>(const Range3&, const Range3&) = default;
};

Range3 common(const Range3& a, const Range3& b) {
  Range3 both;
  for (std::size_t d = 0; d < 3; ++d) {
    both.lo[d] = std::max(a.lo[d], b.lo[d]);
    both.hi[d] = std::min(a.hi[d], b.hi[d]);
  }
  return both;
}

class Streams {
 public:
  explicit Streams(const RimExchange& exchange)
      : of_(exchange),
        dims_(static_cast<std::size_t>(exchange.recipe.dims())),
        halo_(strategies::haloOf(exchange.recipe.program(), exchange.recipe.tile().depth)) {
    for (std::size_t d = 0; d < 3; ++d) ofEach_[d] = of_.groups[d] / of_.deviceGrid[d];
    for (const Device& device : of_.on.devices) {
      int& leader = leaders_.try_emplace(device.state().node(), device.rank()).first->second;
      leader = std::min(leader, device.rank());
      if (device.isLocal()) own_ = device.rank();
    }
  }

  memory::PeerStreams found() {
    const std::int64_t groups = of_.groups[0] * of_.groups[1] * of_.groups[2];
    for (std::int64_t number = 0; number < groups; ++number)
      for (const auto& [node, leader] : leaders_) addGroup(number, node);
    addGivenUp();
    memory::PeerStreams streams;
    for (auto& [rank, flags] : outgoing_) streams.outgoing.push_back({rank, std::move(flags)});
    for (auto& [rank, flags] : incoming_) streams.incoming.push_back({rank, std::move(flags)});
    return streams;
  }

 private:
  using Flags = std::map<int, std::vector<memory::PeerFlag>>;

  const Device& deviceAt(const Sizes& place) const {
    const std::int64_t number =
        (place[0] * of_.deviceGrid[1] + place[1]) * of_.deviceGrid[2] + place[2];
    return of_.on.devices[static_cast<std::size_t>(number)];
  }
  Sizes placeOf(std::size_t device) const {
    Sizes place{};
    auto left = static_cast<std::int64_t>(device);
    for (std::size_t d = 3; d-- > 0; left /= of_.deviceGrid[d]) place[d] = left % of_.deviceGrid[d];
    return place;
  }
  Range3 partAt(const Sizes& place) const {
    Range3 part;
    for (std::size_t d = 0; d < dims_; ++d) {
      const auto bands = geometry::splitEven(of_.extents[d], static_cast<int>(of_.deviceGrid[d]));
      part.lo[d] = bands[static_cast<std::size_t>(place[d])].lo;
      part.hi[d] = bands[static_cast<std::size_t>(place[d])].hi;
    }
    return part;
  }

  /// The beginning of a group's tile in a part of `cells` cells.
  std::int64_t tileBegin(std::size_t d, std::int64_t group, std::int64_t cells) const {
    const TimeTile& tile = of_.recipe.tile();
    if (d != 0 || tile.border.cells == 0) return std::min(group * tile.cells[d], cells);
    if (group < 1) return 0;
    if (group >= tile.border.groups) return cells;
    return std::min(tile.border.cells + (group - 1) * tile.cells[0], cells - tile.border.cells);
  }
  Range3 tileOf(const Sizes& group) const {
    Sizes place{};
    for (std::size_t d = 0; d < 3; ++d) place[d] = group[d] / ofEach_[d];
    const Range3 part = partAt(place);
    Range3 tile;
    for (std::size_t d = 0; d < dims_; ++d) {
      const std::int64_t own = group[d] % ofEach_[d];
      const std::int64_t cells = part.hi[d] - part.lo[d];
      tile.lo[d] = part.lo[d] + tileBegin(d, own, cells);
      tile.hi[d] = part.lo[d] + tileBegin(d, own + 1, cells);
    }
    return tile;
  }

  bool isPeriodic(std::size_t d) const { return of_.recipe.isPeriodic(static_cast<int>(d)); }

  /// Whether a group is next to one of a device, corners among them.
  bool isNear(const Sizes& group, const Sizes& place) const {
    if (of_.recipe.tile().waitsForAll) return true;
    for (std::size_t d = 0; d < dims_; ++d) {
      const std::int64_t first = place[d] * ofEach_[d];
      const std::int64_t last = first + ofEach_[d] - 1;
      const auto within = [&](std::int64_t at) { return at >= first - 1 && at <= last + 1; };
      if (within(group[d])) continue;
      if (!isPeriodic(d) || !(within(group[d] - of_.groups[d]) || within(group[d] + of_.groups[d])))
        return false;
    }
    return true;
  }

  /// The cells of a tile that a device reads, as its part and its margins say.
  void addRead(const Range3& tile, const Sizes& place, std::set<Range3>& cells) const {
    const Range3 part = partAt(place);
    // By how many grids the margins lie beyond an end.
    Sizes turns{};
    for (std::size_t d = 0; d < dims_; ++d) turns[d] = isPeriodic(d) ? 1 : 0;
    for (std::int64_t i = -turns[0]; i <= turns[0]; ++i)
      for (std::int64_t j = -turns[1]; j <= turns[1]; ++j)
        for (std::int64_t k = -turns[2]; k <= turns[2]; ++k) {
          Range3 read = part;
          const Sizes shift{i, j, k};
          for (std::size_t d = 0; d < dims_; ++d) {
            read.lo[d] += shift[d] * of_.extents[d] - halo_.before[d];
            read.hi[d] += shift[d] * of_.extents[d] + halo_.after[d];
          }
          if (const Range3 own = common(tile, read); !own.isEmpty()) cells.insert(own);
        }
  }

  memory::PeerRows rowsOf(const PeerArray& array, std::size_t bytes, std::int64_t half,
                          const Range3& cells) const {
    Sizes strides{1, 1, 1};
    std::int64_t grid = 1;
    for (std::size_t d = dims_; d-- > 0; grid *= of_.extents[d]) strides[d] = grid;
    std::int64_t first = half * grid;
    for (std::size_t d = 0; d < dims_; ++d) first += cells.lo[d] * strides[d];
    memory::PeerRows rows;
    rows.first = array.shared() + static_cast<std::size_t>(first) * bytes;
    for (std::size_t d = 0; d + 1 < dims_; ++d) {
      rows.counts[d] = static_cast<std::size_t>(cells.hi[d] - cells.lo[d]);
      rows.strides[d] = static_cast<std::size_t>(strides[d]) * bytes;
    }
    rows.rowBytes = static_cast<std::size_t>(cells.hi[dims_ - 1] - cells.lo[dims_ - 1]) * bytes;
    return rows;
  }

  std::byte* flagAt(std::int64_t number) const {
    return of_.flags.shared() +
           static_cast<std::size_t>(number * strategies::kFlagDistance) * sizeof(std::int32_t);
  }

  /// From a rank to the one of a node that stores what arrives.
  void add(int from, int node, const memory::PeerFlag& flag) {
    const int to = leaders_.at(node);
    if (from == own_) outgoing_[to].push_back(flag);
    if (to == own_) incoming_[from].push_back(flag);
  }

  void addGroup(std::int64_t number, int node) {
    const Sizes group{number / of_.groups[2] / of_.groups[1],
                      number / of_.groups[2] % of_.groups[1], number % of_.groups[2]};
    Sizes place{};
    for (std::size_t d = 0; d < 3; ++d) place[d] = group[d] / ofEach_[d];
    const Device& device = deviceAt(place);
    if (device.state().node() == node) return;
    bool isNeighbour = false;
    std::set<Range3> cells;
    const Range3 tile = tileOf(group);
    for (std::size_t other = 0; other < of_.on.size(); ++other) {
      if (of_.on.devices[other].state().node() != node || !isNear(group, placeOf(other))) continue;
      isNeighbour = true;
      addRead(tile, placeOf(other), cells);
    }
    if (isNeighbour) add(device.rank(), node, rimsOf(number, cells));
    if (of_.looks != nullptr) add(device.rank(), node, findingsOf(number));
  }

  memory::PeerFlag rimsOf(std::int64_t number, const std::set<Range3>& cells) const {
    memory::PeerFlag flag{flagAt(number + 1)};
    for (std::int64_t half = 0; half < 2; ++half) {
      auto& rows = flag.turns.emplace_back();
      for (const auto& array : of_.between)
        for (const Range3& own : cells)
          rows.push_back(rowsOf(*array, array->elementBytes(), half, own));
    }
    return flag;
  }

  memory::PeerFlag findingsOf(std::int64_t number) const {
    const std::int64_t groups = of_.groups[0] * of_.groups[1] * of_.groups[2];
    memory::PeerFlag flag{flagAt(number + strategies::lookFlagOf(groups))};
    flag.turn = memory::PeerFlag::Turn::ByRise;
    const std::size_t bytes = of_.looks->elementBytes();
    for (std::int64_t look = 0; look < strategies::kLooksKept; ++look) {
      memory::PeerRows value;
      value.first = of_.looks->shared() +
                    static_cast<std::size_t>(strategies::lookValueAt(look, number, groups)) * bytes;
      value.rowBytes = bytes;
      flag.turns.push_back({value});
    }
    return flag;
  }

  /// That a group has given up, all ranks tell all nodes.
  void addGivenUp() {
    memory::PeerFlag flag{flagAt(0)};
    flag.isLess = true;
    std::set<std::pair<int, int>> ranks;
    for (const Device& device : of_.on.devices) ranks.emplace(device.rank(), device.state().node());
    for (const auto& [rank, home] : ranks)
      for (const auto& [node, leader] : leaders_)
        if (node != home) add(rank, node, flag);
  }

  const RimExchange& of_;
  std::size_t dims_;
  strategies::Growth halo_;
  Sizes ofEach_{};
  /// By node, the rank that stores what arrives.
  std::map<int, int> leaders_;
  int own_ = -1;
  Flags outgoing_;
  Flags incoming_;
};

}  // namespace

bool spanNodes(const Spinners& on) {
  return std::any_of(on.devices.begin(), on.devices.end(), [&](const Device& device) {
    return device.state().node() != on.front().state().node();
  });
}

memory::PeerStreams rimStreamsOf(const RimExchange& exchange) { return Streams(exchange).found(); }

}  // namespace hpl::stencils
