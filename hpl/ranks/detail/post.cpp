// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/post.h"

#include <fmt/format.h>

#include <utility>

#include "hpl/error.h"

namespace hpl::ranks {

std::exception_ptr sizesDiffer(int from, std::size_t sent, std::size_t expected) {
  return std::make_exception_ptr(RankError(
      fmt::format("Rank {} has sent a message of {} bytes where {} were expected: the ranks do not "
                  "do the same. All ranks have to make the same calls in the same order",
                  from, sent, expected),
      from, "message"));
}

Post::Post(Fabric& fabric) : fabric_(fabric), counts_(static_cast<std::size_t>(fabric.size())) {}

std::size_t* Post::counterOf(const Pending& pending) noexcept {
  if (pending.channel != Channel::Control) return &underWay_;
  return pending.isSend ? &controlToSend_ : nullptr;
}

void Post::add(Fabric::Request request, Pending pending) {
  Counts& counts = counts_[static_cast<std::size_t>(pending.peer)];
  ++(pending.isSend ? counts.sent : counts.received)[static_cast<std::size_t>(pending.channel)];
  if (std::size_t* counter = counterOf(pending)) ++*counter;
  pending.isUsed = true;
  if (request >= pending_.size()) pending_.resize(request + 1);
  pending_[request] = std::move(pending);
}

void Post::send(int to, Channel channel, const PartsOut& bytes, Done done) {
  add(fabric_.send(to, channel, bytes), {std::move(done), {}, bytes.size(), to, channel, true});
}

void Post::send(int to, Channel channel, std::vector<std::byte> bytes) {
  const std::size_t size = bytes.size();
  const Fabric::Request request = fabric_.send(to, channel, bytes);
  add(request, {{}, std::move(bytes), size, to, channel, true});  // moving leaves them in place
}

void Post::receive(int from, Channel channel, const PartsIn& bytes, Done done) {
  add(fabric_.receive(from, channel, bytes),
      {std::move(done), {}, bytes.size(), from, channel, false});
}

bool Post::poll() {
  ended_.clear();
  const bool moved = fabric_.poll(ended_);
  for (const Fabric::Completion& completion : ended_) end(completion);
  return moved || !ended_.empty();
}

void Post::end(const Fabric::Completion& completion) {
  Pending& slot = pending_[completion.request];
  if (!slot.isUsed) return;  // a callback before this one gave everything up
  // The callback may post, which may move the slots.
  const Pending pending = std::exchange(slot, Pending{});
  if (std::size_t* counter = counterOf(pending)) --*counter;
  if (!pending.done) return;
  std::exception_ptr failure;
  if (!pending.isSend && completion.bytes > pending.capacity)
    failure = sizesDiffer(pending.peer, completion.bytes, pending.capacity);
  pending.done(failure, completion.bytes);
}

void Post::failAll(const std::exception_ptr& failure) {
  fabric_.abandon();
  std::vector<Done> waiting;
  for (Pending& slot : pending_) {
    if (!slot.isUsed || slot.channel == Channel::Control) continue;
    if (slot.done) waiting.push_back(std::move(slot.done));
    slot = {};
  }
  underWay_ = 0;
  for (const Done& done : waiting) done(failure, 0);
}

}  // namespace hpl::ranks
