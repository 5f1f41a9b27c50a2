// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hpl/ranks/detail/failure.h"
#include "hpl/ranks/detail/post.h"

namespace hpl::ranks {

/// The messages between couriers: failures, farewells, questions where a rank is, and the answers.
/// For the courier's thread.
class Control {
 public:
  using Answer = std::function<void(std::exception_ptr failure, std::string where)>;
  struct Listener {
    /// Another rank has failed, or says which one has.
    std::function<void(Failure)> failed;
    /// Another rank has left.
    std::function<void(int rank)> left;
    /// Where this rank is.
    std::function<std::string()> where;
  };

  Control(Post& post, Listener listener);

  void tellFailure(const Failure& failure);
  void sayFarewell();
  void ask(int rank, Answer answer);
  /// Ends the questions that wait for an answer of `rank`, or all.
  void failQuestions(std::optional<int> rank, const std::exception_ptr& failure);

  bool saidFarewell() const noexcept { return saidFarewell_; }
  /// Whether a rank has left.
  bool hasLeft(int rank) const {
    return peers_[static_cast<std::size_t>(rank)].farewell.has_value();
  }
  /// Whether something was posted that a rank left without doing its end of.
  bool isMissedBy(int rank) const;
  bool hasQuestions() const noexcept { return questions_ > 0; }

 private:
  struct Peer {
    std::vector<std::byte> incoming;
    std::deque<Answer> questions;
    /// The messages that it has posted for this rank until it left.
    std::optional<Counts> farewell;
  };

  void listenTo(int rank);
  void hear(int rank, std::size_t bytes);
  void tell(int rank, std::vector<std::byte> message);
  int size() const { return static_cast<int>(peers_.size()); }
  int self() const { return post_.fabric().rank(); }

  Post& post_;
  Listener listener_;
  std::vector<Peer> peers_;
  std::size_t questions_ = 0;
  bool saidFarewell_ = false;
};

}  // namespace hpl::ranks
