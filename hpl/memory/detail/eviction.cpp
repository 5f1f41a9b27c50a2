// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "hpl/error.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/spill.h"
#include "hpl/runtime/events.h"

namespace hpl::memory::detail {

namespace {

// Replicas that may leave the device, least recently used first, `growing` last.
std::vector<Replica*> candidates(const DeviceMemory& memory, const Replica* growing) {
  std::vector<Replica*> result;
  for (Replica* replica : memory.replicas) {
    if (!replica->zeroCopy && replica->pins == 0 && replica->buffer() != nullptr &&
        !isHeldByOthers(replica->root->state()))
      result.push_back(replica);
  }
  std::stable_sort(result.begin(), result.end(), [&](const Replica* a, const Replica* b) {
    if ((a == growing) != (b == growing)) return b == growing;
    return a->lastUse() < b->lastUse();
  });
  return result;
}

std::string describeResidents(const std::vector<AllocationError::Resident>& residents) {
  constexpr std::size_t kMostListed = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(residents.size(), kMostListed); ++i) {
    text +=
        fmt::format("{}{} {} bytes", i == 0 ? "" : ", ", residents[i].label, residents[i].bytes);
  }
  if (residents.size() > kMostListed) {
    text += fmt::format(" and {} more", residents.size() - kMostListed);
  }
  return text;
}

[[noreturn]] void throwTooLarge(const DeviceState& device, const Root& root, std::size_t bytes) {
  throw AllocationError(
      fmt::format("{} needs {} bytes on device \"{}\", whose largest single array is {} bytes; use "
                  "a smaller part of the array at a time (a view), or distribute it over several "
                  "devices",
                  root.describe(), bytes, device.name(), device.maxAllocation()),
      CL_MEM_OBJECT_ALLOCATION_FAILURE, {});
}

[[noreturn]] void throwFull(const DeviceMemory& memory, const Root& root, std::size_t bytes,
                            cl_int code) {
  std::vector<AllocationError::Resident> residents;
  std::size_t taken = 0;
  for (const Replica* replica : memory.replicas) {
    if (replica->zeroCopy || replica->buffer() == nullptr) continue;
    const std::string& label = replica->root->label();
    std::string name = label.empty() ? "unnamed" : fmt::format("\"{}\"", label);
    if (replica->box != replica->root->state().wholeBox()) name += " " + replica->box.toString();
    residents.push_back({std::move(name), replica->bytes});
    taken += replica->bytes;
  }
  std::stable_sort(residents.begin(), residents.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  const DeviceState& device = memory.device;
  const std::string message = fmt::format(
      "{} needs {} bytes on device \"{}\", which has a limit of {} bytes; {} of them are taken by "
      "arrays that this launch needs or that are in use ({}); no data is lost; use smaller parts "
      "of "
      "the arrays at a time (views), or distribute them over several devices",
      root.describe(), bytes, device.name(), device.memoryLimit(), taken,
      residents.empty() ? "none" : describeResidents(residents));
  throw AllocationError(message, code, std::move(residents));
}

// Makes room by one replica.
enum class Progress { Made, Waited, Nothing };
Progress spillOne(Lock& lock, DeviceMemory& memory, const Replica* growing) {
  const std::vector<Replica*> order = candidates(memory, growing);
  if (order.empty()) return Progress::Nothing;
  // Cells that the hosts have as well cost nothing.
  const auto isFree = [](const Replica* replica) { return neededOf(*replica).empty(); };
  const auto free = std::find_if(order.begin(), order.end(), isFree);
  Replica& chosen = free != order.end() ? **free : *order.front();
  const bool waits = free == order.end() || &chosen == growing;
  Hold hold;
  RootState* const roots[] = {&chosen.root->state()};
  hold.take(lock, roots);
  spill(lock, chosen);
  return waits ? Progress::Waited : Progress::Made;
}

// Where the device works in the process's memory, that is placed better than the driver would.
cl_int create(const DeviceMemory& memory, std::size_t bytes, cl::Buffer& buffer) {
  const cl_context context = memory.device.context()();
  PlacedMemory placed;
  cl_mem_flags flags = CL_MEM_READ_WRITE;
  if (memory.sharesHostMemory) {
    placed = allocatePlaced(bytes);
    if (placed.data == nullptr) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    flags |= CL_MEM_USE_HOST_PTR;
  }
  cl_int code = CL_SUCCESS;
  const cl_mem object = clCreateBuffer(context, flags, bytes, placed.data, &code);
  if (code == CL_SUCCESS) {
    buffer = cl::Buffer(object);
    if (placed.allocated == nullptr) return code;
    // Commands that are under way use the memory longer than the replica lives.
    const auto give = [](cl_mem, void* allocated) { std::free(allocated); };
    code = clSetMemObjectDestructorCallback(object, give, placed.allocated);
    if (code != CL_SUCCESS) buffer = cl::Buffer();
  }
  if (code != CL_SUCCESS) std::free(placed.allocated);
  return code;
}

bool isOutOfMemory(cl_int code) {
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
         code == CL_OUT_OF_HOST_MEMORY;
}

// Whether evicting everything that may leave would make room under the limit; if not, nothing is
// evicted at all.
bool evictionHelps(const DeviceMemory& memory, std::size_t bytes) {
  std::size_t evictable = 0;
  for (const Replica* replica : memory.replicas) {
    if (replica->pins == 0) evictable += replica->bytes;
  }
  const DeviceState& device = memory.device;
  return device.memoryUsed() - std::min(evictable, device.memoryUsed()) + bytes <=
         device.memoryLimit();
}

}  // namespace

bool allocate(Lock& lock, DeviceMemory& memory, const Root& root, std::size_t bytes,
              const Replica* growing, cl::Buffer& buffer) {
  DeviceState& device = memory.device;
  if (bytes > device.maxAllocation()) throwTooLarge(device, root, bytes);
  for (;;) {
    cl_int code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    const bool withinLimit = device.reserve(bytes);
    if (withinLimit) {
      code = create(memory, bytes, buffer);
      if (code == CL_SUCCESS) return true;
      device.release(bytes);
      if (!isOutOfMemory(code)) {
        runtime::check(code, "clCreateBuffer", &device, runtime::Concern::array(root.label()));
      }
    }
    if (!evictionHelps(memory, bytes)) throwFull(memory, root, bytes, code);
    switch (spillOne(lock, memory, growing)) {
      case Progress::Made:
        if (!withinLimit) break;
        // The driver is out of memory: what was given up is free once no command uses it any more.
        blockOn(lock, {{memory.compute.eventFor(memory.compute.last()), &memory.device}}, root);
        return false;
      case Progress::Waited:
        return false;
      case Progress::Nothing:
        throwFull(memory, root, bytes, code);
    }
  }
}

}  // namespace hpl::memory::detail
