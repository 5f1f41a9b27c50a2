// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/unit_locks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>

#include "hpl/runtime/device_state.h"
#include "hpl/runtime/settings.h"

namespace hpl::stencils {
namespace {

/// Also for programs of other users.
int openFile() {
  for (const char* path : {"/dev/shm/hpl-waiting-groups", "/tmp/hpl-waiting-groups"}) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) {
      file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      // Other processes need the rights that the mask of this one forbids.
      if (file >= 0) fchmod(file, 0666);
      if (file < 0 && errno == EEXIST) file = open(path, O_RDWR | O_CLOEXEC);
    }
    if (file >= 0) return file;
  }
  return -1;
}

/// The bytes that stand for the device's units.
std::vector<off_t> bytesOf(const Device& device) {
  std::vector<off_t> bytes;
  const DeviceProperties properties = device.getProperties();
  if (properties.type == CPU) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return bytes;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed)) bytes.push_back(cpu);
    return bytes;
  }
  constexpr off_t kMostUnits = 4096;
  // The same in all programs of one standard library.
  const std::size_t name =
      std::hash<std::string>()(fmt::format("{} {}", properties.name, properties.pciAddress));
  const auto begin = static_cast<off_t>(1 + name % 1'000'000) * kMostUnits;
  for (off_t unit = 0; unit < static_cast<off_t>(device.state().physicalUnits()); ++unit)
    bytes.push_back(begin + unit % kMostUnits);
  return bytes;
}

enum class Locked { Yes, No, NoLocks };

Locked lock(int file, off_t byte) {
  struct flock wish = {};
  wish.l_type = F_WRLCK;
  wish.l_whence = SEEK_SET;
  wish.l_start = byte;
  wish.l_len = 1;
  if (fcntl(file, F_OFD_SETLK, &wish) == 0) return Locked::Yes;
  return errno == EAGAIN || errno == EACCES ? Locked::No : Locked::NoLocks;
}

}  // namespace

bool UnitLocks::take(const Device& device, std::int64_t count) {
  if (runtime::settings().units == runtime::Units::Own) return true;
  if (file_ < 0) file_ = openFile();
  if (file_ < 0) return true;
  const std::vector<off_t> bytes = bytesOf(device);
  if (static_cast<std::int64_t>(bytes.size()) < count) return true;
  for (const off_t byte : bytes) {
    if (count == 0) break;
    if (std::find(taken_.begin(), taken_.end(), byte) != taken_.end()) continue;
    const Locked locked = lock(file_, byte);
    if (locked == Locked::NoLocks) return true;
    if (locked == Locked::No) continue;
    taken_.push_back(byte);
    --count;
  }
  return count == 0;
}

UnitLocks::~UnitLocks() {
  if (file_ >= 0) close(file_);
}

}  // namespace hpl::stencils
