// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/courier.h"

#include <utility>

#include "hpl/error.h"
#include "hpl/ranks/detail/courier_thread.h"

namespace hpl::ranks {
namespace {

/// Waits for what a callback brings.
template <class T>
class Outcome {
 public:
  void set(std::exception_ptr failure, T value) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    value_ = std::move(value);
    isThere_ = true;
    there_.notify_one();  // under the lock: the waiter destroys this
  }
  T take() {
    std::unique_lock lock(mutex_);
    there_.wait(lock, [this] { return isThere_; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::move(value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_;
  std::exception_ptr failure_;
  T value_{};
  bool isThere_ = false;
};

}  // namespace

class Courier::Impl : public CourierThread {
 public:
  using CourierThread::CourierThread;
};

Courier::Courier(const MakeFabric& make, Waiting waiting)
    : impl_(std::make_unique<Impl>(make, waiting)) {}

Courier::~Courier() { leave(); }

int Courier::rank() const noexcept { return impl_->rank(); }

int Courier::size() const noexcept { return impl_->size(); }

int Courier::nodeOf(int rank) const { return impl_->nodeOf(rank); }

void Courier::send(int to, PartsOut bytes, Done done, Channel channel) {
  CourierThread::Errand errand;
  errand.kind = CourierThread::Errand::Send;
  errand.peer = to;
  errand.channel = channel;
  errand.out = std::move(bytes);
  errand.done = std::move(done);
  impl_->post(std::move(errand));
}

void Courier::receive(int from, PartsIn bytes, Done done, Channel channel) {
  CourierThread::Errand errand;
  errand.kind = CourierThread::Errand::Receive;
  errand.peer = from;
  errand.channel = channel;
  errand.in = std::move(bytes);
  errand.done = std::move(done);
  impl_->post(std::move(errand));
}

void Courier::awaitWord(int peer, const std::atomic<std::uint64_t>& word, std::uint64_t value,
                        std::function<void(const std::exception_ptr&)> done) {
  impl_->awaitWord(peer, word, value, std::move(done));
}

void Courier::watch(Look look) { impl_->watch(std::move(look)); }

Window* Courier::window() noexcept { return impl_->window(); }

void Courier::startAllgather(std::span<const std::byte> own, Gathered done) {
  impl_->startCollective(makeAllgather({own.begin(), own.end()}, std::move(done)));
}

void Courier::startBroadcast(int root, std::span<std::byte> bytes, Done done) {
  impl_->startCollective(makeBroadcast(root, bytes, std::move(done)));
}

Courier::Give Courier::startLateAllgather(Gathered done) {
  const std::shared_ptr<LateAllgather> collective = makeLateAllgather(std::move(done));
  impl_->startCollective(collective);
  return [impl = impl_.get(), collective](std::vector<std::byte> own) {
    impl->give(collective, std::move(own));
  };
}

Courier::Blobs Courier::allgather(std::span<const std::byte> own) {
  impl_->requireOtherThread();
  Outcome<Blobs> outcome;
  startAllgather(own, [&](std::exception_ptr failure, Blobs blobs) {
    outcome.set(std::move(failure), std::move(blobs));
  });
  return outcome.take();
}

void Courier::broadcast(int root, std::span<std::byte> bytes) {
  impl_->requireOtherThread();
  Outcome<std::size_t> outcome;
  startBroadcast(root, bytes, [&](std::exception_ptr failure, std::size_t count) {
    outcome.set(std::move(failure), count);
  });
  outcome.take();
}

bool Courier::allAgree(bool own) {
  const std::byte word{own};
  bool all = true;
  for (const auto& blob : allgather({&word, 1})) all = all && blob.at(0) == std::byte{1};
  return all;
}

void Courier::fail(const std::string& operation, const std::string& text) {
  impl_->fail(Failure{rank(), operation, text});
}

void Courier::awaitTold(std::chrono::milliseconds most) const noexcept { impl_->awaitTold(most); }

bool Courier::hasFailed() const noexcept { return impl_->hasFailed(); }

void Courier::check() const {
  if (impl_->hasFailed()) [[unlikely]]
    impl_->raise();
}

void Courier::answerWith(std::function<std::string()> where) {
  impl_->answerWith(std::move(where));
}

void Courier::ask(int rank, std::function<void(std::exception_ptr, std::string)> answer) {
  impl_->ask(rank, std::move(answer));
}

void Courier::leave() noexcept { impl_->leave(); }

}  // namespace hpl::ranks
