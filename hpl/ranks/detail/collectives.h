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
  /// Whether start() may be called.
  virtual bool isReady() const { return true; }
  /// Posts the first messages. `over` is called once, when this rank's part is done.
  virtual void start(Post& post, std::function<void()> over) = 0;
  /// Tells the caller that it failed. The messages are given up already.
  virtual void fail(const std::exception_ptr& failure) = 0;
};

/// An allgather that is ready when this rank's bytes are given.
class LateAllgather : public Collective {
 public:
  virtual void give(std::vector<std::byte> own) = 0;
};

std::shared_ptr<Collective> makeAllgather(std::vector<std::byte> own, Courier::Gathered done);
std::shared_ptr<LateAllgather> makeLateAllgather(Courier::Gathered done);
std::shared_ptr<Collective> makeBroadcast(int root, std::span<std::byte> bytes, Courier::Done done);

/// The collective calls of this rank, one after the other: so the messages of every pair of ranks
/// match in the order of posting, however far each rank has come.
class Collectives {
 public:
  explicit Collectives(Post& post) : post_(post) {}
  void add(std::shared_ptr<Collective> collective);
  /// The first one may have become ready.
  void resume();
  bool isIdle() const noexcept { return waiting_.empty(); }
  /// Whether messages are under way.
  bool isMoving() const noexcept { return isStarted_; }
  void failAll(const std::exception_ptr& failure);

 private:
  Post& post_;
  std::deque<std::shared_ptr<Collective>> waiting_;
  bool isStarted_ = false;  // the first one
};

}  // namespace hpl::ranks
