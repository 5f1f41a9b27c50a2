// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "hpl/memory/peer_relay.h"
#include "stencil_templates/detail/peer_array.h"
#include "stencil_templates/detail/spinners.h"
#include "stencil_templates/detail/stencil_argument.h"
#include "stencil_templates/detail/time_recipe.h"

namespace hpl::stencils {

struct TimeKernel;

/// Arrays of a stencil's persistent kernels besides the user's: kept, so that iterations that come
/// again find their plans.
class PersistentSpaces {
 public:
  struct Space {
    /// One iteration at a time.
    std::mutex busy;
    std::vector<std::unique_ptr<PeerArray>> between;
    PeerArray flags;
    /// The largest value of the flags.
    int raised = 1;
    /// By dimension, then by device, the number of its first group.
    std::array<std::vector<int>, 3> firstGroups;
    /// The streams to and from other nodes; null: all devices are of one node.
    std::shared_ptr<const memory::PeerStreams> streams;
    /// Kernels (their numbers) and views for which all devices have their kernels, compiled.
    std::set<std::vector<std::uint64_t>> ready;
    /// Where there are looks: old values of output 1, what stands for residuals, and those that the
    /// groups have found.
    std::unique_ptr<PeerArray> old;
    std::unique_ptr<PeerArray> residuals;
    std::unique_ptr<PeerArray> looks;

    Space(const Spinners& on, std::int64_t flagCount) : flags(on, irType<int>(), {flagCount}) {}
  };

  /// `between`: arrays that those between are to be like.
  std::shared_ptr<Space> find(const Spinners& on, const Sizes& deviceGrid, const TimeRecipe& recipe,
                              const std::vector<launch::Argument>& between);
  void clear();

 private:
  using Key =
      std::tuple<std::vector<std::uint64_t>, bool, Sizes, TimeTile, std::vector<std::int64_t>>;

  static std::shared_ptr<Space> made(const Spinners& on, const Sizes& deviceGrid,
                                     const TimeRecipe& recipe,
                                     const std::vector<launch::Argument>& between);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Space>> spaces_;
};

/// The looks of groups at the change of the last step: their interval, and one at the end.
struct PersistentLooks {
  std::int64_t every = 1;
  double bound = 0;
};

/// The outcome of a persistent launch.
enum class Persisted {
  Done,
  /// Other kernels whose groups wait are on the device now, or there is no memory for what groups
  /// exchange; nothing was launched.
  Busy,
  /// A group waited in vain; the inputs are what they were.
  GaveUp
};

/// The arguments of a persistent kernel, without those that it has for itself.
struct PersistentArguments {
  /// The fields, and the new fields of those that are written.
  std::vector<launch::Argument> arrays;
  /// An array for each field that goes from step to step and is written: those like which groups
  /// exchange cells through. All have the shape of the grid.
  std::vector<launch::Argument> between;
  std::vector<launch::Argument> scalars;
};

/// With looks: the steps that were done, the residual of the last look, and whether that of an
/// earlier one was below the bound.
struct PersistentResult {
  Persisted what = Persisted::Done;
  std::int64_t steps = 0;
  double residual = 0;
  bool wasBelow = false;
};

/// Does `steps` steps (with looks: at most) in one launch (on several devices, one on each) and
/// waits for its end: from the fields to the new fields. Looks if the kernel's tile has looks.
PersistentResult persist(const TimeKernel& kernel, PersistentSpaces& spaces,
                         const launch::LaunchOptions& options, const PersistentArguments& arguments,
                         std::int64_t steps, const PersistentLooks& looks = {});

/// How many devices lie along each dimension of a grid: as .blocks(...) says, else in bands.
Sizes deviceGridOf(const launch::LaunchOptions& options, int dims);
/// The cells along a dimension that each of several devices has.
std::vector<std::int64_t> bandsOf(std::int64_t cells, std::int64_t devices);
/// Groups along each dimension of a grid.
Sizes groupsOf(const TimeTile& tile, const Sizes& extents);
std::int64_t groupCount(const TimeTile& tile, const Sizes& extents);

/// The most steps of a launch: so that what is lost when a group gives up is less than a second.
std::int64_t mostSteps(const Sizes& extents);

}  // namespace hpl::stencils
