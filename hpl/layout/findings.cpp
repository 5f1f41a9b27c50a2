// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/findings.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "hpl/layout/rewritten_kernels.h"
#include "hpl/runtime/binary_store.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/settings.h"
#include "hpl/runtime/version.h"

namespace hpl::layout {

tune::Store& findingsOf(const runtime::DeviceState& device) {
  static std::mutex mutex;
  static auto& stores = *new std::map<std::string, std::unique_ptr<tune::Store>>;
  const DeviceProperties& p = device.properties();
  const std::filesystem::path folder = runtime::settings().cache == runtime::DiskCache::Off
                                           ? std::filesystem::path()
                                           : runtime::BinaryStore::defaultFolder();
  tune::Identity identity{p.name, p.platform + " " + p.driverVersion, std::string(version)};
  const std::lock_guard lock(mutex);
  // Tests change the folder.
  auto& store = stores[folder.string() + '\n' + identity.device + '\n' + identity.driver];
  if (!store) store = std::make_unique<tune::Store>(folder, std::move(identity));
  return *store;
}

std::string findingKey(const KernelVersion& version, const runtime::DeviceState& device,
                       const Shape& shape, FpMode fp) {
  const auto sizeClass = [](std::size_t size) {
    return std::size_t{1} << std::lround(std::log2(static_cast<double>(size)));
  };
  std::string sizes;
  for (cl_uint d = 0; d < shape.dims; ++d)
    sizes += fmt::format("{}{}", d == 0 ? "" : "x", sizeClass(shape.size[d]));
  return findingKey(fmt::format("{} {} {}", version.kernel->name(),
                                version.rewritten->fingerprint(version), sizes),
                    fp, device);
}

std::optional<tune::Finding> findingFor(const LaunchRequest& request, const Shape& shape) {
  return findingFor(*request.device,
                    findingKey(*request.version, *request.device, shape, request.fp));
}

std::string timeText(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} us", seconds * 1e6)
         : seconds < 1  ? fmt::format("{:.3g} ms", seconds * 1e3)
                        : fmt::format("{:.3g} s", seconds);
}

std::string remarkOn(const tune::Finding& finding) {
  return fmt::format("; tuned: {:.2f} times as fast as the default, {} against {}",
                     1 / finding.ratio, timeText(finding.seconds),
                     timeText(finding.seconds / finding.ratio));
}

}  // namespace hpl::layout
