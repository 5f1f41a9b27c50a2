// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hpl/ranks/courier.h"
#include "hpl/ranks/detail/post.h"

namespace hpl::ranks {

/// A collective call under way on this rank.
class Collective {
 public:
  virtual ~Collective() = default;
  /// Posts the first messages. `over` is called once, when this rank's part is done.
  virtual void start(Post& post, std::function<void()> over) = 0;
  /// Tells the caller that it failed. The messages are given up already.
  virtual void fail(const std::exception_ptr& failure) = 0;
};

std::shared_ptr<Collective> makeAllgather(std::vector<std::byte> own, Courier::Gathered done);
std::shared_ptr<Collective> makeBroadcast(int root, std::span<std::byte> bytes, Courier::Done done);

/// The collective calls of this rank, one after the other: so the messages of every pair of ranks
/// match in the order of posting, however far each rank has come.
class Collectives {
 public:
  explicit Collectives(Post& post) : post_(post) {}
  void add(std::shared_ptr<Collective> collective);
  bool isIdle() const noexcept { return waiting_.empty(); }
  void failAll(const std::exception_ptr& failure);

 private:
  void startFirst();

  Post& post_;
  std::deque<std::shared_ptr<Collective>> waiting_;
};

}  // namespace hpl::ranks
