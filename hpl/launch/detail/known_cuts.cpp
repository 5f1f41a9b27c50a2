// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/known_cuts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "hpl/launch/detail/exchange_model.h"
#include "hpl/memory/root.h"

namespace hpl::launch {
namespace {

using geometry::Box;
using geometry::Index;

struct KnownCut {
  std::weak_ptr<memory::Root> root;
  CutFor whom;
  Box view;
  std::vector<Box> cells;   // by device
  geometry::Extents parts;  // of the grid, by dimension; rank 0: no grid
};

/// By root; those of dead ones are dropped when there are twice as many as there were.
class KnownCuts {
 public:
  static KnownCuts& get() {
    static auto& instance = *new KnownCuts;
    return instance;
  }

  std::mutex mutex;

  const KnownCut* find(const memory::Root& root) const {
    const auto found = byRoot_.find(&root);
    return found == byRoot_.end() || found->second.root.expired() ? nullptr : &found->second;
  }
  void add(const memory::Root& root, KnownCut&& cut) {
    if (byRoot_.size() >= most_) {
      std::erase_if(byRoot_, [](const auto& entry) { return entry.second.root.expired(); });
      most_ = std::max<std::size_t>(64, 2 * byRoot_.size());
    }
    byRoot_[&root] = std::move(cut);
  }

 private:
  std::map<const memory::Root*, KnownCut> byRoot_;
  std::size_t most_ = 64;
};

/// A place along a dimension as a place along the axis that walks through it.
Index scaled(Index place, Index extent, Index length) {
  if (extent == length) return place;
  return static_cast<Index>(std::llround(static_cast<double>(place) * static_cast<double>(length) /
                                         static_cast<double>(extent)));
}

}  // namespace

std::optional<Cutting> knownCutting(const memory::View& view, const CutFor& whom,
                                    const AxisDims& dims, const AxisSet& mayBeCut,
                                    const std::array<Index, 3>& domain) {
  KnownCuts& known = KnownCuts::get();
  const std::lock_guard lock(known.mutex);
  const KnownCut* cut = known.find(view.root());
  if (cut == nullptr || !(cut->whom == whom) || !(cut->view == view.box())) return std::nullopt;
  Cutting cutting;
  cutting.grid = cut->parts.rank() > 0 ? std::array<int, 3>{1, 1, 1} : std::array<int, 3>{0, 0, 0};
  Slice whole;
  for (std::size_t a = 0; a < 3; ++a) whole[a] = {0, domain[a]};
  cutting.slices.assign(cut->cells.size(), whole);
  for (int d = 0; d < view.rank(); ++d) {
    const auto isWhole = [&](const Box& cells) { return cells.extent(d) == view.extents[d]; };
    if (std::all_of(cut->cells.begin(), cut->cells.end(), isWhole)) continue;
    const auto found = std::find(dims.dim.begin(), dims.dim.end(), d);
    const auto a = static_cast<std::size_t>(found - dims.dim.begin());
    if (found == dims.dim.end() || !mayBeCut[a]) return std::nullopt;
    cutting.cut[a] = true;
    if (cutting.isGrid()) cutting.grid[a] = static_cast<int>(cut->parts[d]);
    for (std::size_t device = 0; device < cut->cells.size(); ++device) {
      const Box& cells = cut->cells[device];
      const Index first = view.box().lo(d), extent = view.extents[d];
      const auto idAt = [&, a](Index place) {
        if (dims.isPlain(a)) return scaled(place, extent, domain[a]);
        // The last one has what lies beyond the domain's cells, too.
        return place == extent ? domain[a] : std::min(dims.idAt(a, place), domain[a]);
      };
      cutting.slices[device][a] = {idAt(cells.lo(d) - first), idAt(cells.hi(d) - first)};
    }
  }
  return cutting;
}

void noteCutting(const memory::View& view, const CutFor& whom, const AxisDims& dims,
                 const Cutting& cutting, const std::array<Index, 3>& domain) {
  KnownCuts& known = KnownCuts::get();
  const std::lock_guard lock(known.mutex);
  if (known.find(view.root()) != nullptr) return;
  KnownCut cut{view.root().weak_from_this(), whom, view.box(), {}, {}};
  if (cutting.isGrid()) cut.parts = geometry::Extents::filled(view.rank(), 1);
  for (std::size_t a = 0; a < 3; ++a) {
    if (!cutting.cut[a]) continue;
    // Devices that would have the same cells divide something else.
    if (dims.dim[a] < 0) return;
    if (cutting.isGrid()) cut.parts[dims.dim[a]] = cutting.grid[a];
  }
  for (std::size_t d = 0; d < cutting.slices.size(); ++d)
    cut.cells.push_back(ownCells(view.box(), dims, cutting, d, domain));
  known.add(view.root(), std::move(cut));
}

}  // namespace hpl::launch
