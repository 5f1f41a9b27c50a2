// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/cpu_share.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "hpl/error.h"
#include "hpl/runtime/log.h"
#include "hpl/topology/core_binding.h"

namespace hpl::ranks {
namespace {

// The variables of PoCL up to 3.1, and of later ones.
constexpr const char* kThreads[] = {"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"};

unsigned coresOfMachine() {
  return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

unsigned coresOf(const std::vector<CpuPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0U,
                         [](unsigned sum, const CpuPart& part) { return sum + part.cores; });
}

/// As clCreateSubDevices divides.
unsigned coresOfPart(unsigned cores, int part, int parts) {
  const auto count = static_cast<unsigned>(parts);
  return cores / count + (static_cast<unsigned>(part) < cores % count ? 1 : 0);
}

/// Where the part begins.
unsigned coresBefore(unsigned cores, int part, int parts) {
  unsigned before = 0;
  for (int i = 0; i < part; ++i) before += coresOfPart(cores, i, parts);
  return before;
}

bool isInEnvironment(const char* variable) { return std::getenv(variable) != nullptr; }

/// Whether the file names a driver that has no devices where there are no GPUs.
enum class Driver { Pocl, Mesa, Other };
Driver driverOf(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string library;
  std::getline(in, library);
  if (library.find("pocl") != std::string::npos) return Driver::Pocl;
  const bool isMesa = library.find("MesaOpenCL") != std::string::npos ||
                      library.find("RusticlOpenCL") != std::string::npos;
  return isMesa && !isInEnvironment("RUSTICL_ENABLE") ? Driver::Mesa : Driver::Other;
}

bool hasGpus() {
  std::error_code none;
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg"})
    if (std::filesystem::exists(node, none)) return true;
  for (const auto& node : std::filesystem::directory_iterator("/dev/dri", none))
    if (node.path().filename().string().starts_with("renderD")) return true;
  return false;
}

bool isPocl(const runtime::PhysicalDevice& device) {
  return device.properties.type == CPU &&
         device.platformKey.find("portable computing language") != std::string::npos;
}

std::string suffixOf(const CpuPart& part, const AskedFor& asked) {
  std::string suffix;
  if (asked.devices > 1)
    suffix += fmt::format(" [{} {}/{}]", asked.areCopies ? "copy" : "part", part.dealt.device + 1,
                          asked.devices);
  if (part.dealt.parts > 1)
    suffix += fmt::format(" [part {}/{}]", part.dealt.part + 1, part.dealt.parts);
  return suffix;
}

}  // namespace

std::vector<CpuPart> partsOfCpu(unsigned cores, int devices, int place, int processes) {
  if (cores < static_cast<unsigned>(devices)) return {};
  const std::vector<DeviceType> types(static_cast<std::size_t>(devices), CPU);
  std::vector<CpuPart> parts;
  for (const runtime::Dealt& dealt : runtime::deal(types, place, processes)) {
    const auto device = static_cast<int>(dealt.device);
    const unsigned whole = coresOfPart(cores, device, devices);
    if (whole < static_cast<unsigned>(dealt.parts)) return {};
    parts.push_back(
        {dealt, coresOfPart(whole, dealt.part, dealt.parts),
         coresBefore(cores, device, devices) + coresBefore(whole, dealt.part, dealt.parts)});
  }
  return coresOf(parts) < cores ? parts : std::vector<CpuPart>();
}

AskedFor partsAskedFor(std::span<const runtime::DeviceSelector> selectors, bool isAlone) {
  if (selectors.empty()) return {isAlone ? 1 : 0, false};
  const runtime::DeviceSelector& first = selectors.front();
  const bool isCpu = first.what == "cpu" || first.what == "pocl";
  // "cpu" stands for those of all drivers.
  const bool isOne = first.index == 0 || (first.index < 0 && isAlone);
  if (selectors.size() != 1 || !isCpu || !isOne) return {};
  if (first.copies == 1) return {first.parts, false};
  return first.parts == 1 ? AskedFor{first.copies, true} : AskedFor{};
}

bool isPoclAlone() {
  for (const char* variable : {"OCL_ICD_FILENAMES", "OPENCL_LAYERS", "OCL_ICD_PLATFORM_SORT"})
    if (isInEnvironment(variable)) return false;
  if (hasGpus()) return false;
  const char* asked = std::getenv("OCL_ICD_VENDORS");
  const std::filesystem::path vendors = asked != nullptr ? asked : "/etc/OpenCL/vendors";
  std::error_code none;
  if (std::filesystem::is_regular_file(vendors, none)) return driverOf(vendors) == Driver::Pocl;
  bool hasPocl = false;
  for (const auto& file : std::filesystem::directory_iterator(vendors, none)) {
    if (file.path().extension() != ".icd") continue;
    const Driver driver = driverOf(file.path());
    if (driver == Driver::Other) return false;
    hasPocl = hasPocl || driver == Driver::Pocl;
  }
  return hasPocl;
}

CpuShare::CpuShare(const std::string& devices, int place, int processes, Binding binding) {
  if (processes < 2) return;
  for (const char* variable :
       {kThreads[0], kThreads[1], "POCL_MAX_COMPUTE_UNITS", "POCL_DEVICES", "POCL_AFFINITY"})
    if (isInEnvironment(variable)) return;
  try {
    const auto selectors = runtime::parseDeviceList(devices);
    asked_ = partsAskedFor(selectors, isPoclAlone());
    isNamed_ = !selectors.empty() && selectors.front().index == 0;
    isFirstCpu_ = isNamed_ && selectors.front().what == "cpu";
  } catch (const SettingsError&) {
    // All ranks will hear of it together.
  }
  // Parts of copies are made of the whole CPU.
  if (asked_.devices == 0 || (asked_.areCopies && asked_.devices < processes)) return;
  own_ = partsOfCpu(coresOfMachine(), asked_.devices, place, processes);
  if (own_.empty()) return;
  for (const char* variable : kThreads) setenv(variable, std::to_string(coresOf(own_)).c_str(), 1);
  if (binding == Binding::OwnCores) bind();
}

CpuShare::~CpuShare() {
  if (own_.empty()) return;
  for (const char* variable : kThreads) unsetenv(variable);
  if (isBound_ && !isInUse_) topology::unbindFromCores();
}

// Before the driver is loaded: its threads inherit it.
void CpuShare::bind() {
  std::vector<topology::CoreRange> ranges;
  for (const CpuPart& part : own_) ranges.push_back({part.firstCore, part.cores});
  const unsigned all = coresOfMachine();
  isBound_ = topology::bindToCores(ranges, all);
  if (isBound_)
    runtime::log::info(fmt::format("this rank keeps to {} of its node's {} cores (HPL_RANKS_BIND)",
                                   coresOf(own_), all));
}

std::optional<std::vector<std::unique_ptr<runtime::DeviceState>>> CpuShare::devices(
    const runtime::Inventory& inventory) {
  if (own_.empty()) return std::nullopt;
  const auto& all = inventory.devices;
  const auto isCpu = [](const auto& device) { return device.properties.type == CPU; };
  const auto pocl = std::find_if(all.begin(), all.end(), isPocl);
  // Drivers of other names, and those that have all cores all the same, are as if not asked.
  if (pocl == all.end() || pocl->properties.computeUnits != coresOf(own_)) return std::nullopt;
  // "cpu:0" may be another driver's, which then is the only one in use.
  if (isFirstCpu_ && std::find_if(all.begin(), all.end(), isCpu) != pocl) return std::nullopt;
  if (!isNamed_ && all.size() > 1) {
    runtime::log::warn(fmt::format(
        "PoCL was taken for the only OpenCL driver with devices, and has {} of this node's cores "
        "in this rank, but there are {} devices: set HPL_DEVICES, or {} to all cores",
        coresOf(own_), all.size(), kThreads[0]));
    return std::nullopt;
  }
  std::vector<runtime::OwnPart> parts;
  for (const CpuPart& part : own_)
    parts.push_back({part.cores, coresOfMachine(), suffixOf(part, asked_), asked_.areCopies});
  auto opened = runtime::openParts(*pocl, parts);
  isInUse_ = true;
  return opened;
}

}  // namespace hpl::ranks
