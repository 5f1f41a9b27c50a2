// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/peer_relay.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "hpl/memory/detail/journey.h"
#include "hpl/memory/detail/session.h"

namespace hpl::memory {
namespace {

using detail::Journey;

/// The head of each message.
struct Head {
  std::uint32_t flag = 0;
  std::int32_t value = 0;
};
/// Head::flag: there are no more messages.
constexpr std::uint32_t kLast = ~std::uint32_t{0};

std::atomic_ref<std::int32_t> wordOf(const PeerFlag& flag) {
  return std::atomic_ref<std::int32_t>(*reinterpret_cast<std::int32_t*>(flag.flag));
}

const std::vector<PeerRows>* turnOf(const PeerFlag& flag, std::int32_t value, std::int32_t raised) {
  if (flag.turns.empty()) return nullptr;
  const std::int32_t number = flag.turn == PeerFlag::Turn::ByValue ? value : value - raised - 1;
  return &flag.turns[static_cast<std::size_t>(number) % flag.turns.size()];
}

std::size_t bytesOf(const std::vector<PeerRows>& rows) {
  std::size_t bytes = 0;
  for (const PeerRows& own : rows) bytes += own.bytes();
  return bytes;
}

/// Calls code(row) for each row, in an order that both ends know.
template <class Code>
void forRows(const std::vector<PeerRows>& rows, Code code) {
  for (const PeerRows& own : rows)
    for (std::size_t i = 0; i < own.counts[0]; ++i)
      for (std::size_t j = 0; j < own.counts[1]; ++j)
        code(own.first + i * own.strides[0] + j * own.strides[1], own.rowBytes);
}

std::size_t largestMessage(const PeerStream& stream) {
  std::size_t most = 0;
  for (const PeerFlag& flag : stream.flags)
    for (const std::vector<PeerRows>& turn : flag.turns) most = std::max(most, bytesOf(turn));
  return sizeof(Head) + most;
}

}  // namespace

/// Its own thread is the courier's, which makes all looks and all callbacks.
class PeerRelay::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(std::shared_ptr<const PeerStreams> streams, std::int32_t raised, ranks::Courier& courier)
      : courier_(courier), streams_(std::move(streams)), raised_(raised) {
    buffers_.resize(streams_->incoming.size());
    open_ = streams_->incoming.size();
    for (const PeerStream& stream : streams_->outgoing) {
      std::vector<std::int32_t>& carried = carried_.emplace_back();
      for (const PeerFlag& flag : stream.flags)
        carried.push_back(flag.isLess ? raised - 1 : raised);
    }
  }

  void start() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i].resize(largestMessage(streams_->incoming[i]));
      receive(i);
    }
    courier_.watch([self = shared_from_this()](const std::exception_ptr& failure) {
      return self->look(failure);
    });
  }

  void finish() {
    kernelsEnded_.store(true, std::memory_order_release);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return isSaid_ && open_ == 0 && underWay_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

  std::uint64_t messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

 private:
  struct Message {
    std::vector<std::byte> bytes;
    std::optional<Journey> journey;
  };
  using SharedMessage = std::shared_ptr<Message>;

  bool look(const std::exception_ptr& failure) {
    if (failure) {
      fail(failure);
      // Groups here would wait for what does not come any more.
      for (const PeerStream& stream : streams_->outgoing)
        for (const PeerFlag& flag : stream.flags)
          if (flag.isLess) wordOf(flag).store(raised_, std::memory_order_release);
      return say();
    }
    // From here on, the last stores of the kernels are seen.
    const bool isLast = kernelsEnded_.load(std::memory_order_acquire);
    for (std::size_t s = 0; s < carried_.size(); ++s)
      for (std::size_t f = 0; f < carried_[s].size(); ++f) carry(s, f);
    if (!isLast) return true;
    for (const PeerStream& stream : streams_->outgoing) send(stream.rank, {kLast, 0}, nullptr);
    return say();
  }

  bool say() {
    const std::lock_guard lock(mutex_);
    isSaid_ = true;
    changed_.notify_all();
    return false;
  }

  void carry(std::size_t s, std::size_t f) {
    const PeerStream& stream = streams_->outgoing[s];
    const PeerFlag& flag = stream.flags[f];
    std::int32_t& carried = carried_[s][f];
    const std::int32_t now = wordOf(flag).load(std::memory_order_acquire);
    while (carried < now) {
      ++carried;
      send(stream.rank, {static_cast<std::uint32_t>(f), carried}, turnOf(flag, carried, raised_));
    }
  }

  void send(int rank, const Head& head, const std::vector<PeerRows>* rows) {
    SharedMessage message = freeMessage();
    message->bytes.resize(sizeof head + (rows != nullptr ? bytesOf(*rows) : 0));
    message->journey = Journey::to(rank, message->bytes.size() - sizeof head);
    std::byte* to = message->bytes.data();
    std::memcpy(to, &head, sizeof head);
    to += sizeof head;
    if (rows != nullptr)
      forRows(*rows, [&](const std::byte* row, std::size_t bytes) {
        std::memcpy(to, row, bytes);
        to += bytes;
      });
    {
      const std::lock_guard lock(mutex_);
      ++underWay_;
      if (head.flag != kLast) ++messages_;
    }
    message->journey->advance(Journey::State::BeingSent);
    courier_.send(
        rank, message->bytes,
        [self = shared_from_this(), message](const std::exception_ptr& failure, std::size_t) {
          self->sent(message, failure);
        },
        ranks::Channel::Rims);
  }

  void sent(const SharedMessage& message, const std::exception_ptr& failure) {
    message->journey->advance(Journey::State::Sent);
    free_.push_back(message);
    if (failure) fail(failure);
    const std::lock_guard lock(mutex_);
    --underWay_;
    changed_.notify_all();
  }

  SharedMessage freeMessage() {
    if (free_.empty()) return std::make_shared<Message>();
    SharedMessage message = std::move(free_.back());
    free_.pop_back();
    return message;
  }

  void receive(std::size_t i) {
    courier_.receive(
        streams_->incoming[i].rank, buffers_[i],
        [self = shared_from_this(), i](const std::exception_ptr& failure, std::size_t) {
          self->received(i, failure);
        },
        ranks::Channel::Rims);
  }

  void received(std::size_t i, const std::exception_ptr& failure) {
    Head head{kLast, 0};
    if (failure) {
      fail(failure);
    } else {
      std::memcpy(&head, buffers_[i].data(), sizeof head);
    }
    if (head.flag == kLast) {
      const std::lock_guard lock(mutex_);
      --open_;
      return changed_.notify_all();
    }
    const PeerFlag& flag = streams_->incoming[i].flags.at(head.flag);
    const std::byte* from = buffers_[i].data() + sizeof head;
    if (const std::vector<PeerRows>* rows = turnOf(flag, head.value, raised_))
      forRows(*rows, [&](std::byte* row, std::size_t bytes) {
        std::memcpy(row, from, bytes);
        from += bytes;
      });
    wordOf(flag).store(head.value, std::memory_order_release);
    receive(i);
  }

  void fail(const std::exception_ptr& failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
  }

  ranks::Courier& courier_;
  std::shared_ptr<const PeerStreams> streams_;
  std::int32_t raised_;
  /// The values of outgoing flags that were sent last.
  std::vector<std::vector<std::int32_t>> carried_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<SharedMessage> free_;
  std::atomic<bool> kernelsEnded_{false};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  /// Incoming streams that have not ended, messages that were not sent yet, and whether all streams
  /// from here have ended.
  std::size_t open_ = 0;
  std::size_t underWay_ = 0;
  bool isSaid_ = false;
  std::uint64_t messages_ = 0;
  std::exception_ptr failure_;
};

PeerRelay::PeerRelay(std::shared_ptr<const PeerStreams> streams, std::int32_t raised)
    : impl_(std::make_shared<Impl>(std::move(streams), raised, detail::otherRanks()->courier())) {
  impl_->start();
}

PeerRelay::~PeerRelay() {
  try {
    impl_->finish();
  } catch (const std::exception&) {
    // The next user of the ranks learns of it.
  }
}

void PeerRelay::finish() { impl_->finish(); }

std::uint64_t PeerRelay::messages() const { return impl_->messages(); }

}  // namespace hpl::memory
