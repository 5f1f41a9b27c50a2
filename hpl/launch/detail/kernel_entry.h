// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/axes.h"
#include "hpl/ir/kernel.h"
#include "hpl/launch/eval.h"
#include "hpl/launch/guard.h"
#include "hpl/launch/native.h"

namespace hpl::launch {

struct LaunchKey;
struct Plan;
class RewrittenKernels;

/// Drops what was captured of all kernels, which is to be captured anew.
void forgetKernels();

/// A kernel parameter as launches need to know it, whatever the kernel is written in.
struct Parameter {
  /// 0: a scalar.
  int rank = 0;
  ir::Type type;
  ir::Space space = ir::Space::Private;
  bool readOnly = false;
  /// What the access analysis found; null for scalars, local arrays and native kernels.
  const ir::ArrayAccess* access = nullptr;
  NativeMode mode = NativeMode::InOut;
  /// OpenCL C gets a pointer to the elements, which are promised to be dense.
  bool isDense = false;

  bool isScalar() const { return rank == 0; }
  bool isLocal() const { return rank > 0 && space == ir::Space::Local; }
  bool isBuffer() const { return rank > 0 && space != ir::Space::Local; }
};

struct NativeKernel {
  std::string name;
  std::string source;
  std::string options;
  std::vector<NativeParam> params;
};

/// A kernel as captured for one kind of device, or a native one.
struct KernelVersion {
  std::string name;
  std::vector<Parameter> params;
  /// Null for native kernels.
  std::shared_ptr<const ir::Kernel> kernel;
  ir::AccessSummary access;
  /// Natural for native kernels.
  ir::AxisOrder axes;
  /// What strategies made of the kernel; null for native kernels.
  std::shared_ptr<RewrittenKernels> rewritten;
  /// What rewrites the kernel instead of the library's strategies; null for most kernels.
  const KernelRewriter* rewriter = nullptr;
  /// What its makers want to see of its launches.
  std::vector<std::shared_ptr<const LaunchGuard>> guards;
  /// Null for captured kernels.
  std::shared_ptr<const NativeKernel> native;
};

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

  /// The plan whose last launch this one repeats (Plan::isRepeatedBy), among those that were found
  /// last; null when it has to be found by its hash. To be called under the coherence lock.
  std::shared_ptr<Plan>* findRepeated(const LaunchKey& asked) noexcept;
  /// The plan with this hash of its key, or null. To be called under the coherence lock.
  std::shared_ptr<Plan>* findPlan(std::uint64_t hash);
  /// These take the coherence lock themselves.
  void addPlan(std::uint64_t hash, std::shared_ptr<Plan> plan);
  void dropPlans();

 private:
  using PlanTable = std::unordered_map<std::uint64_t, std::shared_ptr<Plan>>;

  void takePlans(PlanTable& taken) noexcept;
  std::shared_ptr<const KernelVersion> capture(runtime::DeviceState& device,
                                               const std::vector<std::string>& labels) const;

  KernelSource source_;
  std::shared_ptr<const void> copy_;
  std::string title_;
  std::mutex mutex_;
  std::shared_ptr<const KernelVersion> nativeVersion_;
  /// By kind of device: platform, name and driver.
  std::map<std::string, std::shared_ptr<const KernelVersion>> versions_;
  std::unordered_set<std::uint64_t> agreed_;
  PlanTable plans_;
  /// In plans_; a program alternates between a few launches of a kernel.
  std::array<std::shared_ptr<Plan>*, 4> recent_{};
  std::size_t oldest_ = 0;
};

}  // namespace hpl::launch
