// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hpl/launch/detail/dry_launch.h"
#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/memory/transaction.h"

namespace hpl::launch {

struct DevicePlan;

/// All that a launch needs and that its repetitions reuse, on one device (DevicePlan) or on several
/// (SharedPlan). Complete once it is made. Guarded by the coherence lock.
struct Launchable {
  virtual ~Launchable() = default;
  Launchable(const Launchable&) = delete;
  Launchable& operator=(const Launchable&) = delete;

  /// Whether it was made for these arguments.
  virtual bool matches(const LaunchOptions& asked, Arguments arguments) const = 0;
  /// Converts and packs the scalar arguments into `scalarBytes` bytes; throws ArgumentError for
  /// values that do not convert.
  virtual void packScalars(Arguments arguments, std::byte* packed) const = 0;

  /// begin() or end() have something to do, which cannot happen under the lock.
  virtual bool needsLockReleased() const = 0;
  /// Before a launch, without the lock: makes what tuning asks for, copies stand-ins.
  virtual void begin() = 0;
  /// Enqueues under the lock that `transaction` holds.
  virtual void enqueue(memory::detail::Transaction& transaction, const std::byte* packed) = 0;
  /// After a launch, without the lock: copies stand-ins back, shows probes, reports violations.
  virtual void end() = 0;

  /// Enqueues once more, under the lock, if nothing has happened to the arrays since the last
  /// launch and there is no more to it; else false, and nothing is done.
  virtual bool repeat(const std::byte* packed) = 0;

  /// The plans of its devices; several of one device run one after another.
  virtual std::span<DevicePlan* const> plans() = 0;
  /// The plan itself, if a launch on one device; null: a shared one. LaunchKeys tell such apart.
  virtual DevicePlan* onOneDevice() noexcept = 0;

  std::shared_ptr<const KernelVersion> version;
  /// The first one, if there are several devices.
  runtime::DeviceState* device = nullptr;
  /// The roots of the array arguments, device by device.
  std::vector<std::weak_ptr<memory::Root>> roots;
  std::size_t scalarBytes = 0;
  /// Null: it is no dry run, or the first launch of one.
  std::unique_ptr<DryLaunch> dry;

 protected:
  Launchable() = default;
};

}  // namespace hpl::launch
