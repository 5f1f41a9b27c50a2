// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "hpl/geometry/region.h"
#include "hpl/geometry/splits.h"
#include "hpl/launch/detail/footprint.h"
#include "hpl/launch/detail/shared_plan.h"

/// Launches on several devices: how the arguments and the domain are shared out.
namespace hpl::launch {

/// Whether the launch goes to several devices.
bool isShared(const LaunchOptions& options, Arguments arguments);

/// The plan of a launch on several devices. Throws what a launch on one device throws, and
/// ArgumentError, LaunchError for what cannot be shared out.
std::shared_ptr<SharedPlan> makeSharedPlan(KernelEntry& entry, const LaunchOptions& options,
                                           Arguments arguments);

/// The data of a shared launch, handed on by the steps of makeSharedPlan.
struct ShareJob {
  KernelEntry* entry;
  const LaunchOptions& options;
  Arguments arguments;
  std::shared_ptr<const KernelVersion> version;
  std::vector<runtime::DeviceState*> devices;
  /// One per device; empty: equal.
  std::vector<double> weights;

  bool anyAnnotated() const;
  bool anyPerDevice() const;
  /// See ShareOptions::runAtOnce.
  bool runAtOnce() const { return options.shares && options.shares->runAtOnce; }
  /// The arguments say what each device gets of them.
  bool isCut() const { return anyAnnotated() || (anyPerDevice() && !runAtOnce()); }
};

/// The work-item id that runs along an axis of the domain, as kernels spell it.
constexpr const char* axisName(int axis) { return axis == 0 ? "idx" : axis == 1 ? "idy" : "idz"; }

/// One device's share of a launch on annotated arrays.
struct PartLaunch {
  /// One plan, or one for each piece of the part.
  std::vector<DevicePlan*> plans;
  /// [argument]: the size that a.part(d) stands for.
  std::vector<std::size_t> partExtents;
  /// The program's own; dims 0: that of the first array's part.
  Domain global;

  const DevicePlan& plan() const { return *plans.back(); }
};

/// Notes in the plans what the kernel does with parts of arrays. True: some have ghosts.
bool notePartFacts(const ShareJob& job, const std::vector<PartLaunch>& launches);

/// How one array argument is cut: one part per device, empty ones included, in the coordinates of
/// the root. Parts of periodic dimensions reach beyond the root.
using Cut = std::vector<geometry::Part>;

/// The parts of every annotated argument (empty lists for the others). Throws ArgumentError and
/// LaunchError for annotations that make no sense for the array, the devices or the kernel.
std::vector<Cut> cutArguments(const ShareJob& job);
/// The distributions of the annotated arguments; null for the others.
std::vector<coherence::DistributionPtr> distributionsOf(const ShareJob& job,
                                                        const std::vector<Cut>& cuts);

/// The axis whose index, plus constants, is all that indexes a dimension of an array; -1: there is
/// none.
int axisThrough(const ir::ArrayAccess& access, int dim);

/// The domain of each device within a global domain that the program gave for the whole
/// (.global(...)): along the axes that walk through split dimensions as many work-items as its part
/// of the first such array has cells, ghosts included, less the cells by which the domain is
/// smaller than the whole array. Empty: each device has the domain of its own arguments. Throws
/// LaunchError for domains that are neither the shape of the arrays nor provably smaller without
/// loss at the parts' borders.
std::vector<Domain> partDomains(const ShareJob& job, const std::vector<Cut>& cuts);

/// The options of one device's share. `domains`: what partDomains says.
LaunchOptions optionsOf(const ShareJob& job, std::size_t device,
                        const std::vector<Domain>& domains);

/// Automatic distribution: which block of the global domain each device runs.
struct Division {
  Domain global;
  /// One per device; may be empty.
  std::vector<Slice> slices;
  /// The axes that some device has a part of.
  AxisSet cut{};
  /// [device][argument]: the cells that the device touches.
  std::vector<std::vector<TouchedCells>> cells;
};

/// Divides a launch without annotations by what the kernel accesses: as .blocks(...) says, as its
/// arrays were divided before, or so that the least is exchanged. Throws LaunchError that names the
/// access which forbids it. A trial leaves nothing for later launches to follow.
Division divide(const ShareJob& job, bool isTrial = false);

/// ".blocks(2, 2)".
std::string nameOfBlocks(const Domain& blocks);

/// Shares in proportion to speeds, none of them below `least` of the whole where that is possible.
std::vector<double> sharesOf(std::vector<double> speeds, double least);

/// Relative speeds of the devices for this launch, measured at the first call for the kernel, the
/// devices and the shapes of the arguments.
std::vector<double> measuredWeights(const ShareJob& job);

}  // namespace hpl::launch
