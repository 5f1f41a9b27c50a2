// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hpl/error.h"
#include "hpl/launch/detail/aliases.h"
#include "hpl/launch/detail/axis_dims.h"
#include "hpl/launch/detail/exchange_model.h"
#include "hpl/launch/detail/known_cuts.h"
#include "hpl/launch/detail/place_blocks.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/layout/outside.h"
#include "hpl/runtime/explain.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

using geometry::Index;
using geometry::Region;

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

bool isOwnIndex(const ir::IndexForm& form, int axis) {
  return form == ir::IndexForm::affine(axis, 0, 0);
}

void checkKernel(const ShareJob& job) {
  if (job.version->native) refuse(job, "it is OpenCL C, whose accesses the library does not know");
  const ir::AccessSummary& summary = job.version->access;
  if (summary.usesLocalIdOrGroup && job.options.local.dims == 0)
    refuse(
        job,
        "it asks for local ids or groups (lidx, gidx, lszx, ngroupsx or reduce), and devices get "
        "whole groups, of a size that .local(...) says");
  if (summary.usesGroupId)
    refuse(job, "a function that it calls asks for groups, which begin anew on every device");
}

/// Whether the launch over the domain can be cut along the axis; else why not.
std::string defectOf(const ShareJob& job, int axis, const DomainSize& domain) {
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access == nullptr || !access->written || access->ownCells ||
        job.arguments[i].kind != Argument::Kind::Array)
      continue;
    const AxisDims dims = dimsWritten(*access, domain);
    if (access->atomics)
      return fmt::format("it updates {} with atomics{}, which do not reach across devices",
                         nameOf(job, i),
                         whereIs(*access, [](const auto& site) { return site.atomic; }));
    if (!dims.has(axis))
      return fmt::format("it writes {} elsewhere than at its own {}{}", nameOf(job, i),
                         axisName(axis), whereIs(*access, [&](const ir::AccessSite& site) {
                           return site.writes && std::none_of(site.index.begin(), site.index.end(),
                                                              [&](const ir::IndexForm& form) {
                                                                return isOwnIndex(form, axis);
                                                              });
                         }));
    if (readsOwnCells(*access, dims, axis)) continue;
    // Values that differ from device to device may choose different colours.
    if (access->readsOtherColours(domain) && !job.anyPerDevice()) continue;
    const auto dim = static_cast<std::size_t>(dims.dim[static_cast<std::size_t>(axis)]);
    if (access->readsOtherLevels(dim)) continue;
    return fmt::format("it reads {}, which it also writes, elsewhere than at its own {}{}",
                       nameOf(job, i), axisName(axis),
                       whereIs(*access, [&](const ir::AccessSite& site) {
                         return site.reads && !(site.index[dim] == access->writes[dim]);
                       }));
  }
  return "";
}

[[noreturn]] void refuse(const ShareJob& job, const Alias& alias) {
  refuse(job, fmt::format("{} is written and also passed as argument {}",
                          nameOf(job, alias.written), alias.other + 1));
}

bool meet(const Region& written, const TouchedCells& other) {
  return written.intersects(other.own) || written.intersects(other.around);
}

/// A device is given boxes of cells: none of them may have cells that another device writes.
void checkAliases(const ShareJob& job, const std::vector<Alias>& aliases,
                  const std::vector<std::vector<TouchedCells>>& cells) {
  for (const Alias& alias : aliases)
    for (std::size_t i = 0; i < cells.size(); ++i)
      for (std::size_t k = 0; k < cells.size(); ++k)
        if (i != k && meet(cells[i][alias.written].own, cells[k][alias.other])) refuse(job, alias);
}

Domain globalDomain(const ShareJob& job) {
  const Shape shape = layout::chooseShape(domainsOf(job.options), layout::firstArray(job.arguments),
                                          *job.devices.front(), job.version->name);
  Domain domain;
  domain.dims = static_cast<int>(shape.dims);
  std::copy(shape.size, shape.size + 3, domain.size);
  return domain;
}

bool hasNoPartExtent(const ShareJob& job) {
  return std::none_of(job.arguments.begin(), job.arguments.end(),
                      [](const Argument& a) { return a.kind == Argument::Kind::PartExtent; });
}

/// A written argument, whose cells are where the devices compute them.
struct Written {
  const memory::View* view;
  const ir::ArrayAccess* access;
  AxisDims dims;
};

std::vector<Written> writtenBy(const ShareJob& job, const DomainSize& domain) {
  std::vector<Written> all;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access != nullptr && access->written && !access->ownCells &&
        job.arguments[i].kind == Argument::Kind::Array)
      all.push_back({job.arguments[i].view, access, dimsWritten(*access, domain)});
  }
  return all;
}

/// By axis, the work-items that have to be on one device: those of a group, if that matters, and
/// those that share a cell.
DomainSize inseparable(const ShareJob& job, const std::vector<Written>& written) {
  const ir::AccessSummary& summary = job.version->access;
  DomainSize ids{1, 1, 1};
  if (summary.usesLocalIdOrGroup || summary.sharesWithinGroups())
    std::copy_n(job.options.local.size, job.options.local.dims, ids.begin());
  for (const Written& array : written)
    for (std::size_t a = 0; a < ids.size(); ++a) ids[a] = std::lcm(ids[a], array.dims.ids[a]);
  return ids;
}

/// Devices begin at multiples of these numbers of ids.
void roundTo(const DomainSize& ids, Cutting& cutting, const DomainSize& domain) {
  for (std::size_t a = 0; a < ids.size(); ++a) {
    if (ids[a] == 1) continue;
    const auto rounded = [&](Index at) {
      return at == domain[a] ? at : std::min((at + ids[a] / 2) / ids[a] * ids[a], domain[a]);
    };
    for (Slice& slice : cutting.slices) slice[a] = {rounded(slice[a].lo), rounded(slice[a].hi)};
  }
}

/// The cells of an argument that there are: it may be a view with images of them beyond the ends of
/// its array.
const memory::View& cellsOf(const memory::View& view) {
  memory::Root& root = view.root();
  return root.whole().box().contains(view.box()) ? view : root.whole();
}

/// The dimensions of a read array in which a device owns what its slice walks through: like a
/// written array of the same shape, with which it may take turns, or as it is indexed.
AxisDims dimsOwned(const ir::ArrayAccess& access, const memory::View& view,
                   const std::vector<Written>& written, const DomainSize& domain) {
  for (const Written& other : written)
    if (other.view->extents == cellsOf(view).extents) return other.dims;
  return dimsRead(access, domain);
}

/// A stencil of radius 1 over a written array, for launches that exchange nothing themselves: it is
/// what others may do with the array.
ReadArray nominalStencil(const Written& written) {
  std::vector<std::vector<ir::IndexForm>> reads;
  for (int axis = 0; axis < 3; ++axis) {
    const int dim = written.dims.dim[static_cast<std::size_t>(axis)];
    if (dim < 0) continue;
    std::vector<ir::IndexForm>& forms = reads.emplace_back(written.access->writes);
    ir::IndexForm& own = forms[static_cast<std::size_t>(dim)];
    const Index one = own.isFlat() ? 1 : written.dims.cells[static_cast<std::size_t>(axis)];
    ir::Interval& offsets =
        own.isFlat() ? own.flat.offsets[static_cast<std::size_t>(own.flat.terms - 1)] : own.range;
    offsets = {offsets.lo - one, offsets.hi + one};
  }
  return {Footprint(std::move(reads)), written.view->box(), written.view->box(),
          static_cast<Index>(written.view->root().elementSize()), written.dims};
}

/// Chooses how the domain of a launch is cut.
class Cutter {
 public:
  Cutter(const ShareJob& job, const Domain& global);

  Cutting choose() const;
  /// Launches to come follow.
  void remember(const Cutting& chosen) const;

 private:
  Cutting asAsked() const;
  std::optional<Cutting> asBefore() const;
  Cutting cheapest() const;
  std::vector<Cutting> candidates() const;
  Surroundings surroundings() const;
  /// The node of each device, where there are several and the devices are in their order; else
  /// empty: a list that the program names in another order is kept.
  std::vector<int> nodes() const;
  /// The library says which device gets which block.
  bool isPlaced() const {
    return !(job_.options.shares && job_.options.shares->areListed) &&
           runtime::settings().placement == runtime::PlaceBlocks::Auto;
  }
  ExchangeModel modelOf(const std::vector<Cutting>& all, bool& exchanges) const;
  [[noreturn]] void refuseAxis(int axis, const std::string& what) const;
  void explain(const Cutting& chosen, const std::string& why) const;

  const ShareJob& job_;
  DomainSize domain_{1, 1, 1};
  AxisSet mayBeCut_{};
  std::array<std::string, 3> defects_;
  std::vector<Written> written_;
  std::vector<ReadArray> reads_;
  std::vector<const memory::View*> readViews_;
  /// By array of reads_.
  std::vector<AxisDims> walked_;
};

Cutter::Cutter(const ShareJob& job, const Domain& global) : job_(job) {
  bool canBeCut = false;
  for (int axis = 0; axis < global.dims; ++axis)
    domain_[static_cast<std::size_t>(axis)] = static_cast<Index>(global.size[axis]);
  written_ = writtenBy(job, domain_);
  for (int axis = global.dims - 1; axis >= 0; --axis) {
    const auto a = static_cast<std::size_t>(axis);
    defects_[a] = defectOf(job, axis, domain_);
    mayBeCut_[a] = defects_[a].empty();
    canBeCut = canBeCut || mayBeCut_[a];
  }
  if (!canBeCut) refuse(job, defects_[static_cast<std::size_t>(global.dims - 1)]);
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access == nullptr || !access->read || access->ownCells ||
        job.arguments[i].kind != Argument::Kind::Array)
      continue;
    const memory::View& view = *job.arguments[i].view;
    const memory::View& cells = cellsOf(view);
    reads_.push_back({Footprint(*access), view.box(), cells.box(),
                      static_cast<Index>(view.root().elementSize()),
                      dimsOwned(*access, view, written_, domain_)});
    readViews_.push_back(&cells);
    walked_.push_back(withStrides(reads_.back().dims, *access));
  }
}

void Cutter::refuseAxis(int axis, const std::string& what) const {
  const std::string& defect = defects_[static_cast<std::size_t>(axis)];
  refuse(job_, fmt::format("{} cuts {}, {}", what, axisName(axis),
                           defect.empty() ? "which the domain does not have" : "and " + defect));
}

/// .blocks(...) of the launch.
Cutting Cutter::asAsked() const {
  const Domain& blocks = job_.options.shares->blocks;
  std::array<int, 3> grid{1, 1, 1};
  for (int axis = 0; axis < blocks.dims; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    grid[a] = static_cast<int>(blocks.size[axis]);
    if (grid[a] > 1 && !mayBeCut_[a]) refuseAxis(axis, nameOfBlocks(blocks));
  }
  return gridCutting(domain_, grid, job_.weights);
}

/// Like the first of the arrays that was cut before.
std::optional<Cutting> Cutter::asBefore() const {
  const CutFor whom{job_.devices, job_.weights};
  for (const Written& written : written_)
    if (auto known = knownCutting(*written.view, whom, written.dims, mayBeCut_, domain_))
      return known;
  for (std::size_t i = 0; i < reads_.size(); ++i)
    if (auto known = knownCutting(*readViews_[i], whom, walked_[i], mayBeCut_, domain_))
      return known;
  return std::nullopt;
}

std::vector<int> Cutter::nodes() const {
  std::vector<int> nodes;
  for (std::size_t i = 0; i < job_.devices.size(); ++i) {
    const runtime::DeviceState& device = *job_.devices[i];
    if (i > 0 && device.index() < job_.devices[i - 1]->index()) return {};
    nodes.push_back(device.node());
  }
  const bool isOne =
      std::all_of(nodes.begin(), nodes.end(), [&](int node) { return node == nodes.front(); });
  return isOne ? std::vector<int>() : nodes;
}

Surroundings Cutter::surroundings() const {
  Surroundings around;
  for (const ReadArray& array : reads_) {
    around.bytes = std::max(around.bytes, array.elementBytes);
    for (std::size_t a = 0; a < 3; ++a) {
      const Index cells = array.footprint.reachAlong(static_cast<int>(a));
      around.reach[a] = {std::min(around.reach[a].lo, -cells), std::max(around.reach[a].hi, cells)};
    }
  }
  return around;
}

std::vector<Cutting> Cutter::candidates() const {
  std::vector<Cutting> all;
  for (const std::array<int, 3>& grid : gridsOf(static_cast<int>(job_.devices.size()), mayBeCut_))
    all.push_back(gridCutting(domain_, grid, job_.weights));
  if (job_.weights.empty()) return all;
  if (auto halved = halvedCutting(domain_, mayBeCut_, surroundings(), job_.weights))
    all.push_back(std::move(*halved));
  return all;
}

/// Models the kernel's reads; where a stencil exchanges nothing of these, its reads around its
/// writes.
ExchangeModel Cutter::modelOf(const std::vector<Cutting>& all, bool& exchanges) const {
  ExchangeModel model(reads_);
  exchanges = std::any_of(all.begin(), all.end(),
                          [&](const Cutting& cutting) { return model.costOf(cutting).bytes > 0; });
  if (exchanges) return model;
  std::vector<ReadArray> nominal;
  nominal.reserve(written_.size());
  for (const Written& written : written_) nominal.push_back(nominalStencil(written));
  return ExchangeModel(std::move(nominal));
}

namespace {

bool isBetter(const ExchangeCost& a, const ExchangeCost& b) {
  return a.idle != b.idle ? a.idle < b.idle : a.inBytes() < b.inBytes();
}

}  // namespace

/// The least exchange; of equal ones the one that is listed first.
Cutting Cutter::cheapest() const {
  std::vector<Cutting> all = candidates();
  bool exchanges = false;
  const ExchangeModel model = modelOf(all, exchanges);
  std::vector<ExchangeCost> costs;
  costs.reserve(all.size());
  for (const Cutting& cutting : all) costs.push_back(model.costOf(cutting));
  auto best = std::min_element(costs.begin(), costs.end(), isBetter) - costs.begin();
  const std::vector<int> nodes = this->nodes();
  if (!nodes.empty()) {
    // From here on it matters which devices are neighbours, which takes a look at each device.
    std::vector<Cutting> few{std::move(all[static_cast<std::size_t>(best)])};
    for (Cutting& cutting :
         nodesFirstCuttings(domain_, mayBeCut_, surroundings(), job_.weights, nodes))
      few.push_back(std::move(cutting));
    all = std::move(few);
    costs.clear();
    costs.reserve(all.size());
    for (const Cutting& cutting : all) costs.push_back(model.costOf(cutting, nodes));
    best = std::min_element(costs.begin(), costs.end(), isBetter) - costs.begin();
  }
  Cutting chosen = all[static_cast<std::size_t>(best)];
  const std::string placed =
      isPlaced() ? placeBlocks(chosen, model, job_.devices, job_.weights) : "";
  if (runtime::settings().explain) {
    std::string why = exchanges ? "" : "exchanges nothing; a stencil of radius 1 would: ";
    why += costs[static_cast<std::size_t>(best)].describe() + " per step";
    constexpr std::size_t kMostListed = 8;
    for (std::size_t i = 0; i < std::min(all.size(), kMostListed); ++i)
      if (static_cast<std::ptrdiff_t>(i) != best)
        why += fmt::format("; {}: {}", all[i].describe(), costs[i].describe());
    if (!nodes.empty() && all.size() == 1)
      why += "; among the nodes first, blocks would be thinner than what is read around them";
    if (all.size() > kMostListed) why += fmt::format("; and {} more", all.size() - kMostListed);
    if (!placed.empty()) why += "; placed: " + placed;
    explain(chosen, why);
  }
  return chosen;
}

void Cutter::explain(const Cutting& chosen, const std::string& why) const {
  runtime::explainOnce(fmt::format("kernel '{}' on {} devices: {}, {}", job_.version->name,
                                   job_.devices.size(), chosen.describe(), why));
}

Cutting Cutter::choose() const {
  Cutting chosen;
  if (job_.options.shares && job_.options.shares->blocks.dims > 0) {
    chosen = asAsked();
    explain(chosen, "as .blocks(...) says");
  } else if (std::optional<Cutting> before = asBefore()) {
    chosen = std::move(*before);
    explain(chosen, "as its arrays were cut before");
  } else {
    chosen = cheapest();
  }
  roundTo(inseparable(job_, written_), chosen, domain_);
  return chosen;
}

void Cutter::remember(const Cutting& chosen) const {
  const CutFor whom{job_.devices, job_.weights};
  for (const Written& written : written_)
    noteCutting(*written.view, whom, written.dims, chosen, domain_);
  for (std::size_t i = 0; i < reads_.size(); ++i)
    noteCutting(*readViews_[i], whom, reads_[i].dims, chosen, domain_);
}

}  // namespace

Division divide(const ShareJob& job, bool isTrial) {
  checkKernel(job);
  if (!hasNoPartExtent(job))
    refuse(job, "a.part(d) is an argument, and without annotations there are no parts");
  Division division;
  division.global = globalDomain(job);
  const std::vector<Alias> aliases = aliasesIn(job, division.global);
  for (const Alias& alias : aliases)
    if (!alias.isApart) refuse(job, alias);
  const Cutter cutter(job, division.global);
  Cutting cutting = cutter.choose();
  Shape whole;
  whole.dims = static_cast<cl_uint>(division.global.dims);
  std::copy(division.global.size, division.global.size + 3, whole.size);
  layout::checkAccesses(*job.version, job.arguments, whole, job.options.global.dims == 0);
  if (!isTrial) cutter.remember(cutting);
  SlicedDomain domain{{}, cutting.cut};
  std::copy_n(division.global.size, 3, domain.size.begin());
  for (const Slice& slice : cutting.slices) {
    std::vector<TouchedCells>& cells = division.cells.emplace_back(job.arguments.size());
    if (isEmpty(slice)) continue;
    for (std::size_t i = 0; i < job.arguments.size(); ++i)
      if (job.arguments[i].kind == Argument::Kind::Array)
        cells[i] = cellsTouched(*job.version->params[i].access, job.arguments[i].view->box(), slice,
                                domain);
  }
  checkAliases(job, aliases, division.cells);
  division.cut = cutting.cut;
  division.slices = std::move(cutting.slices);
  return division;
}

}  // namespace hpl::launch
