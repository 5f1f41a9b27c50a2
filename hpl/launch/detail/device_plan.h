// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpl/codegen/emit.h"
#include "hpl/geometry/region.h"
#include "hpl/launch/detail/footprint.h"
#include "hpl/launch/detail/launchable.h"
#include "hpl/launch/detail/probes.h"
#include "hpl/layout/layout.h"
#include "hpl/trace/timeline.h"

namespace hpl::launch {

using layout::Axes;
using layout::Domains;
using layout::kNaturalAxes;
using layout::LaidOut;
using layout::LaunchRequest;
using layout::Shape;
using layout::SliceOfDomain;
using layout::Variant;

class OnlineTuning;

/// Identifies a launch of a kernel on one device.
struct LaunchKey {
  const runtime::DeviceState* device;
  FpMode fp;
  const Domain& global;
  const Domain& local;
  Arguments arguments;
};

/// Distinguishes one device's share of a launch from a launch of its own.
struct ShareContext {
  /// Nothing: no slice.
  std::optional<SliceOfDomain> slice;
  /// For a slice: for each argument, the cells that the device touches, while the kernel counts
  /// from the start of the whole argument.
  std::vector<TouchedCells> cells;
  /// For each argument, the annotated distribution whose part the argument is, or null.
  std::vector<coherence::DistributionPtr> distributions;
};

/// Chooses the queue of a kernel.
enum class Timing : unsigned char {
  None,  ///< the device's compute queue
  Own    ///< one whose events tell how long the kernel takes
};

/// A launch on one device, or one device's share: a kernel object whose arguments are set, domains,
/// and the memory engine's tickets. A repeated launch compares epochs, sets the scalars that
/// changed, and enqueues.
struct DevicePlan final : Launchable {
  /// Binds a laid-out kernel to the arguments of the request. `tuning` (null: none) tries variants
  /// in launches of this plan. Throws DeviceError where the driver refuses an argument.
  DevicePlan(const LaunchRequest& request, LaidOut laidOut, const ShareContext& share,
             std::unique_ptr<OnlineTuning> tuning = nullptr);
  ~DevicePlan() override;

  /// Where the parts of one array argument go.
  struct ArrayArgs {
    int buffer = -1;
    int offset = -1;
    /// (kernel argument, array dimension)
    std::vector<std::pair<int, int>> strides;
    cl_mem lastBuffer = nullptr;
    std::size_t lastOffset = 0;
    geometry::Extents lastStrides;
  };
  struct ScalarArg {
    int argument = -1;
    std::size_t parameter = 0;
    ir::Type type;
    /// Position in the packed scalars.
    std::size_t at = 0;
    std::size_t bytes = 0;
  };
  /// OpenCL C wants dense arrays: a view with gaps goes through a packed stand-in.
  struct StandIn {
    std::weak_ptr<memory::Root> root;
    memory::View* view = nullptr;
    std::shared_ptr<memory::Root> packed;
    bool in = false;
    bool out = false;
  };

  /// The array arguments as the user gave them, with their extents, to tell equal hashes apart.
  std::vector<memory::View*> views;
  /// The same by argument; null for scalars.
  std::vector<memory::View*> given;
  /// Keeps all of them.
  std::vector<memory::ViewHold> held;
  std::vector<geometry::Extents> extents;
  std::vector<geometry::Extents> localExtents;
  /// The domains that the program asked for, and how floating point is treated.
  Domains domains;
  FpMode fp = DEFAULT_FP;

  /// Another process has the device: the launch takes place there, and is planned for here.
  bool isElsewhere = false;
  std::shared_ptr<const runtime::Program> program;
  cl::Kernel kernel;
  cl_uint dims = 1;
  std::size_t global[3] = {1, 1, 1};
  std::size_t local[3] = {1, 1, 1};
  /// Where the ids begin; not 0 for slices of a larger domain.
  std::size_t first[3] = {0, 0, 0};
  /// The offsets that gridx, gridy and gridz add to the ids.
  std::array<std::int64_t, 3> origin{};

  /// One for each array argument, and behind them what the launch reads around what it writes.
  std::vector<memory::detail::DeviceUse> uses;
  std::vector<memory::detail::Ticket> tickets;
  std::vector<memory::detail::Placement> placements;
  std::vector<ArrayArgs> arrays;
  std::vector<ScalarArg> scalars;
  /// The scalars as last set on the kernel.
  std::vector<std::byte> scalarValues;
  bool scalarsSet = false;

  /// The launch, and what launches of the plan did before.
  struct Repeats {
    memory::detail::DeviceLaunch launch;
    memory::detail::LaunchRecordsPtr records = memory::detail::makeLaunchRecords();
  };
  std::unique_ptr<Repeats> repeats;
  /// Some argument may be an explicit part of its array; what the kernel does with it is found out
  /// when HPL_CHECK=ghosts asks for it first.
  bool mayBeParts = false;
  bool hasExplicitFacts = false;

  std::vector<StandIn> standIns;
  /// Null: the kernel has no probe.
  std::unique_ptr<Probes> probes;
  /// With HPL_CHECK=bounds: the emitted kernel (its table of accesses) and the error buffer.
  std::unique_ptr<codegen::EmittedKernel> checked;
  cl::Buffer errors;
  int errorArgument = -1;
  std::vector<std::string> labels;

  /// How the kernel was laid out; a phrase for people.
  std::string choice;
  /// Tuning may lay it out otherwise (see Layout::isTunable).
  bool isTunable = false;
  /// The kernel was launched, and so compiled to the end.
  bool hasRun = false;
  /// Tries variants in launches of this plan; usually null.
  std::unique_ptr<OnlineTuning> tuning;

  bool matches(const LaunchOptions& asked, Arguments arguments) const override;
  void packScalars(Arguments arguments, std::byte* packed) const override;
  bool needsLockReleased() const override;
  void begin() override;
  void enqueue(memory::detail::Transaction& transaction, const std::byte* packed) override;
  void end() override;
  bool repeat(const std::byte* packed) override;
  std::span<DevicePlan* const> plans() override { return {&self_, 1}; }
  DevicePlan* onOneDevice() noexcept override { return this; }

  /// Whether a launch repeats the last one of this plan, perhaps with other scalars, and nothing
  /// has happened to the arrays since. False also for what takes more than enqueueAgain(), and for
  /// plans of which matches() has to tell. To be called under the coherence lock.
  bool isRepeatedBy(const LaunchKey& asked) const noexcept;
  /// Enqueues, under the same lock, a launch that repeats the last one. Returns the kernel's event
  /// if it is wanted.
  cl::Event enqueueAgain(const std::byte* packed, Timing timing = Timing::None);
  /// Does the work of enqueue() for this very kernel, whatever tuning would try. Returns the
  /// kernel's event; null if it is not wanted (Transaction::wantsEvent).
  cl::Event enqueueItself(memory::detail::Transaction& transaction, const std::byte* packed,
                          Timing timing = Timing::None);

  /// The steps of enqueue(), for launches on several devices: sets the arguments that say where the
  /// arrays are, then enqueues the kernel with the packed scalars after `waits`. Nothing to do for
  /// a launch elsewhere.
  void placeArrays();
  cl::Event submit(const memory::detail::WaitList& waits, const std::byte* packed);
  /// Does the work of submit() for this very kernel. May leave out the event where it is not asked
  /// for.
  cl::Event submitItself(const memory::detail::WaitList& waits, const std::byte* packed,
                         bool wantsEvent, Timing timing);

 private:
  bool isPlain() const noexcept;
  /// For the profile.
  trace::LaunchCost cost() const;
  cl::Event enqueuePrepared(memory::detail::Transaction& transaction, const std::byte* packed,
                            bool checksGhosts, Timing timing);
  cl_event enqueueKernel(const memory::detail::WaitList& waits, bool wantsEvent);
  /// The same, watched: drivers compile to the end at a first launch.
  cl_event enqueueFirst(const memory::detail::WaitList& waits, bool wantsEvent);
  cl::Event submitTimed(const memory::detail::WaitList& waits);
  void addUses(const LaunchRequest& request, const Shape& shape, const ShareContext& share);
  void addReadsAround(const LaunchRequest& request, const ShareContext& share);

  DevicePlan* const self_ = this;
};

/// The plan of a launch on one device, or of one device's share.
std::shared_ptr<DevicePlan> makePlan(KernelEntry& entry, const LaunchOptions& options,
                                     runtime::DeviceState& device, Arguments arguments,
                                     const ShareContext& share = {});

/// The same for a request, laid out as `variant` says. Throws LaunchError for variants that do not
/// apply.
std::shared_ptr<DevicePlan> makeVariant(const LaunchRequest& request, const ShareContext& share,
                                        const Variant& variant);

/// The request of a launch with these options on a device.
LaunchRequest requestOf(std::shared_ptr<const KernelVersion> version, const LaunchOptions& options,
                        runtime::DeviceState& device, Arguments arguments,
                        const ShareContext& share = {});

/// The domains that the options name.
inline Domains domainsOf(const LaunchOptions& options) { return {options.global, options.local}; }

/// The options with the device and the floating-point mode that hold when none are named; launches
/// on several devices keep their devices.
LaunchOptions resolved(const LaunchOptions& options, bool shared);

/// How the kernel uses an array argument when it runs over `shape`. `cells`: what it touches of the
/// view; none: everything.
memory::detail::DeviceUse useOf(const Parameter& parameter, memory::View& view, const Shape& shape,
                                const geometry::Region& cells = {});

/// The OpenCL C of a native kernel from a string or a file. Throws KernelError.
std::string loadNativeSource(const std::string& name, const std::string& sourceOrFile);
/// The same OpenCL C as kernels call it.
hpl::detail::NativeBody nativeBody(const std::string& name, const std::string& source,
                                   const std::string& buildOptions);

/// After a launch under HPL_CHECK=bounds: waits and throws BoundsError if an access went wrong.
void reportViolation(DevicePlan& plan);

struct PlanAccess {
  static void setPlan(FRunner& runner, const std::shared_ptr<Launchable>& plan);
  static Launchable& planOf(FRunner& runner);
  static std::byte* scalarsOf(FRunner& runner);
  static void setAround(FRunner& runner, std::shared_ptr<Around> around);
};

}  // namespace hpl::launch
