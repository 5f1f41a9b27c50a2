// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "hpl/ranks/fabric.h"

namespace hpl_tests {

/// The messages that this process has sent since it began: those of arrays, where nothing else is
/// said.
struct Sent {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> bytes{0};  ///< with a header of 128 bytes for each message
  /// Messages from several places of memory.
  std::atomic<std::uint64_t> scattered{0};
  /// Messages of collective calls.
  std::atomic<std::uint64_t> collective{0};
  /// Messages of running kernels.
  std::atomic<std::uint64_t> rims{0};
};
inline Sent& sent() {
  static Sent counts;
  return counts;
}

/// Counts messages with cells in sent().
class CountingFabric : public hpl::ranks::Fabric {
 public:
  using Channel = hpl::ranks::Channel;

  explicit CountingFabric(std::unique_ptr<Fabric> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int nodeOf(int rank) const override { return inner_->nodeOf(rank); }
  Request send(int to, Channel channel, const hpl::ranks::PartsOut& bytes) override {
    if (channel == Channel::Collective) ++sent().collective;
    if (channel == Channel::Rims) ++sent().rims;
    if (channel == Channel::Cells) {
      ++sent().messages;
      sent().bytes += bytes.size();
      if (bytes.list().size() > 1) ++sent().scattered;
    }
    return inner_->send(to, channel, bytes);
  }
  Request receive(int from, Channel channel, const hpl::ranks::PartsIn& bytes) override {
    return inner_->receive(from, channel, bytes);
  }
  bool poll(std::vector<Completion>& ended) override { return inner_->poll(ended); }
  void findLosses(std::vector<Loss>& found) override { inner_->findLosses(found); }
  void abandon() override { inner_->abandon(); }

 protected:
  Fabric& inner() noexcept { return *inner_; }

 private:
  std::unique_ptr<Fabric> inner_;
};

}  // namespace hpl_tests
