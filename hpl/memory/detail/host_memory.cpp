// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/host_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "hpl/error.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/runtime.h"

namespace hpl::memory::detail {

using runtime::DeviceState;

namespace {

constexpr std::size_t kPage = 4096;
/// From this size on a page more does not matter, and arrays do not fit into the first cache.
constexpr std::size_t kLargeBlock = 16 * kPage;

/// Where in its page the next large block begins: multiples of the golden section keep any few that
/// were made one after another apart.
std::size_t nextPlace() noexcept {
  constexpr std::size_t kGoldenSection = 1565;  // of a page
  static std::atomic<std::size_t> blocks{0};
  const std::size_t place = blocks.fetch_add(1, std::memory_order_relaxed) * kGoldenSection % kPage;
  return place / DeviceState::hostAlignment * DeviceState::hostAlignment;
}

}  // namespace

PlacedMemory allocatePlaced(std::size_t bytes) noexcept {
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * kPage) return {};
  const bool isLarge = bytes >= kLargeBlock;
  const std::size_t alignment = isLarge ? kPage : DeviceState::hostAlignment;
  const std::size_t place = isLarge ? nextPlace() : 0;
  const std::size_t rounded = (place + bytes + alignment - 1) / alignment * alignment;
  void* allocated = std::aligned_alloc(alignment, rounded);
  if (allocated == nullptr) return {};
  return {static_cast<std::byte*>(allocated) + place, allocated};
}

HostBlock::HostBlock(std::size_t bytes, HostMemory kind, const std::string& owner) {
  if (kind == HostMemory::Fast && !runtime::isDryRun() && allocatePinned(bytes)) return;
  // A rank touches the cells that it needs, of an array that no machine may be able to hold.
  if ((runtime::isDryRun() || runtime::hasRanks()) && allocatePages(bytes)) return;
  const PlacedMemory memory = allocatePlaced(bytes);
  if (memory.data == nullptr) {
    throw AllocationError(fmt::format("{} needs {} bytes of host memory, which the system does not "
                                      "give; make the array smaller, or free others first",
                                      owner, bytes),
                          0, {});
  }
  data_ = memory.data;
  allocated_ = memory.allocated;
  // The values that devices would have computed read as zeros there; pages are zeros anyhow.
  if (runtime::isDryRun()) std::memset(data_, 0, bytes);
}

// Arrays of a dry run may be larger than the memory of the machine that plans it.
bool HostBlock::allocatePages(std::size_t bytes) noexcept {
  if (bytes < kLargeBlock) return false;
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(pages);
  pages_ = bytes;
  return true;
}

bool HostBlock::clear() noexcept {
  return pages_ > 0 && madvise(data_, pages_, MADV_DONTNEED) == 0;
}

void HostBlock::release(std::size_t begin, std::size_t end) noexcept {
  begin = (begin + kPage - 1) / kPage * kPage;
  end = std::min(end, pages_) / kPage * kPage;
  if (begin < end) madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

bool HostBlock::allocatePinned(std::size_t bytes) {
  try {
    for (const auto& device : runtime::Runtime::get().devices()) {
      if (device->type() != GPU || !device->isLocal()) continue;
      cl_int code = CL_SUCCESS;
      buffer_ = cl::Buffer(clCreateBuffer(
          device->context()(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &code));
      runtime::check(code, "clCreateBuffer", device.get());
      // Those of the device may hold commands that wait for another rank, which waits for this one.
      const cl::CommandQueue queue(device->context(), device->device(),
                                   cl_command_queue_properties{0}, &code);
      runtime::check(code, "clCreateCommandQueue", device.get());
      void* mapped = clEnqueueMapBuffer(queue(), buffer_(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                        bytes, 0, nullptr, nullptr, &code);
      runtime::check(code, "clEnqueueMapBuffer", device.get());
      data_ = static_cast<std::byte*>(mapped);
      device_ = device.get();
      return true;
    }
  } catch (const Error& error) {
    // Pinned memory is an optimisation and scarce: ordinary memory does as well.
    runtime::log::info(fmt::format("no page-locked memory: {}", error.what()));
    buffer_ = cl::Buffer();
  }
  return false;
}

std::shared_ptr<std::byte> HostBlock::pinned(std::size_t bytes) {
  auto block = std::make_shared<HostBlock>();
  if (!block->allocatePinned(bytes)) return nullptr;
  return {block, block->data()};
}

HostBlock::HostBlock(HostBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      allocated_(std::exchange(other.allocated_, nullptr)),
      pages_(std::exchange(other.pages_, 0)),
      buffer_(std::move(other.buffer_)),
      device_(std::exchange(other.device_, nullptr)) {}

HostBlock& HostBlock::operator=(HostBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(allocated_, other.allocated_);
  std::swap(pages_, other.pages_);
  std::swap(buffer_, other.buffer_);
  std::swap(device_, other.device_);
  return *this;
}

HostBlock::~HostBlock() {
  if (device_ == nullptr) {
    if (pages_ > 0) munmap(data_, pages_);
    std::free(allocated_);
    return;
  }
  if (runtime::Runtime::isShutDown()) {
    buffer_() = nullptr;  // the driver is gone; the process is about to end
    return;
  }
  if (clEnqueueUnmapMemObject(device_->transferQueue()(), buffer_(), data_, 0, nullptr, nullptr) ==
      CL_SUCCESS) {
    runtime::flushed(device_->transferQueue());
  }
}

}  // namespace hpl::memory::detail
