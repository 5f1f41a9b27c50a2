// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hpl/error.h"
#include "hpl/geometry/region.h"
#include "hpl/geometry/splits.h"
#include "hpl/launch/detail/footprint.h"
#include "hpl/launch/detail/plan.h"

/// Launches on several devices: how the arguments and the domain are shared out, and what their
/// repetition reuses.
namespace hpl::launch {

/// What the shares of a launch were made for; a repetition must agree in all of it.
struct SharesKey {
  struct Entry {
    Argument::Kind kind = Argument::Kind::Scalar;
    Annotation annotation;
    int partDim = 0;
    /// One view, or one per device.
    std::vector<memory::View*> views;
    std::vector<std::weak_ptr<memory::Root>> roots;
    std::vector<geometry::Extents> extents;
    std::size_t values = 0;
    /// Those that the argument was made for.
    std::vector<runtime::DeviceState*> devices;
  };
  std::vector<Entry> entries;
  ShareOptions options;
  Domain global;
  Domain local;
  FpMode fp = DEFAULT_FP;
  /// HPL_CHECK=bounds.
  bool checked = false;

  static SharesKey of(const LaunchOptions& options, const Argument* arguments, std::size_t count);
  bool matches(const LaunchOptions& options, const Argument* arguments, std::size_t count) const;
};

/// One plan per device that has work to do, or several that it runs one after another, and what
/// they have in common.
struct Shares {
  SharesKey key;
  std::vector<std::shared_ptr<Plan>> plans;
  /// Position of each plan's device in the list of devices.
  std::vector<std::size_t> positions;
  /// Some argument is cut with overlaps.
  bool hasGhosts = false;
  /// Sizes of the parts that a.part(d) stands for: [plan][argument].
  std::vector<std::vector<std::size_t>> partExtents;
  /// Bytes of packed scalars of one plan.
  std::size_t scalarBytes = 0;

  bool needsLockReleased() const;
  /// Packs the scalars of all plans one after another.
  void packScalars(const Argument* arguments, std::byte* packed) const;
  /// Launches on all devices under the lock that `transaction` holds.
  void enqueue(memory::detail::Transaction& transaction, const std::byte* packed);

 private:
  bool isFresh() const;
  void beginLaunches();
  cl::Event submit(std::size_t number, const memory::detail::WaitList& waits,
                   const std::byte* packed);
  void submitAll(memory::detail::Transaction& transaction, const std::byte* packed);
  [[noreturn]] void abandon(memory::detail::Transaction& transaction, const Error& cause);
  void enqueueFresh(memory::detail::Transaction& transaction, const std::byte* packed);
  void enqueuePrepared(memory::detail::Transaction& transaction, const std::byte* packed,
                       bool checksGhosts);

  std::vector<memory::detail::DeviceLaunch> launches_;
  memory::detail::LaunchRecordsPtr records_ = memory::detail::makeLaunchRecords();
};

/// Whether the launch goes to several devices.
bool isShared(const LaunchOptions& options, const Argument* arguments, std::size_t count);

/// The plan of a launch on several devices. Throws what a launch on one device throws, and
/// ArgumentError, LaunchError for what cannot be shared out.
std::shared_ptr<Plan> makeSharedPlan(KernelEntry& entry, const LaunchOptions& options,
                                     const Argument* arguments, std::size_t count);

/// What a shared launch works on, as the steps of makeSharedPlan hand it on.
struct ShareJob {
  KernelEntry& entry;
  const LaunchOptions& options;
  const Argument* arguments;
  std::size_t count;
  std::shared_ptr<const KernelVersion> version;
  std::vector<runtime::DeviceState*> devices;
  /// One per device; empty: equal.
  std::vector<double> weights;

  bool anyAnnotated() const;
  bool anyPerDevice() const;
};

/// The work-item id that runs along an axis of the domain, as kernels spell it.
constexpr const char* axisName(int axis) { return axis == 0 ? "idx" : axis == 1 ? "idy" : "idz"; }

/// One device's share of a launch on annotated arrays.
struct PartLaunch {
  /// One plan, or one for each piece of the part.
  std::vector<Plan*> plans;
  /// [argument]: the size that a.part(d) stands for.
  std::vector<std::size_t> partExtents;
  /// The program's own; dims 0: that of the first array's part.
  Domain global;

  const Plan& plan() const { return *plans.back(); }
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

/// What each device runs of a global domain that the program gave for the whole (.global(...)):
/// along the axes that walk through split dimensions as many work-items as its part of the first
/// such array has cells, ghosts included, less what the domain falls short of the whole array.
/// Empty: each device has the domain of its own arguments. Throws LaunchError for domains that are
/// neither the shape of the arrays nor provably smaller without loss at the parts' borders.
std::vector<Domain> partDomains(const ShareJob& job, const std::vector<Cut>& cuts);

/// The options of one device's share. `domains`: what partDomains says.
LaunchOptions optionsOf(const ShareJob& job, std::size_t device,
                        const std::vector<Domain>& domains);

/// Automatic distribution: which block of the global domain each device runs.
struct Division {
  Domain global;
  /// One per device; may be empty.
  std::vector<Slice> slices;
  /// [device][argument]: the cells that the device touches.
  std::vector<std::vector<geometry::Region>> cells;
};

/// Overlap of exchange and computation: the slices of its part, along `axis`, that a device runs
/// one after another: first what its neighbours wait for, then the interior, during which the
/// exchange can happen. Empty: the whole part at once, because the kernel cannot be cut or because
/// it would not pay (HPL_OVERLAP).
std::vector<geometry::Interval> piecesOf(const ShareJob& job, const std::vector<Cut>& cuts,
                                         std::size_t device, int& axis);

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
