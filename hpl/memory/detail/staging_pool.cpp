// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/staging_pool.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "hpl/memory/detail/host_memory.h"

namespace hpl::memory::detail {

namespace {

struct Block {
  HostBlock memory;
  std::size_t bytes = 0;
  cl::Event busyUntil;
  bool lent = false;
};

std::vector<Block>& pool() {
  static auto* blocks = new std::vector<Block>;
  return *blocks;
}

// A command that failed does not use its memory any more either.
bool isIdle(Block& block) {
  if (block.lent) return false;
  if (block.busyUntil() == nullptr) return true;
  cl_int status = CL_QUEUED;
  const cl_int code = clGetEventInfo(block.busyUntil(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                     sizeof status, &status, nullptr);
  if (code == CL_SUCCESS && status > CL_COMPLETE) return false;
  block.busyUntil = cl::Event();
  return true;
}

}  // namespace

StagingMemory::StagingMemory(std::size_t bytes) : block_(pool().size()) {
  // Powers of two, so that blocks fit again.
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(bytes, 4096));
  std::vector<Block>& blocks = pool();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].bytes == size && isIdle(blocks[i])) {
      block_ = i;
      break;
    }
  }
  if (block_ == blocks.size()) {
    blocks.push_back({HostBlock(size, HostMemory::Fast, "a transfer between devices"), size, {}});
  }
  blocks[block_].lent = true;
}

StagingMemory::~StagingMemory() { pool()[block_].lent = false; }

std::byte* StagingMemory::data() const noexcept { return pool()[block_].memory.data(); }

void StagingMemory::usedUntil(const cl::Event& event) { pool()[block_].busyUntil = event; }

void clearStagingPool() { pool().clear(); }

}  // namespace hpl::memory::detail
