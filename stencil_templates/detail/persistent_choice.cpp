// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/persistent_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hpl/error.h"
#include "hpl/layout/tuner.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/settings.h"
#include "hpl/strategies/persistent.h"
#include "stencil_templates/detail/kept_race.h"
#include "stencil_templates/detail/persistent_steps.h"
#include "stencil_templates/detail/rim_streams.h"
#include "stencil_templates/detail/spinning.h"

namespace hpl::stencils {
namespace {

/// Steps between exchanges that are looked at.
constexpr int kExchangeDepths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

/// The costs of launching and waiting, in seconds, and cycles per second; for a CPU device,
/// measured on PoCL.
struct WaitCost {
  double cyclesPerSecond = 3e9;
  /// A launch after others, of one step, of a pass of several steps, whose few groups come and go
  /// together; and one that the host waits for.
  double launch = 2e-6;
  double pass = 5e-6;
  double wait = 30e-6;
  /// Devices wait for each other's launches, and for the cells that they exchange.
  double exchange = 15e-6;
  /// A group raises its flag, and its neighbour sees it; cells of rims are copied twice.
  double handshake = 300;
  /// The same through a message to another node.
  double message = 60e3;
  double perRimCell = 0.5;
  /// The cost of rims that lie apart in memory: a few cells of each row.
  double perStrayCell = 4;
  /// Cells of rows that end within a vector are computed one by one: this many of each row.
  double cellsAlone = 7.5;
  double perRow = 14;
  /// Work-items of a group wait for each other.
  double perStep = 0;
};
constexpr WaitCost kCpu;
/// The costs of a GPU, measured on an NVIDIA H200, whose groups of many work-items share rows and
/// rims.
constexpr WaitCost kGpu{.cyclesPerSecond = 2e9,
                        .launch = 7e-6,
                        .pass = 7e-6,
                        .wait = 15e-6,
                        .exchange = 30e-6,
                        .handshake = 3000,
                        .perRimCell = 0.05,
                        .perStrayCell = 0.05,
                        .cellsAlone = 0,
                        .perRow = 0,
                        .perStep = 200};

const WaitCost& waitCostOf(const TileProblem& problem) { return problem.isAlone ? kCpu : kGpu; }

/// The gain from which on persistent kernels are chosen.
constexpr double kWorthwhile = 0.9;

std::int64_t cellsOf(const Sizes& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/// How many groups of a device may lie along each dimension: on CPUs along the slowest one alone,
/// where rims are whole rows.
std::vector<Sizes> groupings(const TileProblem& problem) {
  const auto units = static_cast<std::int64_t>(std::max(1u, problem.units));
  std::vector<Sizes> found;
  const std::size_t dims = dimsOf(problem);
  const bool isAlone = problem.isAlone;
  for (std::int64_t a = 1; a <= std::min(units, problem.extents[0]); ++a)
    for (std::int64_t b = 1;
         b <= (isAlone || dims < 2 ? 1 : std::min(units / a, problem.extents[1])); ++b)
      for (std::int64_t c = 1;
           c <= (isAlone || dims < 3 ? 1 : std::min(units / (a * b), problem.extents[2])); ++c)
        found.push_back({a, b, c});
  return found;
}

strategies::OverlappedOptions optionsFor(const TileProblem& problem, const TimeTile& tile,
                                         const std::array<int, 3>& local) {
  strategies::OverlappedOptions options;
  options.depth = tile.depth;
  options.tile = tile.cells;
  options.local = local;
  options.lanes = problem.isAlone ? problem.lanes : 1;
  options.border = tile.border;
  return options;
}

bool isPeriodic(const strategies::TimeProgram& program, std::size_t d) {
  for (const strategies::TimeStage& stage : program.stages)
    for (const strategies::TimeRead& read : stage.reads)
      if (read.beyond[2 * d] == strategies::Beyond::Periodic) return true;
  return false;
}

/// The reason why the bands of several devices along a dimension cannot be cut into that many tiles
/// each, whose groups exchange with those next to them only; empty: they can.
std::string whyNotBands(const TileProblem& problem, const TimeTile& tile, std::size_t d,
                        std::int64_t groups, std::int64_t devices) {
  const strategies::Growth halo = strategies::haloOf(*problem.program, tile.depth);
  const std::int64_t reach = std::max(halo.before[d], halo.after[d]);
  for (const std::int64_t cells : bandsOf(problem.extents[d], devices)) {
    const std::int64_t last = cells - (groups - 1) * tile.cells[d];
    if (last >= std::max<std::int64_t>(1, reach) && last <= tile.cells[d]) continue;
    return fmt::format(
        "bands of {} {} on {} devices are too thin for {} group{} each: {} step{} reach {} cells",
        cells, d == 0 ? "rows" : "columns", devices, groups, groups == 1 ? "" : "s", tile.depth,
        tile.depth == 1 ? "" : "s", reach);
  }
  return "";
}

/// Cycles of a row of cells, all functions together.
double rowCycles(const TileProblem& problem) {
  return waitCostOf(problem).perRow * static_cast<double>(problem.program->stages.size());
}

double exchangedFields(const TileProblem& problem) {
  const auto& fields = problem.program->fields;
  return static_cast<double>(
      std::count_if(fields.begin(), fields.end(), [](const strategies::TimeField& field) {
        return field.isWritten() && field.lifetime == strategies::Lifetime::Steps;
      }));
}

/// Cycles of a step of a group with a tile of `cells` cells, which may lie between others.
double cyclesOfGroup(const TileProblem& problem, const TimeTile& tile, const Sizes& cells,
                     const Sizes& groups, double handshake) {
  const WaitCost& cost = waitCostOf(problem);
  const strategies::Growth halo = strategies::haloOf(*problem.program, tile.depth);
  const std::size_t dims = dimsOf(problem);
  double computed = 1;
  double rows = 1;
  // Cycles to copy rims, per cell of the tile.
  double rims = 0;
  const bool hasStrayRims = dims > 1 && problem.isAlone && groups[dims - 1] > 1;
  for (std::size_t d = 0; d < dims; ++d) {
    const auto own = static_cast<double>(std::min(cells[d], problem.extents[d]));
    // A group in the middle has neighbours on both sides, one of two on one.
    const double sides = isPeriodic(*problem.program, d) || groups[d] > 2 ? 1
                         : groups[d] == 2                                 ? 0.5
                                                                          : 0;
    const auto reach = sides * static_cast<double>(halo.before[d] + halo.after[d]);
    const double mean = own + reach * (tile.depth - 1) / (2.0 * tile.depth);
    computed *= mean;
    if (d + 1 < dims) rows *= mean;
    rims += reach / own * (hasStrayRims && d + 1 == dims ? cost.perStrayCell : cost.perRimCell);
  }
  const double own = static_cast<double>(cellsOf(cells));
  double cycles = cost.perStep + computed * cyclesOfCell(problem) + rows * rowCycles(problem);
  if (hasStrayRims) cycles += rows * cost.cellsAlone * problem.lanes * cyclesOfCell(problem);
  if (cellsOf(groups) > 1)
    cycles += (handshake + 2 * rims * own * exchangedFields(problem)) / tile.depth;
  return cycles;
}

/// Cycles of a step of the group with most work.
double cyclesPerStep(const TileProblem& problem, const TimeTile& tile, const Sizes& groups,
                     bool hasMessages) {
  const WaitCost& cost = waitCostOf(problem);
  const double far = hasMessages ? cost.message : cost.handshake;
  if (tile.border.cells == 0) return cyclesOfGroup(problem, tile, tile.cells, groups, far);
  const Sizes border{tile.border.cells, tile.cells[1], tile.cells[2]};
  return std::max(cyclesOfGroup(problem, tile, tile.cells, groups, cost.handshake),
                  cyclesOfGroup(problem, tile, border, groups, far));
}

std::string nameOf(const std::vector<Device>& devices) {
  if (devices.size() == 1) return "device " + devices.front().state().name();
  std::string names;
  for (const Device& device : devices) names += (names.empty() ? "" : ", ") + device.state().name();
  return "devices " + names;
}

/// Whatever the tiles.
std::string obstacle(const TimeWish& wish, const TimeRecipe& recipe,
                     const launch::LaunchOptions& options) {
  if (runtime::settings().checkBounds) return "HPL_CHECK=bounds checks every access";
  if (isDryRun()) return "a dry run plans launches";
  const Spinners on(devicesOf(options), wish.isRankLocal && runtime::hasRanks());
  if (!hasEqualBlocks(options))
    return "groups on several devices take equal bands or blocks, one for each, and .weights, "
           ".blocks or a plan says otherwise";
  if (spanNodes(on) && wish.persistent != true)
    return "its devices are on several nodes, where .persistent() has to ask for it";
  if (std::string why = impossibility(recipe); !why.empty()) return why;
  if (recipe.isPeriodic(0) && !recipe.ends().whyNotTiled.empty()) return recipe.ends().whyNotTiled;
  if (std::string why = reluctance(options); !why.empty() && !wish.insists) return why;
  if (hasGivenUp(on)) return "groups have waited for each other in vain on this device before";
  if (recipe.cost().usesProbe) return "its point function has a probe, which shows each step";
  return strategies::whyNotPersistent(recipe.program());
}

std::string describeKept(const TileProblem& problem, const PersistentEstimate& kept) {
  std::string cells;
  for (std::size_t d = 0; d < dimsOf(problem); ++d)
    cells += fmt::format("{}{}", d > 0 ? " x " : "", kept.tile.cells[d]);
  if (const std::int64_t rows = kept.tile.border.cells; rows > 0)
    cells += fmt::format(", of {} rows at the ends of each device", rows);
  return fmt::format(
      "{} group{} keep{} tiles of {}, {} KiB of local memory each, and exchange "
      "rims every {} step{}; about {:.2f} us per step",
      kept.groups, kept.groups == 1 ? "" : "s", kept.groups == 1 ? "s" : "", cells,
      kept.boxBytes / 1024, kept.tile.depth, kept.tile.depth == 1 ? "" : "s",
      1e6 * kept.secondsPerStep);
}

/// These tiles of groups on `ofEach` devices, if they suit the grid; no cells, and why not.
PersistentEstimate keptOf(const TileProblem& problem, const Sizes& ofEach, int depth,
                          const Sizes& deviceGrid, bool hasMessages, std::string& why) {
  PersistentEstimate kept;
  kept.tile = {depth, {1, 1, 1}, TimeForm::Persistent};
  kept.tile.waitsForAll = runtime::settings().groupsWait == runtime::GroupsWait::All;
  Sizes looked = problem.extents;
  std::string tooThin;
  for (std::size_t d = 0; d < dimsOf(problem); ++d) {
    const std::int64_t cells = bandsOf(problem.extents[d], deviceGrid[d]).front();
    kept.tile.cells[d] = (cells + ofEach[d] - 1) / ofEach[d];
    // Fewer of these tiles cover the grid; why not those of others is of more interest.
    if ((cells + kept.tile.cells[d] - 1) / kept.tile.cells[d] != ofEach[d] && deviceGrid[d] == 1)
      return {};
    if (cellsOf(deviceGrid) == 1) continue;
    kept.tile.groups[d] = ofEach[d] * deviceGrid[d];
    if (deviceGrid[d] == 1) continue;
    if (tooThin.empty()) tooThin = whyNotBands(problem, kept.tile, d, ofEach[d], deviceGrid[d]);
    looked[d] = kept.tile.cells[d];
  }
  why = tooThin;
  if (why.empty()) {
    kept.local = estimateOf(problem, kept.tile).local;
    why = strategies::whyNotTiles(*problem.program, optionsFor(problem, kept.tile, kept.local),
                                  looked);
  }
  if (!why.empty()) return {};
  const Sizes groups = groupsOf(kept.tile, problem.extents);
  kept.groups = cellsOf(groups);
  kept.boxBytes = strategies::boxBytes(*problem.program, problem.bytes,
                                       optionsFor(problem, kept.tile, kept.local));
  kept.secondsPerStep =
      cyclesPerStep(problem, kept.tile, groups, hasMessages) / waitCostOf(problem).cyclesPerSecond;
  return kept;
}

/// The same with border groups, which have less to compute than the others; no cells where that
/// gains nothing. The thesis gives border groups as many of all groups as their cells are of all
/// cells; here they have as many cells as they have time for beside their messages.
PersistentEstimate withBorder(const TileProblem& problem, const PersistentEstimate& even,
                              const Sizes& ofEach, const Sizes& deviceGrid) {
  PersistentEstimate best;
  const std::vector<std::int64_t> bands = bandsOf(problem.extents[0], deviceGrid[0]);
  const std::int64_t inner = ofEach[0] - 2;
  const strategies::Growth halo = strategies::haloOf(*problem.program, even.tile.depth);
  const std::int64_t reach = std::max<std::int64_t>({1, halo.before[0], halo.after[0]});
  for (std::int64_t rows = reach; rows < even.tile.cells[0]; rows += reach) {
    PersistentEstimate kept = even;
    kept.tile.border = {rows, ofEach[0]};
    kept.tile.cells[0] = (bands.front() - 2 * rows + inner - 1) / inner;
    kept.local = estimateOf(problem, kept.tile).local;
    const strategies::OverlappedOptions options = optionsFor(problem, kept.tile, kept.local);
    const bool fits = std::all_of(bands.begin(), bands.end(), [&](std::int64_t band) {
      return strategies::whyNotTiles(*problem.program, options,
                                     {band, kept.tile.cells[1], kept.tile.cells[2]})
          .empty();
    });
    if (!fits) continue;
    kept.boxBytes = strategies::boxBytes(*problem.program, problem.bytes, options);
    if (problem.localMemory > 0 && kept.boxBytes > problem.localMemory) continue;
    kept.secondsPerStep =
        cyclesPerStep(problem, kept.tile, groupsOf(kept.tile, problem.extents), true) /
        waitCostOf(problem).cyclesPerSecond;
    if (kept.secondsPerStep <
        std::min(best.tile.cells[0] > 0 ? best.secondsPerStep : 1e9, even.secondsPerStep))
      best = kept;
  }
  return best;
}

}  // namespace

PersistentEstimate bestKept(const TileProblem& problem, const Sizes& deviceGrid, std::int64_t steps,
                            int depth, std::string& why, bool hasMessages) {
  PersistentEstimate best;
  std::size_t smallest = SIZE_MAX;
  for (const Sizes& ofEach : groupings(problem)) {
    for (const int looked : kExchangeDepths) {
      const int between = depth > 0 ? depth : looked;
      if (depth > 0 && looked != kExchangeDepths[0]) break;
      if (between > steps && depth == 0) break;
      PersistentEstimate kept = keptOf(problem, ofEach, between, deviceGrid, hasMessages, why);
      if (kept.tile.cells[0] == 0) continue;
      smallest = std::min(smallest, kept.boxBytes);
      if (problem.localMemory > 0 && kept.boxBytes > problem.localMemory) continue;
      if (hasMessages && deviceGrid[0] > 1 && ofEach[0] > 2)
        if (const auto bordered = withBorder(problem, kept, ofEach, deviceGrid);
            bordered.tile.cells[0] > 0)
          kept = bordered;
      if (best.tile.cells[0] == 0 || kept.secondsPerStep < best.secondsPerStep) best = kept;
    }
  }
  if (best.tile.cells[0] > 0) {
    why.clear();
  } else if (smallest != SIZE_MAX) {
    why = fmt::format("tiles for {} groups need {} KiB of local memory, and the device has {} KiB",
                      std::max(1u, problem.units) * cellsOf(deviceGrid), smallest / 1024,
                      problem.localMemory / 1024);
  }
  return best;
}

namespace {

/// The additional work of one of several devices in passes of `depth` steps: neighbours both
/// compute the cells that their bands need of each other.
double moreOnSeveral(const TileProblem& problem, std::size_t devices, int depth) {
  if (devices < 2) return 1;
  const strategies::Growth halo = strategies::haloOf(*problem.program, depth);
  const double sides = devices == 2 ? 0.5 : 1;
  const auto rows =
      static_cast<double>(bandsOf(problem.extents[0], static_cast<std::int64_t>(devices)).front());
  // The mean of all steps.
  return 1 + sides * static_cast<double>(halo.before[0] + halo.after[0]) / 2 / rows;
}

}  // namespace

double secondsOtherwise(const TileProblem& problem, std::size_t devices, const TimeTile& tile) {
  const WaitCost& cost = waitCostOf(problem);
  const auto cells = static_cast<double>(cellsOf(problem.extents));
  const double perUnit = std::max(1u, problem.units) * devices * cost.cyclesPerSecond;
  const double exchange = devices > 1 ? cost.exchange : 0;
  if (tile.depth > 1) {
    // On several devices only the depth is chosen, and each has the best tiles for its part.
    TileProblem own = problem;
    own.extents[0] = bandsOf(problem.extents[0], static_cast<std::int64_t>(devices)).front();
    const TileEstimate tiles =
        tile.cells[0] > 0 ? estimateOf(own, tile) : bestTile(own, tile.depth, tile.form);
    return (cost.pass + exchange) / tile.depth +
           cells * moreOnSeveral(problem, devices, tile.depth) * tiles.cycles / perUnit;
  }
  const double rows = cells / static_cast<double>(problem.extents[dimsOf(problem) - 1]);
  const double launches = tile.depth == 1 ? 1 : static_cast<double>(problem.program->stages.size());
  return launches * (cost.launch + exchange) +
         (cells * cyclesOfCell(problem) + rows * rowCycles(problem)) / perUnit;
}

namespace {

/// The race for iterations that the library has chosen to do in one launch; null where nothing is
/// to be tried: HPL_TUNE is not quick, the user has chosen, or there are other ranks.
std::shared_ptr<KeptRace> keptRaceFor(const TimeWish& wish, const launch::LaunchOptions& options,
                                      const PersistentEstimate& kept) {
  const bool isChosen = !wish.persistent.has_value() && wish.tile.depth == 0;
  if (!isChosen || !layout::mayDecideByTimes() || wish.steps < kManySteps ||
      runtime::settings().tune != runtime::TuneMode::Quick)
    return nullptr;
  // A simulator's times say nothing.
  if (runtime::quirksOf(devicesOf(options).front().getProperties()).isSimulator) return nullptr;
  return std::make_shared<KeptRace>(wish.name, kept.secondsPerStep);
}

}  // namespace

std::optional<KeptTile> choosePersistent(const TimeWish& wish, const TimeRecipe& recipe,
                                         const launch::LaunchOptions& options,
                                         const std::array<std::int64_t, 3>& extents,
                                         const TimeTile& otherwise, int launches) {
  const Spinners on(devicesOf(options), wish.isRankLocal && runtime::hasRanks());
  const std::vector<Device>& devices = on.devices;
  const std::string form =
      fmt::format("{}{}", launches == 1 ? "one launch" : fmt::format("{} launches", launches),
                  devices.size() > 1 ? " on each device" : "");
  const bool isAsked = wish.persistent == true;
  const std::int64_t steps = std::max(wish.steps, wish.lookedSteps);
  if (wish.persistent == false || steps < 2) return std::nullopt;
  if (!isAsked && wish.tile.depth > 0) return std::nullopt;
  std::string why = obstacle(wish, recipe, options);
  std::string found;
  PersistentEstimate kept;
  if (why.empty()) {
    TileProblem problem = problemOf(recipe, devices.front(), extents, 1, wish.steps);
    problem.units = unitsOfEach(on);
    // As the recipe has it.
    problem.isAlone = problem.isAlone && runtime::settings().strategy != runtime::Strategy::Tile;
    if (!isAsked && !problem.isAlone && devices.front().type() != GPU) return std::nullopt;
    kept = bestKept(problem, deviceGridOf(options, recipe.dims()), steps, wish.tile.depth, why,
                    spanNodes(on));
    kept.tile.looks = wish.lookedSteps > 0;
    std::int64_t least = 2;
    if (why.empty() && !isAsked) {
      const double other = secondsOtherwise(problem, devices.size(), otherwise);
      const double gain = kWorthwhile * other - kept.secondsPerStep;
      const std::string numbers = fmt::format("{}; otherwise a step takes about {:.2f} us",
                                              describeKept(problem, kept), 1e6 * other);
      if (gain > 0) {
        least = std::max(least, static_cast<std::int64_t>(
                                    std::ceil(launches * waitCostOf(problem).wait / gain)));
        found = fmt::format("iterations of {} steps and more are {}: {}", least, form, numbers);
      } else {
        why = numbers;
      }
    }
    if (why.empty())
      why = whyNotSpinning(on, kept.groups / static_cast<std::int64_t>(devices.size()),
                           std::int64_t{kept.local[0]} * kept.local[1] * kept.local[2]);
    if (why.empty()) {
      if (found.empty())
        found = fmt::format("all steps are {}: {}", form, describeKept(problem, kept));
      explain(wish.name, found);
      return KeptTile{kept.tile, least, keptRaceFor(wish, options, kept)};
    }
  }
  if (wish.insists)
    throw LaunchError(
        fmt::format("{}: its steps cannot be one launch on {}: {}; leave out .persistent()",
                    wish.name, nameOf(devices), why));
  explain(wish.name, "its steps are not one launch: " + why);
  return std::nullopt;
}

void reportGivenUp(const std::string& name, const Spinners& on) {
  if (!noteGivenUp(on)) return;
  runtime::log::warn(
      fmt::format("{}: on {}, groups of a persistent kernel waited for each other in vain, "
                  "so its steps were done again as launches of their own; this process has no more "
                  "persistent kernels there (HPL_PATIENCE says how long groups wait)",
                  name, nameOf(on.devices)));
}

}  // namespace hpl::stencils
