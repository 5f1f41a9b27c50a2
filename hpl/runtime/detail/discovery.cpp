// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/detail/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>

#include "hpl/error.h"
#include "hpl/runtime/detail/pci_address.h"

namespace hpl::runtime {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// A string that the driver reports, without what some drivers pad it with.
std::string cleaned(std::string text) {
  const auto keep = [](char c) {
    return c != '\0' && !std::isspace(static_cast<unsigned char>(c));
  };
  while (!text.empty() && !keep(text.back())) text.pop_back();
  while (!text.empty() && !keep(text.front())) text.erase(text.begin());
  return text;
}

/// The answer to a query; a driver that fails it, or answers nonsense, leaves the default. It is
/// asked twice, as the answer holds for the whole process.
template <class F>
void tryQuery(F&& query) {
  constexpr int kTimes = 2;
  for (int i = 0; i < kTimes; ++i) {
    try {
      return query();
    } catch (const cl::Error&) {
      // The property keeps its default: a device with a gap in its description is still a device.
    }
  }
}

/// All devices of a platform. Throws cl::Error, for one without devices, too.
std::vector<cl::Device> devicesOf(const cl::Platform& platform) {
  std::vector<cl::Device> devices;
  try {
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  } catch (const cl::Error& error) {
    if (error.err() == CL_DEVICE_NOT_FOUND) throw;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  }
  return devices;
}

std::optional<DeviceType> toDeviceType(cl_device_type type) {
  // Simulators present one device as CPU, GPU and accelerator at once: they run on the host.
  if (type & CL_DEVICE_TYPE_CPU) return CPU;
  if (type & CL_DEVICE_TYPE_GPU) return GPU;
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return ACCELERATOR;
  return std::nullopt;  // custom devices cannot be programmed
}

std::optional<DeviceType> typeNamed(const std::string& what) {
  if (what == "gpu") return GPU;
  if (what == "cpu") return CPU;
  if (what == "accelerator") return ACCELERATOR;
  if (what == "any") return ANY;
  return std::nullopt;
}

/// Why `device` cannot be used, or nothing.
std::string unusable(const cl::Device& device) {
  if (!toDeviceType(device.getInfo<CL_DEVICE_TYPE>())) return "a custom device";
  if (!device.getInfo<CL_DEVICE_AVAILABLE>()) return "a device that is not available";
  if (!device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>()) return "a device without a compiler";
  return {};
}

void addPlatform(Inventory& inventory, const cl::Platform& platform) {
  std::string name = "a platform without a name";
  tryQuery([&] { name = cleaned(platform.getInfo<CL_PLATFORM_NAME>()); });
  std::string key = lower(name);
  tryQuery([&] { key += "\n" + lower(platform.getInfo<CL_PLATFORM_VENDOR>()); });
  tryQuery([&] { key += "\n" + lower(platform.getInfo<CL_PLATFORM_VERSION>()); });
  const std::size_t before = inventory.devices.size();
  std::string reason = "has no device";
  try {
    for (const cl::Device& device : devicesOf(platform)) {
      std::string problem = "a device that fails when asked";
      tryQuery([&] { problem = unusable(device); });
      if (!problem.empty()) {
        reason = "has only " + problem;
        continue;
      }
      inventory.devices.push_back({platform, device, queryProperties(platform, device), key});
    }
  } catch (const cl::Error& error) {
    if (error.err() != CL_DEVICE_NOT_FOUND) {
      reason = fmt::format("fails with {} ({})", errorName(error.err()), error.err());
    }
  }
  if (inventory.devices.size() != before) return;
  if (lower(name) == "rusticl")
    reason += " (RUSTICL_ENABLE=llvmpipe, or a driver's name, adds one)";
  inventory.emptyPlatforms.push_back(fmt::format("platform {} {}", name, reason));
}

bool matches(const PhysicalDevice& device, const std::string& what) {
  if (const auto type = typeNamed(what)) return (device.properties.type & *type) != 0;
  return device.platformKey.find(what) != std::string::npos;
}

/// The devices that a selector names. Throws when there are none.
std::vector<const PhysicalDevice*> namedDevices(const Inventory& inventory,
                                                const DeviceSelector& selector) {
  std::vector<const PhysicalDevice*> found;
  for (const PhysicalDevice& device : inventory.devices) {
    if (matches(device, selector.what)) found.push_back(&device);
  }
  if (found.empty()) {
    throw DeviceError(fmt::format("HPL_DEVICES: nothing matches \"{}\". {}", selector.text,
                                  describeInventory(inventory)));
  }
  if (selector.index < 0) return found;
  const auto index = static_cast<std::size_t>(selector.index);
  if (index >= found.size()) {
    throw DeviceError(fmt::format(
        "HPL_DEVICES: \"{}\" asks for device number {}, but \"{}\" names only {}, counted from 0. "
        "{}",
        selector.text, selector.index, selector.what, found.size(), describeInventory(inventory)));
  }
  return {found[index]};
}

/// Sub-devices with that many units. Throws cl::Error.
std::vector<cl::Device> divideBy(cl::Device device, const std::vector<unsigned>& units) {
  std::vector<cl_device_partition_property> properties;
  if (std::ranges::all_of(units, [&](unsigned own) { return own == units.front(); })) {
    properties = {CL_DEVICE_PARTITION_EQUALLY, units.front()};
  } else {
    properties = {CL_DEVICE_PARTITION_BY_COUNTS};
    properties.insert(properties.end(), units.begin(), units.end());
    properties.push_back(CL_DEVICE_PARTITION_BY_COUNTS_LIST_END);
  }
  properties.push_back(0);
  std::vector<cl::Device> result;
  device.createSubDevices(properties.data(), &result);
  return result;
}

/// Sub-devices of equal size, or as equal as the device's units allow. Throws cl::Error.
std::vector<cl::Device> divide(const cl::Device& device, unsigned units, unsigned parts) {
  std::vector<unsigned> own(parts, units / parts);
  for (unsigned i = 0; i < units % parts; ++i) ++own[i];
  return divideBy(device, own);
}

/// Splits a device as a selector wants it.
std::vector<cl::Device> split(const PhysicalDevice& physical, const DeviceSelector& selector) {
  if (selector.parts == 1) return {physical.device};
  const auto parts = static_cast<unsigned>(selector.parts);
  const unsigned units = physical.properties.computeUnits;
  const auto fail = [&](const std::string& reason) {
    return DeviceError(fmt::format(
        "HPL_DEVICES: \"{}\" cannot split {} into {} sub-devices: {}. \"{}*{}\" opens it {} times "
        "instead",
        selector.text, physical.properties.name, parts, reason, selector.what, parts, parts));
  };
  if (units < parts) throw fail(fmt::format("it has {} compute unit(s)", units));
  try {
    return divide(physical.device, units, parts);
  } catch (const cl::Error& error) {
    throw fail(
        fmt::format("clCreateSubDevices failed with {} ({})", errorName(error.err()), error.err()));
  }
}

/// Identifies a device, or a part of the physical one.
DeviceState::Identity identityOf(const cl::Platform& platform, const cl::Device& physical,
                                 const cl::Device& device, std::shared_ptr<ContextHolder> context) {
  DeviceState::Identity identity;
  identity.platform = platform;
  identity.device = device;
  identity.physical = physical;
  identity.context = std::move(context);
  return identity;
}

/// Opens one device as one selector wants it and appends the results.
void openAs(const PhysicalDevice& physical, const DeviceSelector& selector,
            std::vector<std::unique_ptr<DeviceState>>& result, int platformIndex) {
  const std::vector<cl::Device> parts = split(physical, selector);
  for (int copy = 0; copy < selector.copies; ++copy) {
    const auto context = std::make_shared<ContextHolder>(parts);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      DeviceState::Identity identity =
          identityOf(physical.platform, physical.device, parts[part], context);
      identity.properties = physical.properties;
      if (parts.size() > 1) {
        identity.properties = queryProperties(physical.platform, parts[part]);
        identity.properties.isSubDevice = true;
        identity.suffix += fmt::format(" [part {}/{}]", part + 1, parts.size());
      }
      if (selector.copies > 1) {
        identity.properties.isVirtualDevice = true;
        identity.suffix += fmt::format(" [copy {}/{}]", copy + 1, selector.copies);
      }
      identity.index = static_cast<int>(result.size());
      identity.platformIndex = platformIndex;
      result.push_back(std::make_unique<DeviceState>(std::move(identity)));
    }
  }
}

}  // namespace

std::unique_ptr<DeviceState> partOf(const DeviceState& whole, int part, int parts) {
  const unsigned units = whole.properties().computeUnits;
  if (units < static_cast<unsigned>(parts)) return nullptr;
  DeviceState::Identity identity;
  try {
    identity.device = divide(whole.device(), units, static_cast<unsigned>(parts))
                          .at(static_cast<std::size_t>(part));
  } catch (const cl::Error&) {
    return nullptr;
  }
  identity.platform = whole.platform();
  identity.physical = whole.device();
  identity.context = std::make_shared<ContextHolder>(std::vector{identity.device});
  identity.properties = queryProperties(whole.platform(), identity.device);
  identity.properties.isSubDevice = true;
  identity.properties.isVirtualDevice = whole.properties().isVirtualDevice;
  identity.suffix = fmt::format("{} [part {}/{}]", whole.suffix(), part + 1, parts);
  identity.platformIndex = whole.platformIndex();
  return std::make_unique<DeviceState>(std::move(identity));
}

std::vector<std::unique_ptr<DeviceState>> openParts(const PhysicalDevice& device,
                                                    const std::vector<OwnPart>& parts) {
  const bool areCopies = parts.front().isCopy;
  std::vector<cl::Device> own(parts.size(), device.device);
  if (parts.size() > 1 && !areCopies) {
    std::vector<unsigned> units;
    for (const OwnPart& part : parts) units.push_back(part.units);
    try {
      own = divideBy(device.device, units);
    } catch (const cl::Error& error) {
      throw DeviceError(fmt::format(
          "{} cannot be split into {} sub-devices: {} failed with {} ({})", device.properties.name,
          parts.size(), error.what(), errorName(error.err()), error.err()));
    }
  }
  auto context = std::make_shared<ContextHolder>(own);
  std::vector<std::unique_ptr<DeviceState>> states;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // Copies are as apart as devices are.
    if (areCopies) context = std::make_shared<ContextHolder>(std::vector{own[i]});
    DeviceState::Identity identity = identityOf(device.platform, device.device, own[i], context);
    identity.properties = queryProperties(device.platform, own[i]);
    (areCopies ? identity.properties.isVirtualDevice : identity.properties.isSubDevice) = true;
    if (areCopies) identity.properties.computeUnits = parts[i].wholeUnits;
    identity.wholeUnits = parts[i].wholeUnits;
    identity.suffix = parts[i].suffix;
    states.push_back(std::make_unique<DeviceState>(std::move(identity)));
  }
  return states;
}

DeviceProperties queryProperties(const cl::Platform& platform, const cl::Device& device) {
  DeviceProperties p;
  tryQuery([&] { p.platform = cleaned(platform.getInfo<CL_PLATFORM_NAME>()); });
  tryQuery([&] { p.name = cleaned(device.getInfo<CL_DEVICE_NAME>()); });
  tryQuery([&] { p.vendor = cleaned(device.getInfo<CL_DEVICE_VENDOR>()); });
  tryQuery([&] { p.driverVersion = cleaned(device.getInfo<CL_DRIVER_VERSION>()); });
  tryQuery([&] { p.openclVersion = cleaned(device.getInfo<CL_DEVICE_VERSION>()); });
  p.pciAddress = pciAddressOf(device);
  tryQuery([&] { p.type = toDeviceType(device.getInfo<CL_DEVICE_TYPE>()).value_or(CPU); });
  tryQuery([&] { p.globalMemory = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>(); });
  tryQuery([&] { p.maxAllocation = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>(); });
  tryQuery([&] { p.cache = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>(); });
  tryQuery([&] { p.localMemory = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>(); });
  tryQuery([&] { p.constantMemory = device.getInfo<CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE>(); });
  tryQuery([&] { p.cacheLine = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE>(); });
  tryQuery([&] { p.maxWorkGroupSize = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>(); });
  tryQuery([&] {
    const auto sizes = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
    std::copy_n(sizes.begin(), std::min<std::size_t>(3, sizes.size()), p.maxWorkItemSizes.begin());
  });
  tryQuery([&] { p.computeUnits = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>(); });
  tryQuery([&] { p.clockMHz = device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>(); });
  tryQuery([&] { p.addressAlignBits = device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>(); });
  tryQuery(
      [&] { p.preferredFloatVector = device.getInfo<CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT>(); });
  tryQuery([&] {
    const auto extensions = " " + device.getInfo<CL_DEVICE_EXTENSIONS>() + " ";
    p.hasHalf = extensions.find("cl_khr_fp16") != std::string::npos;
    p.hasDouble = extensions.find("cl_khr_fp64") != std::string::npos;
    p.hasWideAtomics = extensions.find("cl_khr_int64_base_atomics") != std::string::npos;
    p.hasWideMinMaxAtomics = extensions.find("cl_khr_int64_extended_atomics") != std::string::npos;
  });
  tryQuery([&] { p.hasDouble |= device.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() != 0; });
  tryQuery(
      [&] { p.hasDedicatedLocalMemory = device.getInfo<CL_DEVICE_LOCAL_MEM_TYPE>() == CL_LOCAL; });
  tryQuery([&] { p.hostUnifiedMemory = device.getInfo<CL_DEVICE_HOST_UNIFIED_MEMORY>() != 0; });
  return p;
}

Inventory takeInventory() {
  Inventory inventory;
  std::vector<cl::Platform> platforms;
  // Without any platform the loader reports an error; that is no reason to fail here.
  tryQuery([&] { cl::Platform::get(&platforms); });
  inventory.anyPlatform = !platforms.empty();
  for (const cl::Platform& platform : platforms) {
    try {
      addPlatform(inventory, platform);
    } catch (const cl::Error& error) {
      inventory.emptyPlatforms.push_back(
          fmt::format("a platform fails with {} ({})", errorName(error.err()), error.err()));
    }
  }
  return inventory;
}

std::string describeInventory(const Inventory& inventory) {
  if (!inventory.anyPlatform) {
    const char* vendors = std::getenv("OCL_ICD_VENDORS");
    return fmt::format(
        "There is no OpenCL platform on this machine. Install a driver: the package "
        "pocl-opencl-icd for CPUs, or that of the GPU's vendor; if one is installed, check that "
        "its "
        ".icd file is in /etc/OpenCL/vendors{}",
        vendors ? fmt::format(" (OCL_ICD_VENDORS={} is used instead now)", vendors) : "");
  }
  std::string text = inventory.devices.empty() ? "No platform has a device:" : "Available are:";
  std::map<DeviceType, int> counts;
  for (const PhysicalDevice& device : inventory.devices) {
    const DeviceProperties& p = device.properties;
    text +=
        fmt::format("\n  {}:{}  {} (platform {}, {} compute units)", lower(deviceTypeName(p.type)),
                    counts[p.type]++, p.name, p.platform, p.computeUnits);
  }
  for (const std::string& platform : inventory.emptyPlatforms) text += "\n  " + platform;
  return text;
}

std::vector<std::unique_ptr<DeviceState>> selectDevices(
    const Inventory& inventory, const std::vector<DeviceSelector>& selectors) {
  static const std::vector<DeviceSelector> everything{{"any", -1, 1, 1, "any"}};
  std::vector<std::unique_ptr<DeviceState>> result;
  if (selectors.empty() && inventory.devices.empty()) return result;
  std::vector<cl_platform_id> platforms;  // in the order in which they come into use
  for (const DeviceSelector& selector : selectors.empty() ? everything : selectors) {
    for (const PhysicalDevice* device : namedDevices(inventory, selector)) {
      auto it = std::ranges::find(platforms, device->platform());
      if (it == platforms.end()) it = platforms.insert(it, device->platform());
      openAs(*device, selector, result, static_cast<int>(it - platforms.begin()));
    }
  }
  return result;
}

}  // namespace hpl::runtime
