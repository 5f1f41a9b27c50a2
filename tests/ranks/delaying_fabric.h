// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "hpl/ranks/fabric.h"

namespace hpl_tests {

/// A fabric that holds messages back, each for a random time, so that those of different pairs and
/// channels overtake each other; and that may do something at the n-th message it sends.
class DelayingFabric : public hpl::ranks::Fabric {
 public:
  using Channel = hpl::ranks::Channel;

  DelayingFabric(std::unique_ptr<Fabric> inner, std::uint64_t seed,
                 std::chrono::microseconds longest, int mishapAt = -1,
                 std::function<void()> mishap = {})
      : inner_(std::move(inner)),
        random_(seed + static_cast<std::uint64_t>(inner_->rank())),
        longest_(longest),
        mishap_(std::move(mishap)),
        mishapAt_(mishapAt) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int nodeOf(int rank) const override { return inner_->nodeOf(rank); }

  Request send(int to, Channel channel, const hpl::ranks::PartsOut& bytes) override {
    countMessage();
    const Request request = next_++;
    held_[{to, channel}].push_back({request, bytes, someTimeFromNow()});
    return request;
  }
  Request receive(int from, Channel channel, const hpl::ranks::PartsIn& bytes) override {
    outer_[inner_->receive(from, channel, bytes)] = {next_, channel};
    return next_++;
  }
  bool poll(std::vector<Completion>& ended) override {
    bool moved = false;
    for (auto& [lane, queue] : held_) {
      for (; !queue.empty() && queue.front().due <= Clock::now(); queue.pop_front(), moved = true)
        outer_[inner_->send(lane.first, lane.second, queue.front().bytes)] = {queue.front().request,
                                                                              lane.second};
    }
    inside_.clear();
    moved |= inner_->poll(inside_);
    for (const Completion& completion : inside_) {
      const auto it = outer_.find(completion.request);
      ended.push_back({it->second.first, completion.bytes});
      outer_.erase(it);
    }
    return moved;
  }
  void findLosses(std::vector<Loss>& found) override { inner_->findLosses(found); }
  void abandon() override {
    for (auto& [lane, queue] : held_)
      if (lane.second != Channel::Control) queue.clear();
    std::erase_if(outer_,
                  [](const auto& entry) { return entry.second.second != Channel::Control; });
    inner_->abandon();
  }

 protected:
  using Clock = std::chrono::steady_clock;

  Fabric& inner() noexcept { return *inner_; }
  Clock::time_point someTimeFromNow() {
    return Clock::now() + std::chrono::microseconds(
                              std::uniform_int_distribution<long>(0, longest_.count())(random_));
  }
  /// The mishap happens when its turn comes.
  void countMessage() {
    if (mishapAt_ >= 0 && mishapAt_-- == 0) mishap_();
  }

 private:
  struct Held {
    Request request;
    hpl::ranks::PartsOut bytes;
    Clock::time_point due;
  };

  std::unique_ptr<Fabric> inner_;
  std::mt19937_64 random_;
  std::chrono::microseconds longest_;
  std::function<void()> mishap_;
  int mishapAt_;
  std::map<std::pair<int, Channel>, std::deque<Held>> held_;
  /// The number and channel, for the caller, of each request of the inner fabric.
  std::map<Request, std::pair<Request, Channel>> outer_;
  std::vector<Completion> inside_;
  Request next_ = 0;
};

}  // namespace hpl_tests
