// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/detail/pci_address.h"

#include <fmt/format.h>

namespace hpl::runtime {
namespace {

// The constants of cl_khr_pci_bus_info, cl_nv_device_attribute_query and
// cl_amd_device_attribute_query; headers of some versions have none of them.
constexpr cl_device_info kBusInfo = 0x410F;
constexpr cl_device_info kBusOfNvidia = 0x4008;
constexpr cl_device_info kSlotOfNvidia = 0x4009;
constexpr cl_device_info kDomainOfNvidia = 0x400A;
constexpr cl_device_info kTopologyOfAmd = 0x4037;

struct BusInfo {
  cl_uint domain, bus, device, function;
};

struct TopologyOfAmd {
  cl_uint type;
  cl_uchar unused[17];
  cl_uchar bus, device, function;
};
constexpr cl_uint kOnPciOfAmd = 1;

/// Not every driver refuses what it does not know: some answer with fewer bytes.
template <class T>
bool ask(const cl::Device& device, cl_device_info what, T& answer) {
  std::size_t size = 0;
  T found{};
  if (clGetDeviceInfo(device(), what, sizeof found, &found, &size) != CL_SUCCESS) return false;
  if (size != sizeof found) return false;
  answer = found;
  return true;
}

}  // namespace

std::string pciAddress(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

std::string pciAddressOf(const cl::Device& device) {
  if (BusInfo info{}; ask(device, kBusInfo, info))
    return pciAddress(info.domain, info.bus, info.device, info.function);
  cl_uint bus = 0, slot = 0, domain = 0;
  if (ask(device, kBusOfNvidia, bus) && ask(device, kSlotOfNvidia, slot)) {
    ask(device, kDomainOfNvidia, domain);  // older drivers have none: 0
    return pciAddress(domain, bus, slot >> 3U, slot & 7U);
  }
  if (TopologyOfAmd info{}; ask(device, kTopologyOfAmd, info) && info.type == kOnPciOfAmd)
    return pciAddress(0, info.bus, info.device, info.function);
  return {};
}

}  // namespace hpl::runtime
