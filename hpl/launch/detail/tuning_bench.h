// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/launch/detail/device_plan.h"
#include "hpl/layout/tuner.h"

/// Tuning that does nothing else: on copies of the arguments, before the launch.
namespace hpl::launch {

/// HPL_TUNE=full: tunes unless launches like this one were tuned thoroughly before. Where that
/// cannot be done, because there is no memory for copies, says so and changes nothing.
void tuneBefore(KernelEntry& entry, const LaunchOptions& options, Arguments arguments);

/// The same for the part of a launch on several devices that one of them has. Parts of about the
/// same size on devices of the same kind share what is found.
void tunePartBefore(KernelEntry& entry, const LaunchOptions& options, Arguments arguments,
                    const ShareContext& share);

/// Copies of the arguments of a launch, and its variants, for measurements. Also for benchmarks.
class TuningBench final : public layout::Tunable {
 public:
  /// Throws what the launch would throw. The arguments must live as long as the bench. `share`: of
  /// a launch on several devices, the part of the device that the options name.
  TuningBench(KernelEntry& entry, const LaunchOptions& options, Arguments arguments,
              const ShareContext& share = {});

  /// The default first; alone where the launch leaves no choice.
  const std::vector<tune::Point>& points() const override { return points_; }
  /// Seconds of one launch in the variant, the mean over a few milliseconds; makes it if need be.
  /// Throws LaunchError, BuildError for variants that cannot run, AllocationError without room for
  /// the copies, which the first call makes.
  double measure(const tune::Point& point) override;
  /// Measures by another clock than the machine's; benchmarks on busy machines do.
  void setClock(tune::Clock clock) { clock_ = std::move(clock); }
  /// How the variant lays the kernel out, if it was measured; else how the launch would be.
  std::string choiceOf(const tune::Point& point) const override;
  const std::string& key() const override { return key_; }
  runtime::DeviceState& device() const override { return *request_.device; }
  std::string describe() const override { return "kernel '" + request_.version->name + "'"; }

 private:
  struct Made {
    tune::Point point;
    std::shared_ptr<DevicePlan> plan;
  };

  void copyArguments();
  DevicePlan& planOf(const tune::Point& point);
  double secondsOf(DevicePlan& plan, int launches);

  /// The request of the launch, with its own arguments.
  LaunchRequest request_;
  tune::Clock clock_ = &tune::secondsNow;
  ShareContext share_;
  std::string choice_;
  std::vector<std::shared_ptr<memory::Root>> copies_;
  std::vector<Argument> arguments_;
  std::vector<std::byte> scalars_;
  std::vector<tune::Point> points_;
  std::vector<Made> made_;
  std::string key_;
  /// Per measurement; 0: not known yet.
  int launches_ = 0;
};

}  // namespace hpl::launch
