// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpl/layout/shape.h"
#include "hpl/layout/tuner.h"
#include "hpl/runtime/cl.h"
#include "hpl/tune/running_race.h"

namespace hpl::layout {

/// The races of one kernel, for domains of one size, on one device: which launch tries what, and
/// what that may cost. All plans of such launches take part. Guarded by the lock under which they
/// launch.
class OnlineRace {
 public:
  OnlineRace(const LaunchRequest& request, const Shape& shape);

  /// Empty until the kernel has run for a while; first what launches use without this, which is the
  /// default or what an earlier process has found.
  const std::vector<tune::Point>& points() const noexcept { return race_.ladder().points(); }
  bool isFinished() const noexcept { return finished_; }
  /// The candidate that launches are to use.
  std::size_t incumbent() const noexcept { return race_.ladder().incumbent(); }

  /// Whether launches of such a domain on this device take part, which those on the first device
  /// that asks do: elsewhere other times would be compared, of another device or another size.
  bool isLedBy(runtime::DeviceState& device, const Shape& shape);
  /// Counts a launch; whether anything but launching is to be done.
  bool isDue() noexcept { return race_.count(); }
  /// The candidate that this launch is to run, timed; none: the incumbent, untimed.
  std::optional<std::size_t> wish();
  /// Whether a plan may make the variant of a candidate now.
  bool mayMake(std::size_t candidate) const;
  /// Notes the seconds that making it took; a candidate that cannot be made is out.
  void noteMade(std::size_t candidate, double seconds);
  void noteFailed(std::size_t candidate, double seconds);
  /// Stands for what wish() has asked for last.
  std::uint64_t wishNumber() const noexcept { return wishes_; }
  /// The kernel of a launch that was timed for a wish, and what enqueueing it took. The first
  /// launch of a variant only warms up. Wishes that were fulfilled meanwhile, by another thread,
  /// are ignored: enqueueing may release the lock.
  void noteLaunch(std::uint64_t wish, bool warming, cl::Event event, double hostSeconds);
  /// Reads the times of what has finished meanwhile.
  void poll();

  /// There is something to keep(), which happens without the lock.
  bool hasNews() const noexcept { return race_.ladder().hasNews(); }
  /// The finding so far, if there is news since the last time.
  std::optional<tune::Finding> takeNews();
  void keep(const tune::Finding& finding) const;
  /// Adds other seconds that trying took.
  void noteCost(double seconds) noexcept { race_.spend(seconds); }
  /// The devices are about to go: no events are held from here on.
  void stop();

 private:
  struct Sample {
    tune::Race::Leg leg;
    /// Only tells how long the kernel takes.
    bool isProbe = false;
    bool isWarming = false;
    std::vector<cl::Event> events;
  };

  int legLaunches() const noexcept;
  double costOf(const tune::Race::Leg& leg) const;
  void wait() noexcept { race_.sleep(1); }
  std::optional<std::size_t> probe();
  void begin();
  void judge(const Sample& sample, const std::vector<double>& seconds);
  void dropLegs();
  void settled();
  void finish();

  std::string key_;
  tune::Store* store_;
  std::shared_ptr<const KernelVersion> version_;
  runtime::DeviceState* device_;
  Shape shape_;
  bool hasLeader_ = false;
  /// Counts launches, in device seconds.
  tune::RunningRace race_;
  std::optional<tune::Race::Leg> leg_;
  std::uint64_t wishes_ = 0;
  int left_ = 0;
  std::vector<cl::Event> events_;
  std::deque<Sample> pending_;
  bool finished_ = false;
};

}  // namespace hpl::layout
