// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "hpl/runtime/detail/discovery.h"
#include "subprocess.h"

/// Devices opened for one test, apart from those of the process.
inline std::vector<std::unique_ptr<hpl::runtime::DeviceState>> openDevices(
    const std::string& list = "") {
  static const hpl::runtime::Inventory& inventory =
      *new hpl::runtime::Inventory(hpl::runtime::takeInventory());
  return hpl::runtime::selectDevices(inventory, hpl::runtime::parseDeviceList(list));
}

/// A folder of .icd files for those of the drivers that are installed: "pocl", "rusticl",
/// "oclgrind".
class VendorFolder {
 public:
  explicit VendorFolder(const std::vector<std::string>& vendors) {
    for (const std::string& vendor : vendors) {
      const std::string library = vendor == "pocl"      ? "libpocl.so.2"
                                  : vendor == "rusticl" ? "libRusticlOpenCL.so.1"
                                                        : "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
      if (!isInstalled(library)) continue;
      std::ofstream(folder_ / (vendor + ".icd")) << library << "\n";
      ++count_;
    }
  }
  /// How many of the drivers are installed.
  int count() const { return count_; }
  /// The variables that make a process use them.
  std::string environment() const {
    return "OCL_ICD_VENDORS=" + folder_.path().string() + "/ RUSTICL_ENABLE=llvmpipe";
  }

 private:
  /// Asks in another process: drivers of different LLVM versions must not meet in this one.
  static bool isInstalled(const std::string& library) {
    if (library.front() == '/') return std::filesystem::exists(library);
    return subprocess::runShell("ldconfig -p | grep -q " + library +
                                " || /sbin/ldconfig -p | grep -q " + library)
               .exitCode == 0;
  }

  subprocess::TemporaryFolder folder_;
  int count_ = 0;
};
