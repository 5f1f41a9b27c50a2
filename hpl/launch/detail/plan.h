// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpl/codegen/emit.h"
#include "hpl/launch/detail/axes.h"
#include "hpl/launch/detail/dry_launch.h"
#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/launch/detail/probes.h"
#include "hpl/memory/transaction.h"
#include "hpl/runtime/program.h"
#include "hpl/trace/timeline.h"

namespace hpl::launch {

struct Shares;
struct Variant;

/// What tells launches of a kernel on one device apart.
struct LaunchKey {
  const runtime::DeviceState* device;
  FpMode fp;
  const Domain& global;
  const Domain& local;
  const Argument* arguments;
  std::size_t count;
};
class OnlineTuning;

/// Everything that a launch needs and that the next launch with the same arguments can reuse: a
/// kernel object whose arguments are set, domains, and the memory engine's tickets. A repeated
/// launch compares epochs, sets the scalars that changed, and enqueues. Guarded by the coherence
/// lock.
struct Plan {
  Plan();
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

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
  std::vector<geometry::Extents> extents;
  std::vector<geometry::Extents> localExtents;
  std::size_t argumentCount = 0;
  LaunchOptions options;

  std::shared_ptr<const KernelVersion> version;
  runtime::DeviceState* device = nullptr;
  /// Another process has the device: the launch takes place there, and is planned for here.
  bool isElsewhere = false;
  std::shared_ptr<const runtime::Program> program;
  cl::Kernel kernel;
  cl_uint dims = 1;
  std::size_t global[3] = {1, 1, 1};
  std::size_t local[3] = {1, 1, 1};
  /// The launch runs a slice of a larger domain, whose ids begin here.
  bool isSlice = false;
  std::size_t first[3] = {0, 0, 0};
  /// What gridx, gridy and gridz add to the ids.
  std::array<std::int64_t, 3> origin{};
  /// A launch on several devices: one plan for each. Then this plan only has the arguments, which
  /// tell launches apart, and the packed scalars of all devices.
  std::unique_ptr<Shares> shares;

  std::vector<memory::detail::DeviceUse> uses;
  std::vector<memory::detail::Ticket> tickets;
  std::vector<memory::detail::Placement> placements;
  std::vector<std::weak_ptr<memory::Root>> roots;
  std::vector<ArrayArgs> arrays;
  std::vector<ScalarArg> scalars;
  std::size_t scalarBytes = 0;
  /// The scalars as last set on the kernel.
  std::vector<std::byte> scalarValues;
  bool scalarsSet = false;

  /// The launch, and what launches of the plan did before.
  struct Repeats {
    memory::detail::DeviceLaunch launch;
    memory::detail::LaunchRecordsPtr records = memory::detail::makeLaunchRecords();
  };
  std::unique_ptr<Repeats> repeats;
  /// Null: it is no dry run, or the first launch of one.
  std::unique_ptr<DryLaunch> dry;
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
  /// Tuning may lay it out otherwise (see LaidOut::isTunable).
  bool isTunable = false;
  /// Tries variants in launches of this plan; usually null.
  std::unique_ptr<OnlineTuning> tuning;
  /// While it is set, launches are timed, and leave the kernel's event there.
  cl::Event* timedEvent = nullptr;

  /// Launches copy stand-ins, read the error buffer or make a variant, which cannot happen under
  /// the lock.
  bool needsLockReleased() const;
  /// Whether the plan was made for these arguments.
  bool matches(const LaunchOptions& asked, const Argument* arguments, std::size_t count) const;
  /// Whether a launch repeats the last one of this plan, perhaps with other scalars, and nothing
  /// has happened to the arrays since. False also for what takes more than repeat(), and for plans
  /// of which matches() has to tell. To be called under the coherence lock.
  bool isRepeatedBy(const LaunchKey& asked) const noexcept;
  /// The same with the arguments of the last launch, whose arrays exist.
  bool isRepeated() const noexcept;
  /// Enqueues after either of them, under the same lock.
  void repeat(const std::byte* packed);
  /// Converts and packs the scalar arguments; throws ArgumentError for values that do not convert.
  void packScalars(const Argument* arguments, std::byte* packed) const;
  /// Enqueues under the lock that `transaction` holds.
  void enqueue(memory::detail::Transaction& transaction, const std::byte* packed);
  /// The steps of enqueue(), for launches on several devices: sets the arguments that say where the
  /// arrays are, then enqueues the kernel with the packed scalars after `waits`. Nothing to do for
  /// a launch elsewhere.
  void placeArrays();
  /// The event may be left out where nobody asks for it (Transaction::wantsEvent).
  cl::Event submit(const memory::detail::WaitList& waits, const std::byte* packed,
                   bool wantsEvent = true);

 private:
  bool isPlain() const noexcept;
  /// For the profile.
  trace::LaunchCost cost() const;
  void enqueuePrepared(memory::detail::Transaction& transaction, const std::byte* packed,
                       bool checksGhosts);
  cl::Event submitTimed(const memory::detail::WaitList& waits);
};

/// What sets one device's share of a launch apart from a launch of its own.
struct ShareContext {
  /// Of a slice: where its ids begin, and the sizes of the whole domain.
  std::size_t first[3] = {0, 0, 0};
  std::size_t whole[3] = {0, 0, 0};
  /// Of a slice: for each argument, the cells that the device touches, while the kernel counts from
  /// the start of the whole argument. Empty: no slice.
  std::vector<geometry::Region> cells;
  /// For each argument, the annotated distribution whose part the argument is, or null.
  std::vector<coherence::DistributionPtr> distributions;
};

/// The plan of a launch on one device, or of one device's share.
std::shared_ptr<Plan> makePlan(KernelEntry& entry, const LaunchOptions& options,
                               runtime::DeviceState& device, const Argument* arguments,
                               std::size_t count, const ShareContext& share = {});

/// The same for a captured kernel, laid out as `variant` says (null: as the library chooses), with
/// the labels of another plan. Throws LaunchError for variants that do not apply.
std::shared_ptr<Plan> makeVariant(std::shared_ptr<const KernelVersion> version,
                                  const std::vector<std::string>& labels,
                                  const LaunchOptions& options, runtime::DeviceState& device,
                                  const Argument* arguments, std::size_t count,
                                  const ShareContext& share, const Variant* variant);

/// The options with the device and the floating-point mode that hold when none are named; launches
/// on several devices keep their devices.
LaunchOptions resolved(const LaunchOptions& options, bool shared);

/// The domains of a launch, checked against the device.
struct Shape {
  cl_uint dims = 1;
  /// The user's size.
  std::size_t size[3] = {1, 1, 1};
  std::size_t local[3] = {1, 1, 1};
  /// `size` rounded up to multiples of `local`.
  std::size_t global[3] = {1, 1, 1};
  /// Of a slice: where its ids begin, and the sizes of the whole domain.
  std::size_t first[3] = {0, 0, 0};
  std::size_t whole[3] = {0, 0, 0};
  /// Dimensions up to the last one that was rounded; 0 when none was.
  int guardDims = 0;
  /// Work-items that a group may have, where the compiled kernel allows fewer than the device; else
  /// 0.
  std::size_t groupLimit = 0;
  /// All sizes above are those of the kernel's axes, which run along these OpenCL dimensions.
  Axes axes = kNaturalAxes;
};
/// The largest divisor of `size` that is at most `limit`.
std::size_t divisorUpTo(std::size_t size, std::size_t limit);

/// Chooses what the user left open; with `mustDivide` only local sizes that divide the global ones.
/// `axes` are those that the kernel would like (axesFor).
/// Throws LaunchError for sizes of 0 and local sizes that the device cannot hold.
Shape chooseShape(const LaunchOptions& options, const geometry::Extents* firstArray,
                  runtime::DeviceState& device, const std::string& kernelName,
                  bool mustDivide = false, const Axes& axes = kNaturalAxes);

/// Throws LaunchError unless groups of `local` work-items (along the kernel's axes) are what the
/// kernel's statements expect.
void checkGroupDemands(const KernelVersion& version, const std::size_t* local,
                       const Argument* arguments, std::size_t count);

/// Throws ArgumentError unless the arguments fit the kernel's parameters.
void checkArguments(const KernelVersion& version, const Argument* arguments, std::size_t count);
/// Throws ArgumentError unless `count` is what the kernel takes.
void checkCount(const std::string& kernelName, std::size_t parameters, std::size_t count);
/// Writes the scalar `argument` as a value of type `to` to `out`. Throws ArgumentError.
void convertScalar(const Argument& argument, const ir::Type& to, std::byte* out,
                   const std::string& kernelName, std::size_t position);
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
void reportViolation(Plan& plan);

struct PlanAccess {
  static void setPlan(FRunner& runner, const std::shared_ptr<Plan>& plan);
  static Plan& planOf(FRunner& runner);
  static std::byte* scalarsOf(FRunner& runner);
};

}  // namespace hpl::launch
