// SPDX-License-Identifier: Apache-2.0
// The cores that a rank asks the CPU's driver for.
#include "hpl/ranks/detail/cpu_share.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpl/ranks/world.h"
#include "tests/ranks/on_ranks.h"

namespace cpu_share_tests {

using namespace hpl;
using hpl::ranks::CpuPart;
using hpl::ranks::CpuShare;
using hpl::ranks::partsAskedFor;
using hpl::ranks::partsOfCpu;

namespace {

/// A variable of the environment, for a while.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Parts, or copies as negative numbers.
int askedFor(const std::string& devices, bool isAlone) {
  const ranks::AskedFor asked = partsAskedFor(runtime::parseDeviceList(devices), isAlone);
  return asked.areCopies ? -asked.devices : asked.devices;
}

/// "2 units: #0 [part 1/2]", or why not.
std::string sharedOut(const std::string& devices, int place, int processes) {
  std::string said;
  CpuShare share(devices, place, processes);
  const char* asked = std::getenv("POCL_MAX_PTHREAD_COUNT");
  const std::string threads = asked != nullptr ? asked : "all";
  const auto own = share.devices(runtime::takeInventory());
  if (!own) return "not told";
  for (const auto& device : *own) {
    CHECK(device->properties().isSubDevice != device->properties().isVirtualDevice);
    said += fmt::format("{}{} with {}", said.empty() ? "" : ", ", device->suffix(),
                        device->properties().computeUnits);
  }
  return fmt::format("{} threads:{}", threads, said);
}

/// On how many cores each thread of this process may run.
std::set<unsigned> coresAllowed() {
  std::set<unsigned> counts;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(std::stoi(task.path().filename().string()), sizeof allowed, &allowed) ==
        0)
      counts.insert(static_cast<unsigned>(CPU_COUNT(&allowed)));
  }
  return counts;
}

unsigned cores() { return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

}  // namespace

TEST_CASE("each core of a CPU goes to one of the node's ranks, as devices are dealt") {
  CHECK(partsOfCpu(8, 1, 0, 2) == std::vector<CpuPart>{{{0, 0, 2, false}, 4, 0}});
  CHECK(partsOfCpu(7, 1, 0, 2) == std::vector<CpuPart>{{{0, 0, 2, false}, 4, 0}});
  CHECK(partsOfCpu(7, 1, 1, 2) == std::vector<CpuPart>{{{0, 1, 2, false}, 3, 4}});
  CHECK(partsOfCpu(8, 4, 1, 2) ==
        std::vector<CpuPart>{{{1, 0, 1, false}, 2, 2}, {{3, 0, 1, false}, 2, 6}});
  CHECK(partsOfCpu(8, 2, 3, 4) == std::vector<CpuPart>{{{1, 1, 2, false}, 2, 6}});
  // Too few cores, and all of them.
  CHECK(partsOfCpu(2, 1, 0, 3).empty());
  CHECK(partsOfCpu(2, 4, 0, 2).empty());
  CHECK(partsOfCpu(8, 4, 0, 1).empty());
  for (unsigned count = 1; count <= 20; ++count)
    for (int devices = 1; devices <= 5; ++devices)
      for (int processes = 2; processes <= 6; ++processes) {
        CAPTURE(count);
        CAPTURE(devices);
        CAPTURE(processes);
        std::vector<int> owners(count, 0);
        bool isDivided = true;
        for (int place = 0; place < processes; ++place) {
          const auto parts = partsOfCpu(count, devices, place, processes);
          isDivided = isDivided && !parts.empty();
          for (const CpuPart& part : parts) {
            CHECK(part.cores > 0);
            REQUIRE(part.firstCore + part.cores <= count);
            for (unsigned core = 0; core < part.cores; ++core) ++owners[part.firstCore + core];
          }
        }
        if (isDivided) CHECK(owners == std::vector<int>(count, 1));
      }
}

TEST_CASE("only a list of PoCL's CPU and nothing else is told the driver") {
  CHECK(askedFor("", true) == 1);
  CHECK(askedFor("", false) == 0);
  CHECK(askedFor("cpu:0/2", false) == 2);
  CHECK(askedFor("pocl:0/4", false) == 4);
  CHECK(askedFor("cpu:0", false) == 1);
  CHECK(askedFor("cpu/2", false) == 0);
  CHECK(askedFor("cpu/2", true) == 2);
  CHECK(askedFor("cpu:0*2", false) == -2);
  CHECK(askedFor("pocl*3", true) == -3);
  for (const char* other : {"cpu:1", "gpu", "cpu:0,gpu", "any", "cpu:0/2*2", "cpu:0,cpu:0*2"})
    CHECK(askedFor(other, true) == 0);
}

TEST_CASE("the loader's files say whether another driver may have devices") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("hpl_vendors_{}", getpid());
  fs::create_directory(folder);
  const auto add = [&](const char* file, const char* library) {
    std::ofstream(folder / file) << library << "\n";
  };
  const Variable vendors("OCL_ICD_VENDORS", folder.string());
  CHECK(!ranks::isPoclAlone());
  add("pocl.icd", "libpocl.so.2.10.0");
  const bool isAlone = ranks::isPoclAlone();  // not beside a GPU
  add("mesa.icd", "libMesaOpenCL.so.1");
  CHECK(ranks::isPoclAlone() == isAlone);
  {
    const Variable rusticl("RUSTICL_ENABLE", "llvmpipe");
    CHECK(!ranks::isPoclAlone());
  }
  add("intel.icd", "/opt/intel/libintelocl.so");
  CHECK(!ranks::isPoclAlone());
  fs::remove_all(folder);
}

TEST_CASE(
    "a rank's threads and those of its driver keep to its own cores, unless it gets no devices") {
  if (cores() < 2 || coresAllowed() != std::set<unsigned>{cores()}) return;
  const auto reports = hpl_tests::inWorlds(2, [] {
    unsetenv("POCL_DEVICES");
    std::optional<CpuShare> share;
    share.emplace("pocl:0/2", ranks::world()->rank(), 2, ranks::Binding::OwnCores);
    const auto own = share->devices(runtime::takeInventory());
    const std::set<unsigned> inUse = coresAllowed();
    share.reset();
    if (!own) return std::string("not told");
    return fmt::format("{} and {} cores", fmt::join(inUse, ","), fmt::join(coresAllowed(), ","));
  });
  for (int rank = 0; rank < 2; ++rank) {
    const auto& report = reports[static_cast<std::size_t>(rank)];
    CHECK(report.thrown == "");
    if (report.said == "not told") continue;  // no PoCL
    const unsigned own = partsOfCpu(cores(), 2, rank, 2).front().cores;
    CHECK(report.said == fmt::format("{0} and {0} cores", own));
  }
  const auto unused = hpl_tests::inWorlds(2, [] {
    std::optional<CpuShare> share;
    share.emplace("pocl:0/2", ranks::world()->rank(), 2, ranks::Binding::OwnCores);
    const bool isBound = share->isBound();
    share.reset();
    return fmt::format("{}, then {} cores", isBound ? "bound" : "free",
                       fmt::join(coresAllowed(), ","));
  });
  for (const auto& report : unused)
    CHECK(report.said == fmt::format("bound, then {} cores", cores()));
}

TEST_CASE("PoCL has the threads of the rank's parts, which are the devices that it would deal") {
  if (cores() < 2) return;
  for (const int processes : {2, 3}) {
    if (cores() < static_cast<unsigned>(processes)) continue;
    const auto reports = hpl_tests::inWorlds(processes, [&] {
      unsetenv("POCL_DEVICES");
      return sharedOut("pocl:0", ranks::world()->rank(), processes);
    });
    for (int rank = 0; rank < processes; ++rank) {
      const auto& report = reports[static_cast<std::size_t>(rank)];
      CHECK(report.thrown == "");
      if (report.said == "not told") continue;  // no PoCL, or not alone
      const CpuPart part = partsOfCpu(cores(), 1, rank, processes).front();
      CHECK(report.said == fmt::format("{} threads: [part {}/{}] with {}", part.cores, rank + 1,
                                       processes, part.cores));
    }
  }
  // Devices of other drivers beside a CPU that is named change nothing.
  const auto beside = hpl_tests::inWorlds(2, [] {
    setenv("RUSTICL_ENABLE", "llvmpipe", 1);
    return sharedOut("pocl:0/2", ranks::world()->rank(), 2);
  });
  for (int rank = 0; rank < 2; ++rank) {
    const auto& report = beside[static_cast<std::size_t>(rank)];
    if (report.said == "not told") continue;  // no PoCL
    const unsigned own = partsOfCpu(cores(), 2, rank, 2).front().cores;
    CHECK(report.said == fmt::format("{} threads: [part {}/2] with {}", own, rank + 1, own));
  }
  // Copies have a share of the threads, and say that they are the whole CPU.
  const auto copies = hpl_tests::inWorlds(2, [] {
    unsetenv("POCL_DEVICES");
    return sharedOut("pocl:0*2", ranks::world()->rank(), 2);
  });
  for (int rank = 0; rank < 2; ++rank) {
    const auto& report = copies[static_cast<std::size_t>(rank)];
    CHECK(report.thrown == "");
    if (report.said == "not told") continue;  // no PoCL
    CHECK(report.said == fmt::format("{} threads: [copy {}/2] with {}",
                                     partsOfCpu(cores(), 2, rank, 2).front().cores, rank + 1,
                                     cores()));
  }
  const auto few =
      hpl_tests::inWorlds(3, [] { return sharedOut("pocl:0*2", ranks::world()->rank(), 3); });
  for (const auto& report : few) CHECK(report.said == "not told");
  const auto left = hpl_tests::inWorlds(2, [] {
    const Variable own("POCL_MAX_PTHREAD_COUNT", "1");
    return sharedOut("pocl:0/2", ranks::world()->rank(), 2);
  });
  for (const auto& report : left) CHECK(report.said == "not told");
  const auto unread =
      hpl_tests::inWorlds(2, [] { return sharedOut("pocl:0/zwei", ranks::world()->rank(), 2); });
  for (const auto& report : unread) CHECK(report.said == "not told");
}

}  // namespace cpu_share_tests
