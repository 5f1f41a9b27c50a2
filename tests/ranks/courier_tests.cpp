// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/courier.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "hpl/error.h"
#include "tests/messages.h"
#include "tests/ranks/delaying_fabric.h"
#include "tests/ranks/threads_as_ranks.h"

namespace courier_tests {

using hpl::RankError;
using hpl::ranks::Courier;
using hpl::ranks::Waiting;
using hpl_tests::contains;
using hpl_tests::messageOf;
using hpl_tests::onThreads;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytesOf(int rank, std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(static_cast<std::size_t>(rank) * 31 + i * 7);
  return bytes;
}

/// Counts callbacks, and waits for them.
class Arrivals {
 public:
  Courier::Done one() {
    return [this](const std::exception_ptr& failure, std::size_t) {
      const std::lock_guard lock(mutex_);
      ++count_;
      if (failure) failure_ = failure;
      there_.notify_all();
    };
  }
  /// Throws what one of them failed with.
  void wait(int count) {
    std::unique_lock lock(mutex_);
    there_.wait(lock, [&] { return count_ >= count; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_;
  std::exception_ptr failure_;
  int count_ = 0;
};

hpl_tests::WrapFabric delays(std::uint64_t seed) {
  return [seed](std::unique_ptr<hpl::ranks::Fabric> fabric) {
    return std::make_unique<hpl_tests::DelayingFabric>(std::move(fabric), seed,
                                                       std::chrono::microseconds(500));
  };
}

/// Rounds of messages to all other ranks, with collective calls between them.
void exchange(Courier& courier, std::uint64_t seed) {
  std::mt19937_64 random(seed);  // the same on all ranks
  for (int round = 0; round < 20; ++round) {
    const std::size_t count = random() % (round % 5 == 0 ? 400'000 : 2'000);
    const int root = static_cast<int>(random() % static_cast<unsigned>(courier.size()));
    const Bytes own = bytesOf(courier.rank() + round, count);
    std::vector<Bytes> others(static_cast<std::size_t>(courier.size()), Bytes(count));
    Arrivals arrivals;
    int posted = 0;
    for (int other = 0; other < courier.size(); ++other) {
      if (other == courier.rank()) continue;
      courier.receive(other, others[static_cast<std::size_t>(other)], arrivals.one());
      courier.send(other, own, arrivals.one());
      posted += 2;
    }
    Bytes shared = courier.rank() == root ? bytesOf(root, count) : Bytes(count);
    if (random() % 2 == 0)
      courier.broadcast(root, shared);
    else
      shared = bytesOf(root, count);
    arrivals.wait(posted);
    CHECK(shared == bytesOf(root, count));
    for (int other = 0; other < courier.size(); ++other) {
      if (other == courier.rank()) continue;
      CHECK(others[static_cast<std::size_t>(other)] == bytesOf(other + round, count));
    }
  }
}

}  // namespace

TEST_CASE("couriers carry messages and collective calls among one to five ranks") {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    CAPTURE(ranks);
    for (const auto& thrown : onThreads(ranks, [](Courier& courier) { exchange(courier, 11); }))
      CHECK(thrown.empty());
  }
}

TEST_CASE("couriers carry them over a fabric that delays and reorders") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const auto thrown = onThreads(
        3, [seed](Courier& courier) { exchange(courier, seed); }, delays(seed));
    for (const auto& text : thrown) CHECK(text.empty());
  }
}

TEST_CASE("couriers carry them however they wait") {
  for (const Waiting waiting : {Waiting::Spin, Waiting::Yield, Waiting::Sleep}) {
    for (const auto& thrown : onThreads(
             2, [](Courier& courier) { exchange(courier, 3); }, {}, waiting))
      CHECK(thrown.empty());
  }
}

TEST_CASE("allgather brings blobs of any size to all ranks, in the order of the ranks") {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    CAPTURE(ranks);
    const auto thrown = onThreads(ranks, [](Courier& courier) {
      for (const std::size_t unit : {0, 1, 100, 5000, 100'000}) {
        const auto size = [&](int rank) { return unit * static_cast<std::size_t>(rank % 3); };
        const auto blobs = courier.allgather(bytesOf(courier.rank(), size(courier.rank())));
        REQUIRE(blobs.size() == static_cast<std::size_t>(courier.size()));
        for (int rank = 0; rank < courier.size(); ++rank)
          CHECK(blobs[static_cast<std::size_t>(rank)] == bytesOf(rank, size(rank)));
      }
    });
    for (const auto& text : thrown) CHECK(text.empty());
  }
}

TEST_CASE("broadcast brings the bytes of every root to all ranks") {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    const auto thrown = onThreads(ranks, [](Courier& courier) {
      for (int root = 0; root < courier.size(); ++root) {
        Bytes bytes = courier.rank() == root ? bytesOf(root, 3000) : Bytes(3000);
        courier.broadcast(root, bytes);
        CHECK(bytes == bytesOf(root, 3000));
      }
    });
    for (const auto& text : thrown) CHECK(text.empty());
  }
}

TEST_CASE("allAgree is true where all ranks say so") {
  const auto thrown = onThreads(3, [](Courier& courier) {
    CHECK(courier.allAgree(true));
    CHECK_FALSE(courier.allAgree(courier.rank() != 1));
    CHECK_FALSE(courier.allAgree(false));
  });
  for (const auto& text : thrown) CHECK(text.empty());
}

TEST_CASE("collective calls with callbacks run in order, beside messages, from callbacks too") {
  const auto thrown = onThreads(3, [](Courier& courier) {
    std::promise<std::string> order;
    auto text = std::make_shared<std::string>();
    const std::byte own{static_cast<unsigned char>('a' + courier.rank())};
    const auto note = [text](const Courier::Blobs& blobs) {
      for (const Bytes& blob : blobs) *text += static_cast<char>(blob.at(0));
    };
    courier.startAllgather(
        {&own, 1}, [&, note](const std::exception_ptr&, const Courier::Blobs& blobs) {
          note(blobs);
          const std::byte next{static_cast<unsigned char>('x')};
          courier.startAllgather({&next, 1},
                                 [&, note](const std::exception_ptr&, const Courier::Blobs& more) {
                                   note(more);
                                   order.set_value(*text);
                                 });
        });
    CHECK(order.get_future().get() == "abcxxx");
  });
  for (const auto& text : thrown) CHECK(text.empty());
}

TEST_CASE("an allgather whose bytes come later keeps its place among the collective calls") {
  for (const int ranks : {1, 2, 3, 5}) {
    CAPTURE(ranks);
    const auto thrown = onThreads(ranks, [](Courier& courier) {
      std::mt19937 random(static_cast<unsigned>(courier.rank()));
      std::vector<std::thread> givers;
      std::vector<std::promise<Courier::Blobs>> late(6);
      for (std::size_t i = 0; i < late.size(); ++i) {
        const auto give = courier.startLateAllgather(
            [&promise = late[i]](const std::exception_ptr&, Courier::Blobs blobs) {
              promise.set_value(std::move(blobs));
            });
        givers.emplace_back([give, i, rank = courier.rank(), naps = random() % 20] {
          std::this_thread::sleep_for(std::chrono::milliseconds(naps));
          give(bytesOf(rank, 100 * (i + 1)));
        });
        // They come after the late one, whenever that is given.
        if (i % 2 == 0)
          for (const auto& blob : courier.allgather(bytesOf(static_cast<int>(i), 1)))
            CHECK(blob == bytesOf(static_cast<int>(i), 1));
      }
      for (std::size_t i = 0; i < late.size(); ++i) {
        const Courier::Blobs blobs = late[i].get_future().get();
        for (int rank = 0; rank < courier.size(); ++rank)
          CHECK(blobs.at(static_cast<std::size_t>(rank)) == bytesOf(rank, 100 * (i + 1)));
      }
      for (std::thread& giver : givers) giver.join();
    });
    for (const auto& text : thrown) CHECK(text.empty());
  }
}

TEST_CASE("a message of another size than expected is an error of that message if it is longer") {
  const auto thrown = onThreads(2, [](Courier& courier) {
    const Bytes own = bytesOf(courier.rank(), 100);
    Bytes other(courier.rank() == 0 ? 40 : 200);
    Arrivals sent;
    Arrivals received;
    std::promise<std::size_t> size;
    courier.send(1 - courier.rank(), own, sent.one());
    std::exception_ptr problem;
    courier.receive(1 - courier.rank(), other,
                    [&](const std::exception_ptr& failure, std::size_t bytes) {
                      problem = failure;
                      size.set_value(bytes);
                    });
    CHECK(size.get_future().get() == 100);
    sent.wait(1);
    CHECK((problem != nullptr) == (courier.rank() == 0));
    if (problem) {
      const std::string message = messageOf<RankError>([&] { std::rethrow_exception(problem); });
      CHECK(contains(message, "Rank 1 has sent a message of 100 bytes where 40 were expected"));
    }
    CHECK(std::equal(other.begin(), other.begin() + 40, bytesOf(1 - courier.rank(), 100).begin()));
    courier.allAgree(true);
  });
  for (const auto& text : thrown) CHECK(text.empty());
}

TEST_CASE("a rank that fails ends what the others wait for, and what they do next") {
  std::atomic<int> checked{0};
  std::latch begun(3);  // a failure would end the agreement of others, too
  const auto thrown = onThreads(3, [&](Courier& courier) {
    courier.allAgree(true);
    begun.arrive_and_wait();
    if (courier.rank() == 2) {
      courier.fail("launch of 'heat'", "device lost");
      CHECK_THROWS_AS(courier.check(), RankError);
      return;
    }
    if (courier.rank() == 1) {  // neither waits nor calls
      const auto begin = std::chrono::steady_clock::now();
      while (!courier.hasFailed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
      CHECK_THROWS_AS(courier.allgather({}), RankError);
      ++checked;
      return;
    }
    Bytes bytes(10);
    Arrivals arrivals;
    courier.receive(2, bytes, arrivals.one());
    ++checked;
    arrivals.wait(1);
  });
  CHECK(checked == 2);
  CHECK(thrown[0] ==
        "Rank 2 has failed in its launch of 'heat', and with it the session of all ranks: device "
        "lost");
}

TEST_CASE("the error of a failed session carries rank and operation") {
  onThreads(2, [](Courier& courier) {
    courier.allAgree(true);
    if (courier.rank() == 1) return courier.fail("copy", "out of memory");
    try {
      courier.allgather({});
      CHECK(false);
    } catch (const RankError& error) {
      CHECK(error.rank() == 1);
      CHECK(error.operation() == "copy");
    }
  });
}

TEST_CASE("a rank that leaves ends what others still wait for from it, and nothing else") {
  const auto thrown = onThreads(3, [](Courier& courier) {
    Bytes bytes = bytesOf(courier.rank(), 100'000);
    Arrivals arrivals;
    // Sent before the farewell: arrives, though the sender is gone.
    if (courier.rank() == 1) {
      courier.send(0, bytes, arrivals.one());
      arrivals.wait(1);
    }
    if (courier.rank() != 0) return;
    Bytes received(100'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    courier.receive(1, received, arrivals.one());
    arrivals.wait(1);
    CHECK(received == bytesOf(1, 100'000));
    courier.receive(1, received, arrivals.one());
    arrivals.wait(2);
  });
  CHECK(contains(thrown[0], "Rank 1 has failed"));
  CHECK(contains(thrown[0], "it has left the session, while rank 0 still exchanges data with it"));
  CHECK(thrown[1].empty());
  CHECK(thrown[2].empty());
}

TEST_CASE("a collective call that one rank leaves out is an error on the others") {
  const auto thrown = onThreads(4, [](Courier& courier) {
    courier.allAgree(true);
    if (courier.rank() != 3) courier.allAgree(true);
  });
  for (int rank = 0; rank < 3; ++rank)
    CHECK(contains(thrown[static_cast<std::size_t>(rank)], "Rank 3 has failed"));
}

TEST_CASE("after the session's end every call says so") {
  onThreads(2, [](Courier& courier) {
    courier.leave();
    CHECK(contains(messageOf<RankError>([&] { courier.allAgree(true); }),
                   "The session of ranks has ended"));
    CHECK(
        contains(messageOf<RankError>([&] { courier.check(); }), "The session of ranks has ended"));
    Arrivals arrivals;
    courier.send(0, {}, arrivals.one());
    CHECK_THROWS_AS(arrivals.wait(1), RankError);
    courier.fail("x", "y");
    courier.leave();
  });
}

TEST_CASE("a courier answers where its rank is, while the rank does something else") {
  const auto thrown = onThreads(3, [](Courier& courier) {
    courier.answerWith(
        [rank = courier.rank()] { return "operation " + std::to_string(10 + rank); });
    courier.allAgree(true);
    if (courier.rank() == 0) {
      for (const int other : {0, 1, 2}) {
        std::promise<std::string> answer;
        courier.ask(other, [&](const std::exception_ptr&, std::string where) {
          answer.set_value(std::move(where));
        });
        CHECK(answer.get_future().get() == "operation " + std::to_string(10 + other));
      }
    }
    courier.allAgree(true);
  });
  for (const auto& text : thrown) CHECK(text.empty());
}

TEST_CASE("a question to a rank that has left is answered with an error") {
  const auto thrown = onThreads(2, [](Courier& courier) {
    if (courier.rank() == 1) return;
    for (;;) {
      std::promise<std::exception_ptr> answer;
      courier.ask(1, [&](const std::exception_ptr& failure, const std::string&) {
        answer.set_value(failure);
      });
      const std::exception_ptr failure = answer.get_future().get();
      if (!failure) continue;  // it has not left yet
      CHECK(messageOf<RankError>([&] { std::rethrow_exception(failure); }) ==
            "Rank 1 has left the session");
      return;
    }
  });
  for (const auto& text : thrown) CHECK(text.empty());
}

TEST_CASE("a callback that waits for the courier is refused") {
  onThreads(1, [](Courier& courier) {
    std::promise<std::string> message;
    courier.startAllgather({}, [&](const std::exception_ptr&, const Courier::Blobs&) {
      message.set_value(messageOf<hpl::LaunchError>([&] { courier.allAgree(true); }));
    });
    CHECK(contains(message.get_future().get(), "A callback of the courier waits for the courier"));
  });
}

TEST_CASE("a fabric that cannot be made is an error of the courier's construction") {
  CHECK(messageOf<RankError>([] {
          const Courier courier(
              []() -> std::unique_ptr<hpl::ranks::Fabric> { throw RankError("no fabric", 0, ""); },
              Waiting::Sleep);
        }) == "no fabric");
}

}  // namespace courier_tests
