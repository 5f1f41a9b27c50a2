// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "counting_fabric.h"

namespace hpl_tests {

/// Ranks of one machine that are told to be on several nodes, `perNode` of them on each, which share
/// no memory with those of other nodes.
class NodesFabric final : public CountingFabric {
 public:
  NodesFabric(std::unique_ptr<Fabric> inner, int perNode)
      : CountingFabric(std::move(inner)), perNode_(perNode) {}

  int nodeOf(int rank) const override { return rank / perNode_; }
  std::shared_ptr<std::byte> shareOnNode(std::size_t bytes) override {
    constexpr std::size_t kPage = 4096;
    bytes = (bytes + kPage - 1) / kPage * kPage;
    const auto nodes = static_cast<std::size_t>(nodeOf(size() - 1) + 1);
    const std::shared_ptr<std::byte> all = inner().shareOnNode(nodes * bytes);
    if (all == nullptr) return nullptr;
    return {all, all.get() + static_cast<std::size_t>(nodeOf(rank())) * bytes};
  }

 private:
  int perNode_;
};

}  // namespace hpl_tests
