// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/fingerprint.h"

#include "hpl/ir/printer.h"
#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/runtime/binary_store.h"

namespace hpl::launch {

std::string fingerprint(const KernelSource& source, runtime::DeviceState& device) {
  // An entry of its own: names of arguments that a launch was made with do not matter.
  const auto version = KernelEntry(source, nullptr).version(device, {});
  return runtime::hexHash(ir::print(*version->kernel)).substr(0, 16);
}

}  // namespace hpl::launch
