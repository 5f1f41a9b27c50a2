// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "hpl/error.h"
#include "hpl/launch/detail/device_plan.h"

/// Launches on several devices, as their repetitions reuse them.
namespace hpl::launch {

/// The facts for which the shares of a launch were made; a repetition must agree in all of them.
struct SharesKey {
  struct Entry {
    Argument::Kind kind = Argument::Kind::Scalar;
    Annotation annotation;
    int partDim = 0;
    /// One view, or one per device.
    std::vector<memory::View*> views;
    std::vector<memory::ViewHold> held;
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

  static SharesKey of(const LaunchOptions& options, Arguments arguments);
  bool matches(const LaunchOptions& options, Arguments arguments) const;
};

/// The share of a launch that one device runs at once.
struct Share {
  std::shared_ptr<DevicePlan> plan;
  /// The device's position in the list of devices.
  std::size_t position = 0;
  /// [argument]: the size that a.part(d) stands for.
  std::vector<std::size_t> partExtents;
};

/// One share per device that has work to do, or several that it runs one after another, and what
/// they have in common.
struct SharedPlan final : Launchable {
  /// Made of one share or several. `hasGhosts`: some argument is cut with overlaps.
  SharedPlan(SharesKey key, std::vector<Share> shares, bool hasGhosts);

  bool matches(const LaunchOptions& asked, Arguments arguments) const override {
    return key_.matches(asked, arguments);
  }
  /// Packs the scalars of all shares one after another.
  void packScalars(Arguments arguments, std::byte* packed) const override;
  bool needsLockReleased() const override;
  void begin() override;
  void enqueue(memory::detail::Transaction& transaction, const std::byte* packed) override;
  void end() override;
  /// False: the shares are enqueued by enqueue(), repeated or not.
  bool repeat(const std::byte* /*packed*/) override { return false; }
  std::span<DevicePlan* const> plans() override { return plans_; }
  DevicePlan* onOneDevice() noexcept override { return nullptr; }

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

  SharesKey key_;
  std::vector<Share> shares_;
  /// Those of the shares.
  std::vector<DevicePlan*> plans_;
  bool hasGhosts_;
  /// Bytes of packed scalars of one share.
  std::size_t bytesPerShare_ = 0;
  std::vector<memory::detail::DeviceLaunch> launches_;
  memory::detail::LaunchRecordsPtr records_ = memory::detail::makeLaunchRecords();
};

}  // namespace hpl::launch
