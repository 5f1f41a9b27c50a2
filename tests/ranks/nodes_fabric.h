// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <memory>
#include <utility>

#include "counting_fabric.h"

namespace hpl_tests {

/// Memory for `nodes` nodes, shared by processes that are forked later.
inline std::shared_ptr<std::byte> memoryOfNodes(int nodes, std::size_t bytesOfEach) {
  const std::size_t bytes = static_cast<std::size_t>(nodes) * bytesOfEach;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [bytes](std::byte* all) { ::munmap(all, bytes); }};
}

/// Ranks of one machine that are told to be on several nodes, `perNode` of them on each, which
/// share no memory with those of other nodes.
class NodesFabric final : public CountingFabric {
 public:
  NodesFabric(std::unique_ptr<Fabric> inner, int perNode, std::shared_ptr<std::byte> memory)
      : CountingFabric(std::move(inner)), perNode_(perNode), memory_(std::move(memory)) {}

  int nodeOf(int rank) const override { return rank / perNode_; }
  std::shared_ptr<std::byte> shareOnNode(std::size_t bytes) override {
    if (memory_ == nullptr) return nullptr;
    return {memory_, memory_.get() + static_cast<std::size_t>(nodeOf(rank())) * bytes};
  }

 private:
  int perNode_;
  std::shared_ptr<std::byte> memory_;
};

}  // namespace hpl_tests
