// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace hpl::test
