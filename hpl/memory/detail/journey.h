// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

/// The progress of a message between ranks (Pearson et al. 2021, Figure 9). The events of devices'
/// commands and the courier advance it; no thread waits for it. The work of devices is among its
/// phases in the timeline, too: packing and reading before it waits, writing and unpacking once it
/// has arrived. Not locked: its steps happen one after another.
class Journey {
 public:
  enum class State : std::uint8_t {
    BeingRead,  ///< Devices pack and read its cells.
    Waiting,    ///< For those that were begun before it.
    BeingSent,
    Sent,
    Awaited,
    Arrived
  };

  /// An outgoing message or an incoming one, with `bytes` of cells.
  static Journey to(int peer, std::size_t bytes) { return {peer, State::BeingRead, bytes}; }
  static Journey from(int peer, std::size_t bytes) { return {peer, State::Awaited, bytes}; }

  /// The other end.
  int peer() const noexcept { return peer_; }
  State state() const noexcept { return state_; }
  /// 0: the timeline does not show it.
  trace::MessageNumber number() const noexcept { return number_; }

  void advance(State next) {
    assert(next > state_ && (state_ == State::Awaited || next <= State::Sent));
    if (state_ == State::Waiting) trace::recordPhase(number_, trace::Phase::Waiting, since_);
    if (state_ == State::BeingSent) trace::recordPhase(number_, trace::Phase::Sending, since_);
    if (state_ == State::Awaited) trace::recordPhase(number_, trace::Phase::Receiving, since_);
    state_ = next;
    since_ = trace::phaseBegin(number_);
  }

 private:
  Journey(int peer, State first, std::size_t bytes)
      : peer_(peer),
        state_(first),
        number_(trace::beginMessage(peer, first == State::BeingRead, bytes)),
        since_(trace::phaseBegin(number_)) {}

  int peer_;
  State state_;
  trace::MessageNumber number_;
  double since_;
};

}  // namespace hpl::memory::detail
