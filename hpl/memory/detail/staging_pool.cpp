// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/staging_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "hpl/memory/detail/host_memory.h"
#include "hpl/runtime/relay.h"

namespace hpl::memory::detail {

struct StagingBlock {
  HostBlock memory;
  cl::Event busyUntil;
  runtime::DeviceState* usedBy = nullptr;  // runs that command
  bool lent = false;
};

namespace {

// The blocks of one size in the order in which they were lent: the oldest, which is the first to be
// idle, comes next.
struct Ring {
  std::vector<std::unique_ptr<StagingBlock>> blocks;
  std::size_t next = 0;
};

// By the logarithm of the size.
std::array<Ring, 64>& pool() {
  static auto* rings = new std::array<Ring, 64>;
  return *rings;
}

// A command that failed does not use its memory any more either.
bool isIdle(StagingBlock& block) {
  if (block.lent) return false;
  if (block.busyUntil() == nullptr) return true;
  cl_int status = CL_QUEUED;
  const cl_int code = clGetEventInfo(block.busyUntil(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                     sizeof status, &status, nullptr);
  return code == CL_SUCCESS && status <= CL_COMPLETE;
}

// This much memory of one size is enough to keep the devices busy; a few transfers always are.
bool isEnough(const Ring& ring, std::size_t size) {
  constexpr std::size_t kEnoughBytes = std::size_t{2} << 20;
  constexpr std::size_t kFew = 8;
  return ring.blocks.size() >= kFew && ring.blocks.size() * size >= kEnoughBytes;
}

bool canWaitFor(const StagingBlock& block, runtime::DeviceState& waiter) {
  return !block.lent && (waiter.sharesContextWith(*block.usedBy) || waiter.honoursUserEvents());
}

}  // namespace

StagingMemory::StagingMemory(std::size_t bytes, runtime::DeviceState& first) : first_(first) {
  // Powers of two, so that blocks fit again.
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(bytes, 4096));
  Ring& ring = pool()[static_cast<std::size_t>(std::countr_zero(size))];
  if (ring.next >= ring.blocks.size()) ring.next = 0;
  isBusy_ = !ring.blocks.empty() && !isIdle(*ring.blocks[ring.next]);
  const bool waits = isBusy_ && isEnough(ring, size) && canWaitFor(*ring.blocks[ring.next], first);
  if (ring.blocks.empty() || (isBusy_ && !waits)) {
    auto fresh = std::make_unique<StagingBlock>();
    fresh->memory = HostBlock(size, HostMemory::Fast, "a transfer between devices");
    ring.blocks.insert(ring.blocks.begin() + static_cast<std::ptrdiff_t>(ring.next),
                       std::move(fresh));
    isBusy_ = false;
  }
  block_ = ring.blocks[ring.next++].get();
  block_->lent = true;
}

StagingMemory::StagingMemory(StagingMemory&& other) noexcept
    : block_(std::exchange(other.block_, nullptr)), first_(other.first_), isBusy_(other.isBusy_) {}

StagingMemory::~StagingMemory() {
  if (block_ != nullptr) block_->lent = false;
}

std::byte* StagingMemory::data() const noexcept { return block_->memory.data(); }

void StagingMemory::addWaits(std::vector<cl::Event>& waits) const {
  if (!isBusy_) return;
  const cl::Event& event = block_->busyUntil;
  waits.push_back(first_.sharesContextWith(*block_->usedBy)
                      ? event
                      : runtime::relay(event, *block_->usedBy, first_));
}

void StagingMemory::usedUntil(const cl::Event& event, runtime::DeviceState& device) {
  block_->busyUntil = event;
  block_->usedBy = &device;
}

void clearStagingPool() {
  for (Ring& ring : pool()) ring = Ring();
}

}  // namespace hpl::memory::detail
