// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/fabric.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "tests/ranks/delaying_fabric.h"
#include "tests/ranks/scattered.h"
#include "tests/ranks/threads_as_ranks.h"

namespace fabric_tests {

using hpl::ranks::Arena;
using hpl::ranks::Channel;
using hpl::ranks::Fabric;
using hpl_tests::Scattered;

namespace {

using Bytes = std::vector<std::byte>;

Bytes randomBytes(std::mt19937_64& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// Fabrics of all ranks that one thread polls.
struct Ranks {
  explicit Ranks(int count) : arena(std::make_shared<Arena>(count)) {
    for (int rank = 0; rank < count; ++rank) fabrics.push_back(hpl_tests::fabricOf(arena, rank));
  }
  void delay(std::uint64_t seed) {
    for (auto& fabric : fabrics) {
      fabric = std::make_unique<hpl_tests::DelayingFabric>(std::move(fabric), seed,
                                                           std::chrono::microseconds(300));
    }
  }
  /// Polls until `count` requests have ended, and returns them with their ranks.
  std::vector<std::pair<int, Fabric::Completion>> poll(std::size_t count) {
    std::vector<std::pair<int, Fabric::Completion>> all;
    std::vector<Fabric::Completion> ended;
    while (all.size() < count) {
      for (std::size_t rank = 0; rank < fabrics.size(); ++rank) {
        ended.clear();
        fabrics[rank]->poll(ended);
        for (const auto& completion : ended) all.emplace_back(static_cast<int>(rank), completion);
      }
    }
    return all;
  }

  std::shared_ptr<Arena> arena;
  std::vector<std::unique_ptr<Fabric>> fabrics;
};

struct Message {
  int from, to;
  Channel channel;
  Bytes bytes;
  Scattered sent;
  Scattered received;
};

Scattered randomlyScattered(std::mt19937_64& random, const Bytes& bytes) {
  std::vector<std::size_t> cuts(random() % 4);
  for (std::size_t& cut : cuts) cut = random() % (bytes.size() + 1);
  return {bytes, cuts};
}

Message randomMessage(std::mt19937_64& random, int ranks) {
  const auto count = static_cast<unsigned>(ranks);
  const int from = static_cast<int>(random() % count);
  const int to = (from + 1 + static_cast<int>(random() % (count - 1))) % ranks;
  const auto channel = static_cast<Channel>(random() % hpl::ranks::kChannels);
  const std::size_t most = random() % 8 == 0 ? 700'000 : 300;
  Bytes bytes = randomBytes(random, random() % most);
  Scattered sent = randomlyScattered(random, bytes);
  Scattered received = randomlyScattered(random, Bytes(bytes.size()));
  return {from, to, channel, std::move(bytes), std::move(sent), std::move(received)};
}

/// Random messages between all ranks, from several places of memory to others, posted in random
/// order, each lane's in its own.
void exchangeRandomly(std::uint64_t seed) {
  INFO("seed ", seed);
  std::mt19937_64 random(seed);
  const int count = 2 + static_cast<int>(random() % 3);
  Ranks ranks(count);
  if (seed % 2 == 1) ranks.delay(seed);
  std::vector<Message> messages;
  for (int i = 0; i < 40; ++i) messages.push_back(randomMessage(random, count));
  // Every message is posted twice, as sent and as received, in any order that keeps those of a
  // lane.
  std::vector<std::size_t> sends(messages.size());
  for (std::size_t i = 0; i < sends.size(); ++i) sends[i] = i;
  std::size_t sent = 0;
  std::size_t received = 0;
  while (sent + received < 2 * messages.size()) {
    const bool sendNext =
        received == messages.size() || (sent < messages.size() && random() % 2 == 0);
    Message& message = messages[sendNext ? sent++ : received++];
    if (sendNext) {
      ranks.fabrics[static_cast<std::size_t>(message.from)]->send(
          message.to, message.channel, message.sent.parts<const std::byte>());
    } else {
      ranks.fabrics[static_cast<std::size_t>(message.to)]->receive(
          message.from, message.channel, message.received.parts<std::byte>());
    }
  }
  ranks.poll(2 * messages.size());
  for (const Message& message : messages) REQUIRE(message.received.bytes() == message.bytes);
}

}  // namespace

TEST_CASE("messages of a pair of ranks and a channel arrive whole and in the order of posting") {
  const char* wanted = std::getenv("TEST_SEEDS");
  const std::uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : 60;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) exchangeRandomly(seed);
}

TEST_CASE("a message without bytes is a message") {
  Ranks ranks(2);
  ranks.fabrics[0]->send(1, Channel::Cells, {});
  ranks.fabrics[1]->receive(0, Channel::Cells, {});
  for (const auto& [rank, completion] : ranks.poll(2)) CHECK(completion.bytes == 0);
}

TEST_CASE("a shorter message leaves the rest of the memory alone, a longer one loses its end") {
  Ranks ranks(2);
  std::mt19937_64 random(7);
  const Bytes shorter = randomBytes(random, 10);
  const Bytes longer = randomBytes(random, 500'000);
  const Bytes last = randomBytes(random, 30);
  Bytes first(20, std::byte{9});
  Bytes second(100);
  Bytes third(30);
  for (const Bytes* bytes : {&shorter, &longer, &last})
    ranks.fabrics[0]->send(1, Channel::Cells, *bytes);
  for (Bytes* bytes : {&first, &second, &third})
    ranks.fabrics[1]->receive(0, Channel::Cells, *bytes);
  std::vector<std::size_t> sizes;
  for (const auto& [rank, completion] : ranks.poll(6))
    if (rank == 1) sizes.push_back(completion.bytes);
  CHECK(sizes == std::vector<std::size_t>{10, 500'000, 30});
  CHECK(std::equal(shorter.begin(), shorter.end(), first.begin()));
  CHECK(
      std::all_of(first.begin() + 10, first.end(), [](std::byte b) { return b == std::byte{9}; }));
  CHECK(std::equal(second.begin(), second.end(), longer.begin()));
  CHECK(third == last);
}

TEST_CASE("the number of an ended request is not used again before the next poll") {
  Ranks ranks(2);
  Bytes bytes(4);
  std::vector<Fabric::Completion> ended;
  const auto first = ranks.fabrics[0]->send(1, Channel::Cells, bytes);
  ranks.fabrics[0]->poll(ended);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].request == first);
  CHECK(ranks.fabrics[0]->send(1, Channel::Cells, bytes) != first);
  ranks.fabrics[0]->poll(ended);
  CHECK(ranks.fabrics[0]->send(1, Channel::Cells, bytes) == first);
}

TEST_CASE("requests of cells that are given up never end; words between couriers still pass") {
  Ranks ranks(2);
  Bytes cells(100);
  Bytes word(4);
  Bytes heard(4);
  ranks.fabrics[1]->receive(0, Channel::Cells, cells);
  ranks.fabrics[1]->receive(0, Channel::Control, heard);
  ranks.fabrics[1]->abandon();
  ranks.fabrics[0]->send(1, Channel::Cells, cells);
  ranks.fabrics[0]->send(1, Channel::Control, word);
  std::vector<Fabric::Completion> ended;
  ranks.fabrics[0]->poll(ended);
  ended.clear();
  ranks.fabrics[1]->poll(ended);
  CHECK(ended.size() == 1);
}

}  // namespace fabric_tests
