// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace hpl::test {

/// While one lives, the device's compiler rejects sources that contain a text.
class FailingBuilds {
 public:
  explicit FailingBuilds(std::string text);
  ~FailingBuilds();
  FailingBuilds(const FailingBuilds&) = delete;
  FailingBuilds& operator=(const FailingBuilds&) = delete;

  /// Builds that were asked for, and those of them that were rejected.
  static int builds();
  static int rejected();
};

/// While one lives, every build takes `build` longer, and the driver begins the next launch
/// `firstLaunch` later than it could, as if it compiled meanwhile. The device has to honour user
/// events.
class SlowCompilations {
 public:
  SlowCompilations(std::chrono::milliseconds build, std::chrono::milliseconds firstLaunch);
  ~SlowCompilations();
  SlowCompilations(const SlowCompilations&) = delete;
  SlowCompilations& operator=(const SlowCompilations&) = delete;
};

}  // namespace hpl::test
