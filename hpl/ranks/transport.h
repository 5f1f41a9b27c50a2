// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hpl/ranks/courier.h"
#include "hpl/ranks/window.h"

namespace hpl::ranks {

/// Memory that messages are written to and read from; 128-byte aligned. Goes back to a pool.
std::shared_ptr<std::byte> messageMemory(std::size_t bytes);

/// Where the pool's memory comes from from now on: 128-byte aligned, or null, and then it is plain
/// memory. Called by threads that begin messages, without locks.
using MessageSource = std::function<std::shared_ptr<std::byte>(std::size_t bytes)>;
void takeMessageMemoryFrom(MessageSource source);
/// Gives back what no message uses.
void clearMessageMemory();

/// Bytes of a message that lie elsewhere than in its own memory, from byte `offset` of it on.
struct Elsewhere {
  std::size_t offset = 0;
  std::span<std::byte> place = {};
};

/// How bytes get from this rank to another one and back. Each pair of ranks has one, chosen when
/// the session begins. The messages of a direction match in the order in which they were begun.
class Transport {
 public:
  /// A message at one of its ends.
  struct Paper {
    /// The sender fills it, then sends; the receiver finds the bytes in it once they are there.
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
    WindowLane::Place place = {};
    /// In the order of their offsets; of paths without places.
    std::vector<Elsewhere> elsewhere = {};
  };
  using Done = Courier::Done;

  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// "window", "message".
  virtual std::string_view name() const noexcept = 0;
  /// Bytes of the largest message; larger ones go as messages.
  virtual std::size_t most() const noexcept = 0;
  /// Whether each message has a place of its own: it leaves when it is ready, also before earlier
  /// ones, and its memory is another rank's to use again as soon as it has been read.
  virtual bool hasPlaces() const noexcept = 0;

  /// Begins a message. May wait until the receiver has read earlier ones, but never for those of
  /// the `together` bytes of messages to it that are begun before one of its own is awaited:
  /// `waitMore` is called meanwhile, and may throw. One thread.
  virtual Paper toSend(std::size_t bytes, std::size_t together,
                       const std::function<void()>& waitMore) = 0;
  /// The message is in its memory. Any thread.
  virtual void send(const Paper& paper, Done done) = 0;

  /// The memory of the next message; the sizes that toSend() has at the other end. One thread.
  virtual Paper toReceive(std::size_t bytes, std::size_t together) = 0;
  /// Begins to wait for it; on paths without places, for one after another in the order of
  /// toReceive(). Any thread.
  virtual void receive(const Paper& paper, Done done) = 0;
};

std::unique_ptr<Transport> messagesWith(Courier& courier, int peer);
/// The window's lanes to and from the peer, which has to be on this rank's node.
std::unique_ptr<Transport> windowWith(Courier& courier, Window& window, int peer);

}  // namespace hpl::ranks
