// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "hpl/ranks/fabric.h"

namespace hpl::mpi {

/// The fabric over MPI. Its thread initialises MPI and finalises it, unless the program has. MPI's
/// launcher ends all ranks when one dies, so there are no losses to find.
class MpiFabric final : public ranks::Fabric {
 public:
  /// Throws LaunchError if the program has initialised MPI without MPI_THREAD_MULTIPLE, or
  /// finalised it; RankError if MPI fails.
  MpiFabric();
  ~MpiFabric() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int nodeOf(int rank) const override { return nodes_[static_cast<std::size_t>(rank)]; }
  Request send(int to, ranks::Channel channel, const ranks::PartsOut& bytes) override;
  Request receive(int from, ranks::Channel channel, const ranks::PartsIn& bytes) override;
  bool poll(std::vector<Completion>& ended) override;
  void findLosses(std::vector<Loss>&) override {}
  std::shared_ptr<std::byte> shareOnNode(std::size_t bytes) override;
  void abandon() override;

 private:
  struct Message {
    std::size_t bytes = 0;
    ranks::Channel channel = ranks::Channel::Cells;
    bool isSend = false;
  };

  void initialize();
  void numberNodes();
  MPI_Comm communicator(ranks::Channel channel) const {
    return communicators_[static_cast<std::size_t>(channel)];
  }
  Request newSlot(const Message& message);
  /// Gives up the messages under way, those between couriers only if `all`.
  void cancel(bool all);

  std::array<MPI_Comm, ranks::kChannels> communicators_{};
  MPI_Comm node_ = MPI_COMM_NULL;
  std::vector<int> nodes_;
  int rank_ = 0;
  int size_ = 1;
  bool isOurs_ = false;

  /// By the number of the request; MPI_REQUEST_NULL: free.
  std::vector<MPI_Request> requests_;
  std::vector<Message> messages_;
  std::vector<Request> free_;
  /// Free from the next poll on.
  std::vector<Request> retired_;
  std::vector<int> places_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace hpl::mpi
