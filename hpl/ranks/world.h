// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hpl/ranks/courier.h"
#include "hpl/ranks/transport.h"

namespace hpl::ranks {

/// The ranks of this program, from the Session's construction until the process ends. After the
/// Session's end the courier answers every call with RankError.
class World {
 public:
  /// Exchanges the names of the nodes and compares the settings that have to be the same
  /// (agreement.h). Collective. Throws RankError and, with the same message on all ranks,
  /// SettingsError.
  explicit World(std::unique_ptr<Courier> courier);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Courier& courier() noexcept { return *courier_; }
  int rank() const noexcept { return courier_->rank(); }
  int size() const noexcept { return courier_->size(); }
  /// Number of nodes, and the node of a rank, numbered from 0 on in the order of the ranks.
  int nodes() const noexcept { return static_cast<int>(nodeNames_.size()); }
  int nodeOf(int rank) const { return courier_->nodeOf(rank); }
  const std::string& nodeName(int node) const {
    return nodeNames_.at(static_cast<std::size_t>(node));
  }
  /// Ranks on this rank's node, and this rank's position among them.
  int ranksOnNode() const noexcept { return ranksOnNode_; }
  int rankOnNode() const noexcept { return rankOnNode_; }
  /// How cells reach another rank, as it was chosen for the pair; and by messages.
  Transport& pathTo(int rank) const { return *paths_.at(static_cast<std::size_t>(rank)); }
  Transport& messagesTo(int rank) const { return *messages_.at(static_cast<std::size_t>(rank)); }
  /// Whether ranks of one node exchange cells through memory that they share, as far as this rank
  /// can tell.
  bool sharesOnNode() const noexcept { return sharesOnNode_; }
  /// Whether what one node has for another one is one message (HPL_MESSAGES=nodes): where the ranks
  /// of every node share memory. The same on all ranks.
  bool joinsNodes() const noexcept { return mostJoined_ > 0; }
  /// Bytes that any two ranks of one node then have for each other at most in a step; for more,
  /// messages are those of HPL_MESSAGES=ranks.
  std::size_t mostJoined() const noexcept { return mostJoined_; }
  /// "rank 3 (node n1)", for messages; "rank 3" where all ranks are on one node.
  std::string describe(int rank) const;

  /// Waits until all ranks know of an error that each of them is about to throw. Otherwise the news
  /// that one rank has ended might overtake the error. Collective; never throws.
  void gatherBeforeError() noexcept;

  /// Registers work for the end of the session, while the other ranks are still there; in reverse
  /// order of registration. Exceptions from it are logged.
  void atLeave(void (*hook)());
  /// How the session of this rank ends.
  enum class End {
    /// As it should: the hooks run.
    Session,
    /// An exception ends main: the other ranks learn of it.
    Exception,
    /// exit() ends the program.
    Exit
  };
  /// Runs the hooks of a session that ends as it should, then Courier::leave(). Further calls do
  /// nothing.
  void leave(End end) noexcept;

 private:
  std::string ownBuildsFolder();
  void choosePaths();
  void agreeOnNodes();

  std::unique_ptr<Courier> courier_;
  std::vector<std::unique_ptr<Transport>> messages_;
  std::vector<std::unique_ptr<Transport>> windows_;
  std::vector<Transport*> paths_;
  std::vector<std::string> nodeNames_;
  std::mutex mutex_;
  std::vector<void (*)()> hooks_;
  int ranksOnNode_ = 0;
  int rankOnNode_ = 0;
  bool sharesOnNode_ = false;
  std::size_t mostJoined_ = 0;
  /// Made by this rank for those of its node.
  std::filesystem::path buildsFolder_;
  bool hasLeft_ = false;
};

/// The world of this process; null: no Session was made.
World* world() noexcept;

/// Throws LaunchError where there is a world already.
void requireNoWorld();

/// Makes the world of this process, which lives until the process ends. Throws as World() and
/// requireNoWorld() do.
World& enterWorld(std::unique_ptr<Courier> courier);

}  // namespace hpl::ranks
