// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpl::runtime {

/// One entry of HPL_DEVICES; the grammar is documented at hpl::Device.
struct DeviceSelector {
  /// "gpu", "cpu", "accelerator", "any" or part of a platform's name, in lower case.
  std::string what;
  /// The number of the device among those that `what` names; -1 for all.
  int index = -1;
  /// Number of sub-devices each is split into; 1 for none.
  int parts = 1;
  /// How many times each is opened.
  int copies = 1;
  /// The entry as written, for messages.
  std::string text;
};

/// Parses the value of HPL_DEVICES. Throws SettingsError that names the entry and the grammar.
std::vector<DeviceSelector> parseDeviceList(std::string_view list);

}  // namespace hpl::runtime
