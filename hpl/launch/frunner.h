// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace hpl {

namespace launch {
struct Launchable;
struct PlanAccess;

/// What is done before and after each repetition of a launch (runAround).
class Around {
 public:
  virtual ~Around() = default;
  virtual void before() = 0;
  virtual void after() = 0;
};
}  // namespace launch

/// A launch that was made and can be repeated. Cheap to copy; does not keep its arrays alive.
class FRunner {
 public:
  /// No launch.
  FRunner() = default;

  /// Launches again with the same arguments, the scalars having the values of the first time.
  /// Costs little more than the driver's enqueue. Throws ArgumentError when one of the arrays no
  /// longer exists, LaunchError when this FRunner holds no launch.
  void run();

  /// Waits until this launch and all earlier ones on its device have finished. Throws DeviceError
  /// when one failed, RankError when the session of several ranks has ended meanwhile.
  void wait() const;

 private:
  friend struct launch::PlanAccess;
  void runPlan();

  std::shared_ptr<launch::Launchable> plan_;
  std::shared_ptr<launch::Around> around_;
  /// The scalar arguments, packed as the plan says; small ones inline.
  alignas(16) std::byte inline_[48] = {};
  std::vector<std::byte> large_;
};

namespace launch {

/// The runner of a launch each repetition of which is to stand between `around`'s two functions.
FRunner runAround(FRunner runner, std::shared_ptr<Around> around);

}  // namespace launch

}  // namespace hpl
