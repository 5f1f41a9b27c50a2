// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ranks/parts.h"

namespace hpl::ranks {

/// Messages of one channel never wait for those of another.
enum class Channel : int {
  /// Cells of arrays: what send() and receive() of the courier carry.
  Cells,
  /// Steps of collective calls.
  Collective,
  /// Messages between running kernels: at times that no other message knows of.
  Rims,
  /// Words between couriers: failures, farewells, questions.
  Control
};
inline constexpr int kChannels = 4;
/// Those whose messages end with the session; words between couriers pass to the last.
inline constexpr std::array kWorkChannels{Channel::Cells, Channel::Collective, Channel::Rims};

/// The processes of a program and the way messages pass between them. The thread that makes a
/// fabric makes all calls to it and destroys it (MPI_THREAD_FUNNELED asks for that): the courier's.
class Fabric {
 public:
  /// Small numbers. That of a request that ended is used again after the next poll() began.
  using Request = std::size_t;
  /// A request that ended, with the size of the message as it was sent.
  struct Completion {
    Request request;
    std::size_t bytes;
  };
  /// A rank that is gone without a farewell, and how: "was killed by signal 9 (Killed)".
  struct Loss {
    int rank;
    std::string how;
  };

  Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  virtual ~Fabric() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Number of the machine that a rank runs on, from 0 on in the order of the ranks.
  virtual int nodeOf(int rank) const = 0;

  /// The messages of an ordered pair of ranks match, channel by channel, in the order in which they
  /// were posted. The memory stays the caller's and is in use until the request has ended. A
  /// message may be shorter than the memory that waits for it; the surplus of a longer one is lost.
  virtual Request send(int to, Channel channel, const PartsOut& bytes) = 0;
  virtual Request receive(int from, Channel channel, const PartsIn& bytes) = 0;

  /// Moves what can move without waiting, and appends the requests that ended. True: bytes moved.
  virtual bool poll(std::vector<Completion>& ended) = 0;

  /// Zeros that all ranks of this node share, from a page's begin on; null on all of them: there is
  /// no such memory. Collective, called once, before any message. It may outlive the fabric.
  virtual std::shared_ptr<std::byte> shareOnNode(std::size_t) { return nullptr; }

  /// Appends ranks that died, each once. Messages that they sent before may still arrive.
  virtual void findLosses(std::vector<Loss>& found) = 0;

  /// Gives the requests of cells and of collective calls up: none of them ends any more, and their
  /// memory is out of use.
  virtual void abandon() = 0;
};

}  // namespace hpl::ranks
