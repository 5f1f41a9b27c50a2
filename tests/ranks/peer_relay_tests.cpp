// SPDX-License-Identifier: Apache-2.0
// What kernels of several nodes store for each other, with threads that do as groups do.
#include "hpl/memory/peer_relay.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "hpl/ranks/world.h"
#include "program_on_ranks.h"
#include "tests/messages.h"
#include "tests/seeds.h"

namespace peer_relay_tests {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::RankReport;
using memory::PeerFlag;
using memory::PeerRelay;
using memory::PeerRows;
using memory::PeerStreams;
using ranks_tests::saidOn;

namespace {

/// The memory of a node: a flag of each rank, one that says that a group has given up, and of each
/// rank two grids of numbers, by turns, of which others get some rows.
class Node {
 public:
  static constexpr int kRows = 5, kColumns = 12;

  Node(int rank, int ranks, int raised, unsigned seed) : rank_(rank), ranks_(ranks) {
    flags_.resize(static_cast<std::size_t>(ranks) + 1, raised);
    flags_.back() = raised - 1;
    grids_.resize(static_cast<std::size_t>(ranks) * 2 * kRows * kColumns, -1);
    std::mt19937 random(seed);
    for (int r = 0; r < ranks; ++r) {
      first_.push_back(static_cast<int>(random() % kRows));
      columns_.push_back(1 + static_cast<int>(random() % kColumns));
    }
  }

  /// Every rank to every other.
  std::shared_ptr<const PeerStreams> streams() {
    PeerStreams all;
    for (int other = 0; other < ranks_; ++other) {
      if (other == rank_) continue;
      all.outgoing.push_back({other, {flagOf(rank_), givenUp()}});
      all.incoming.push_back({other, {flagOf(other), givenUp()}});
    }
    return std::make_shared<const PeerStreams>(std::move(all));
  }

  std::atomic_ref<int> flag(int rank) { return std::atomic_ref(flags_[std::size_t(rank)]); }
  std::atomic_ref<int> gaveUp() { return std::atomic_ref(flags_.back()); }

  /// Stores the values of a group at turn v, before it raises its flag.
  void store(int v) {
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) at(rank_, v, i, j) = value(rank_, v, i, j);
  }
  /// Empty: what others get of a rank is there.
  std::string missing(int rank, int v) {
    for (int i = first_[std::size_t(rank)]; i < kRows; ++i)
      for (int j = 0; j < columns_[std::size_t(rank)]; ++j)
        if (at(rank, v, i, j) != value(rank, v, i, j))
          return fmt::format("rank {}, turn {}, cell {} {}: {}", rank, v, i, j, at(rank, v, i, j));
    return "";
  }

 private:
  static int value(int rank, int v, int i, int j) { return ((v * 7 + rank) * 11 + i) * 13 + j; }
  int& at(int rank, int v, int i, int j) {
    return grids_[static_cast<std::size_t>(((rank * 2 + v % 2) * kRows + i) * kColumns + j)];
  }

  PeerFlag flagOf(int rank) {
    PeerFlag flag{reinterpret_cast<std::byte*>(&flags_[std::size_t(rank)])};
    for (int half = 0; half < 2; ++half) {
      PeerRows rows;
      rows.first = reinterpret_cast<std::byte*>(&at(rank, half, first_[std::size_t(rank)], 0));
      rows.rowBytes = static_cast<std::size_t>(columns_[std::size_t(rank)]) * sizeof(int);
      rows.counts[0] = static_cast<std::size_t>(kRows - first_[std::size_t(rank)]);
      rows.strides[0] = kColumns * sizeof(int);
      flag.turns.push_back({rows});
    }
    return flag;
  }
  PeerFlag givenUp() {
    PeerFlag flag{reinterpret_cast<std::byte*>(&flags_.back())};
    flag.isLess = true;
    return flag;
  }

  int rank_, ranks_;
  std::vector<int> flags_;
  std::vector<int> grids_;
  std::vector<int> first_, columns_;
};

/// Exchanges cells with one group on each other rank, as a group does, `turns` times.
std::string exchange(Node& node, int rank, int ranks, int raised, int turns, unsigned seed) {
  std::mt19937 random(seed + static_cast<unsigned>(rank));
  for (int v = raised + 1; v <= raised + turns; ++v) {
    if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    node.store(v);
    node.flag(rank).store(v, std::memory_order_release);
    for (int other = 0; other < ranks; ++other) {
      while (node.flag(other).load(std::memory_order_acquire) < v) std::this_thread::yield();
      if (std::string wrong = node.missing(other, v); !wrong.empty()) return wrong;
    }
  }
  return "";
}

}  // namespace

TEST_CASE("peer relay: what groups store is there when their flags have risen, on all nodes") {
  for (const unsigned seed : Seeds(1, 3)) {
    for (const int ranks : {2, 3}) {
      CAPTURE(seed);
      CAPTURE(ranks);
      CHECK(saidOn(ranks, 1, [&] {
              const int rank = ranks::world()->rank();
              const int raised = 1 + static_cast<int>(seed * 50);
              Node node(rank, ranks, raised, seed);
              const auto streams = node.streams();
              int begin = raised;
              // Launch after launch, of which the last one ends by giving up.
              for (const int turns : {1, 40, 17}) {
                PeerRelay relay(streams, begin);
                if (std::string wrong = exchange(node, rank, ranks, begin, turns, seed);
                    !wrong.empty())
                  return wrong;
                if (turns == 17 && rank == 1) node.gaveUp().store(begin);
                relay.finish();
                const auto sent = static_cast<std::uint64_t>((ranks - 1) * turns);
                if (turns != 17 && relay.messages() != sent)
                  return fmt::format("{} messages", relay.messages());
                if (turns != 17) begin += turns;
              }
              return std::string(node.gaveUp().load() == begin ? "all know" : "some do not know");
            }) == "all know");
    }
  }
}

TEST_CASE("peer relay: a rank that is killed ends the others' exchange with its name") {
  const std::vector<RankReport> reports = hpl_tests::inWorlds(2, [] {
    const int rank = ranks::world()->rank();
    ranks_tests::listDevices({2, 1, rank});
    Node node(rank, 2, 1, 5);
    PeerRelay relay(node.streams(), 1);
    if (rank == 1) ::kill(::getpid(), SIGKILL);
    relay.finish();
    return std::string();
  });
  CHECK(contains(reports[0].thrown, "ank 1"));
  CHECK(contains(reports[0].thrown, "was killed by signal 9"));
}

}  // namespace peer_relay_tests
