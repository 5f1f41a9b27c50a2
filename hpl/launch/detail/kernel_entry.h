// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/geometry/index_map.h"
#include "hpl/ir/global_ids.h"
#include "hpl/ir/levels.h"
#include "hpl/ir/unfold.h"
#include "hpl/launch/eval.h"
#include "hpl/launch/guard.h"
#include "hpl/launch/native.h"
#include "hpl/layout/kernel_version.h"

namespace hpl::launch {

struct LaunchKey;
struct DevicePlan;
struct Launchable;

/// Drops what was captured of all kernels, which is to be captured anew.
void forgetKernels();

/// For each scalar that a kernel asks for (KernelEntry::sizesAskedFor), the axes (bits) along which
/// the size of the launch's domain is its value; 0 beyond those.
using KnownSizes = std::array<std::uint8_t, 8>;

/// A value for each scalar of KernelEntry::levelsAskedFor, as ir::withLevels takes it; 0 beyond.
using KnownLevels = std::array<std::uint64_t, 4>;

using layout::KernelVersion;
using layout::NativeKernel;
using layout::NativeMode;
using layout::NativeParam;
using layout::Parameter;

/// Everything known of one kernel: how to capture it, what was captured, the plans of its launches.
/// Entries live until the process ends, except those of anonymous kernels.
class KernelEntry {
 public:
  KernelEntry(const KernelSource& source, std::shared_ptr<const void> copy);
  KernelEntry(const KernelEntry&) = delete;
  KernelEntry& operator=(const KernelEntry&) = delete;

  /// The kernel for `device`; captured, verified and analysed at the first call for a kind of
  /// device. `labels` are the names of the arguments, preferred for the parameters.
  std::shared_ptr<const KernelVersion> version(runtime::DeviceState& device,
                                               const std::vector<std::string>& labels);

  /// The kernel for views that are no boxes: `maps` as in Capture::setMaps. `check()` is called
  /// when it is asked for first, and throws where there is none.
  template <class Check>
  KernelEntry& forMaps(const std::vector<const geometry::IndexMap*>& maps, Check&& check) {
    if (KernelEntry* known = findForMaps(maps)) return *known;
    check();
    return addForMaps(maps);
  }

  /// The scalar parameters of which it helps to know that they are the domain's size, where the
  /// kernel has been captured; never more than KnownSizes has room for.
  std::span<const std::size_t> sizesAskedFor() const noexcept;
  /// The kernel for launches of which `sizes` hold.
  KernelEntry& forSizes(const KnownSizes& sizes);

  /// The scalar parameters that choose levels of arrays (ir/levels.h), where the kernel has been
  /// captured; never more than KnownLevels has room for.
  std::span<const ir::LevelScalar> levelsAskedFor() const noexcept;
  /// The number of its parameters; only where levelsAskedFor() names any.
  std::size_t parameterCount() const noexcept { return parameterCount_; }
  /// The kernel for launches with these values of them, or remainders by their periods.
  KernelEntry& forLevels(const KnownLevels& values);

  /// By what a kernel of one dimension divides its ids, where it has been captured (ir/unfold.h);
  /// null: by nothing, or not known yet.
  const ir::RowLength* rowLength() const noexcept {
    const bool isKnown = hasAsked_.load(std::memory_order_acquire) && !isUnfolded_;
    return isKnown && rowLength_ ? &*rowLength_ : nullptr;
  }
  /// The kernel over rows and columns of that length.
  KernelEntry& unfolded();

  /// The kernel for groups of this size, which knows their numbers in the whole domain
  /// (ir/group_numbers.h).
  KernelEntry& forGroups(const ir::GroupSize& size);

  /// The kernel's name in messages, to be called before it is captured.
  void setTitle(const std::string& title) { title_ = title; }
  /// The kernel's name as far as it is known, for messages.
  std::string describe();
  /// Launches of this signature (what they are apart from which arrays they use) have taken place
  /// on all ranks.
  bool isAgreed(std::uint64_t signature);
  void noteAgreed(std::uint64_t signature);
  /// Makes the entry a native kernel.
  void setNative(std::shared_ptr<const NativeKernel> native);
  /// Drops what was captured and planned.
  void forget();

  /// A plan on one device, and its place in the table.
  struct Repeated {
    const std::shared_ptr<Launchable>* owner = nullptr;
    DevicePlan* plan = nullptr;
  };
  /// The plan whose last launch this one repeats (DevicePlan::isRepeatedBy), among those that were
  /// found last; nulls when it has to be found by its hash. To be called under the coherence lock.
  Repeated findRepeated(const LaunchKey& asked) noexcept;
  /// The plan with this hash of its key, or null. To be called under the coherence lock.
  const std::shared_ptr<Launchable>* findPlan(std::uint64_t hash);
  /// These take the coherence lock themselves.
  void addPlan(std::uint64_t hash, std::shared_ptr<Launchable> plan);
  void dropPlans();

 private:
  using PlanTable = std::unordered_map<std::uint64_t, std::shared_ptr<Launchable>>;

  KernelEntry* findForMaps(const std::vector<const geometry::IndexMap*>& maps);
  KernelEntry& addForMaps(const std::vector<const geometry::IndexMap*>& maps);
  KernelEntry& addVariant();
  std::vector<KernelEntry*> variants();
  void ask(const ir::Kernel& written, const KernelVersion& version);
  void takePlans(PlanTable& taken) noexcept;
  std::shared_ptr<const KernelVersion> capture(runtime::DeviceState& device,
                                               const std::vector<std::string>& labels);

  KernelSource source_;
  std::shared_ptr<const void> copy_;
  std::vector<const geometry::IndexMap*> maps_;
  /// The sizes for which this is a variant: by parameter, and as launches ask for it.
  ir::SizesInScalars sizes_;
  KnownSizes knownSizes_{};
  bool isUnfolded_ = false;
  ir::GroupSize groupSize_{};
  /// The levels for which this is a variant.
  std::vector<ir::LevelScalar> levels_;
  KnownLevels knownLevels_{};
  std::string title_;
  std::mutex mutex_;
  std::shared_ptr<const KernelVersion> nativeVersion_;
  /// By kind of device: platform, name and driver.
  std::map<std::string, std::shared_ptr<const KernelVersion>> versions_;
  /// The same kernel for maps, sizes, groups or levels, or unfolded, each a step further than this
  /// one.
  std::vector<std::unique_ptr<KernelEntry>> variants_;
  std::vector<std::size_t> sizesAskedFor_;
  std::vector<ir::LevelScalar> levelsAskedFor_;
  std::size_t parameterCount_ = 0;
  std::optional<ir::RowLength> rowLength_;
  /// These were found, and will not change.
  std::atomic<bool> hasAsked_ = false;
  std::unordered_set<std::uint64_t> agreed_;
  PlanTable plans_;
  /// In plans_; a program alternates between a few launches of a kernel.
  std::array<Repeated, 4> recent_{};
  std::size_t oldest_ = 0;
};

}  // namespace hpl::launch
