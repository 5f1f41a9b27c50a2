// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stencil_templates/detail/tile_choice.h"
#include "stencil_templates/stencil.h"

/// How many steps of an iteration go into one launch.
namespace hpl::stencils {

/// Depths are limited: more steps than this make no difference.
constexpr std::int64_t kManySteps = 64;

/// An iteration as the choice sees it.
struct TimeWish {
  /// For messages and HPL_EXPLAIN: "stencil 'heat'".
  std::string name;
  /// The user's choice; depth 0: none.
  TimeTile tile;
  /// Steps that are done without a look at the result.
  std::int64_t steps = 0;
  /// Steps of one launch whose groups look at the result by themselves; 0: there are none.
  std::int64_t lookedSteps = 0;
  /// Whether they are one launch, as the user or HPL_STRATEGY asks; empty: it is to be chosen.
  std::optional<bool> persistent = {};
  /// The user asks, rather than the environment: what is impossible is an error.
  bool insists = false;
  /// Its arrays are of this rank alone.
  bool isRankLocal = false;
};

/// The wish that follows from a plan, in a grid of `dims` dimensions. Throws ArgumentError for
/// tiles of other dimensions.
TimeWish wishOf(const std::string& name, const IterationPlan& plan, int dims, std::int64_t steps);

/// Why the library does not join steps by itself; empty: nothing is against it.
std::string reluctance(const launch::LaunchOptions& options);
/// The model's facts about a recipe on the first of the devices, which do `steps` steps.
TileProblem problemOf(const TimeRecipe& recipe, const Device& device,
                      const std::array<std::int64_t, 3>& extents, std::size_t devices,
                      std::int64_t steps);
/// Says what was chosen under HPL_EXPLAIN.
void explain(const std::string& name, const std::string& choice);
/// Whether what was measured on one of the devices holds for all.
bool areAlike(const std::vector<Device>& devices);
/// The most steps per pass, up to `steps`, for which each of the devices has tiles; 0: not even
/// boxes of one step fit into the local memory of some. `steps` where all are of the first one's
/// kind, for which the model looks itself.
std::int64_t stepsOnAll(const TimeRecipe& recipe, const std::vector<Device>& devices,
                        const std::array<std::int64_t, 3>& extents, std::int64_t steps);

/// Why the functions cannot be computed in tiles with other steps or functions, whatever the tiles,
/// as far as their results are concerned; empty: they can.
std::string impossibility(const TimeRecipe& recipe);
/// Why steps cannot be joined: the same, the devices lack the cells of the other end, or no kernel
/// can be made for them; empty: they can.
std::string whyNotJoined(const TimeRecipe& recipe);

/// Chooses steps per pass and tiles for a recipe, whose own tile is not looked at: those that
/// tuning has found, else those of the model; says so under HPL_EXPLAIN. Depth 1: steps are
/// launched one by one. Throws LaunchError where the user's depth is impossible: functions of the
/// position in periodic grids, views that are periodic across devices, more steps than a periodic
/// dimension that is cut has cells for.
TimeTile chooseTimeTile(const TimeWish& wish, const TimeRecipe& recipe,
                        const launch::LaunchOptions& options,
                        const std::array<std::int64_t, 3>& extents);

class TileRace;
class KeptRace;

/// Tiles that the groups of a persistent kernel keep, and the steps from which on that pays.
struct KeptTile {
  TimeTile tile;
  std::int64_t leastSteps = 0;
  /// Looks whether they go on to pay; null: nothing is tried.
  std::shared_ptr<KeptRace> race = {};
};

/// The choice for iterations of a kind.
struct TimeChoice {
  TimeTile tile;
  /// Looks for something faster; null: nothing is tried.
  std::shared_ptr<TileRace> race;
  /// For iterations of one launch.
  std::optional<KeptTile> kept = {};
};

/// The choices that were made: the model takes a thousand times as long as a launch.
class TimeChoices {
 public:
  /// The choice for iterations of this kind, made by `choose` at the first time.
  TimeChoice find(const TimeWish& wish, const void* program, const launch::LaunchOptions& options,
                  const std::array<std::int64_t, 3>& extents,
                  const std::function<TimeChoice()>& choose);
  void clear();

 private:
  struct Known {
    TimeTile wished;
    std::optional<bool> persistent;
    std::int64_t steps = 0;
    std::int64_t lookedSteps = 0;
    bool isRankLocal = false;
    bool hasEqualBlocks = true;
    Domain blocks;
    const void* program = nullptr;
    std::vector<const runtime::DeviceState*> devices;
    Domain local;
    std::array<std::int64_t, 3> extents{};
    friend bool operator==(const Known&, const Known&) = default;
  };
  std::mutex mutex_;
  std::vector<std::pair<Known, TimeChoice>> known_;
};

/// Whether a launch with these options goes to more than one device.
bool isForSeveralDevices(const launch::LaunchOptions& options);
/// Whether each of its devices takes one band of the slowest dimension, of about the same length.
bool hasEqualBands(const launch::LaunchOptions& options);
/// Whether each of them takes one such band, or one of as many blocks of about the same size.
bool hasEqualBlocks(const launch::LaunchOptions& options);

}  // namespace hpl::stencils
