// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hpl/launch/detail/device_plan.h"
#include "hpl/layout/online_race.h"

/// HPL_TUNE=quick: launches of a kernel that has used much device time try other variants now and
/// then. Every launch computes what it was asked to, only laid out otherwise, so nothing is
/// computed in vain; what the variants lose, and what their compilation takes, is a small share of
/// the time that the kernel has used so far.
///
/// Of a launch on several devices each part is a plan of its own. One part on one device of each
/// kind tries variants; parts of about its size on devices of the same kind take over what is
/// found.
namespace hpl::launch {

/// One plan's part in the race of its kernel.
class OnlineTuning {
 public:
  /// Null where nothing is to be tried: the kernel leaves no choice, HPL_TUNE is not quick,
  /// arguments cannot be kept until a variant is made, or everything is known already. `share`:
  /// what sets a part of a launch on several devices apart; what its distributions name must live
  /// as long as the plan.
  static std::unique_ptr<OnlineTuning> create(const LaunchRequest& request, const LaidOut& laidOut,
                                              const ShareContext& share);
  ~OnlineTuning();

  /// Something has to be done without the lock before the next launch: prepare().
  bool needsPreparation() const noexcept { return needed_.load(std::memory_order_relaxed) >= 0; }
  /// Makes the variant that the race asks for, and keeps what it has found.
  void prepare(DevicePlan& own);
  /// Launches `own` or one of its variants. To be called under the coherence lock.
  void enqueue(DevicePlan& own, memory::detail::Transaction& transaction, const std::byte* packed);
  /// The same for a part of a launch on several devices, whose arrays have been placed.
  cl::Event submit(DevicePlan& own, const memory::detail::WaitList& waits, const std::byte* packed);

 private:
  struct Slot {
    std::shared_ptr<DevicePlan> plan;
    /// Has been launched.
    bool isWarm = false;
    /// Could not be made.
    bool isBroken = false;
  };
  /// The kernel that a launch runs, and how it is timed.
  struct Turn {
    /// Shared, because the lock may be released meanwhile; null: the plan itself.
    std::shared_ptr<DevicePlan> variant;
    /// To be timed for the race.
    bool isTimed = false;
    std::size_t candidate = 0;
    std::uint64_t wish = 0;
    bool isWarming = false;
  };

  OnlineTuning(std::shared_ptr<layout::OnlineRace> race, bool isPart, const LaunchRequest& request,
               const Shape& shape, const ShareContext& share);

  Slot& slot(std::size_t candidate);
  Turn usual();
  Turn next(const DevicePlan& own);
  template <class Launch>
  cl::Event run(DevicePlan& own, Launch launch);
  bool fits(const DevicePlan& own, const DevicePlan& variant) const;

  std::shared_ptr<layout::OnlineRace> race_;
  bool isPart_;
  Shape shape_;
  ShareContext share_;
  std::vector<Argument> arguments_;
  /// On these arguments.
  LaunchRequest request_;
  /// By candidate.
  std::vector<Slot> slots_;
  /// The candidate whose variant is to be made; 0: there is only news to be kept; -1: nothing.
  std::atomic<int> needed_{-1};
  std::mutex preparing_;
};

}  // namespace hpl::launch
