// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace hpl {

namespace launch {
struct Launchable;
struct PlanAccess;
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
  std::shared_ptr<launch::Launchable> plan_;
  /// The scalar arguments, packed as the plan says; small ones inline.
  alignas(16) std::byte inline_[48] = {};
  std::vector<std::byte> large_;
};

}  // namespace hpl
