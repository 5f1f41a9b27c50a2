// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/path_speed.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace hpl::ranks {
namespace {

/// The end of a message; the courier may come to it after the wait for it was given up.
class Ended {
 public:
  Transport::Done done() {
    return [promise = promise_](const std::exception_ptr& failure, std::size_t) {
      failure ? promise->set_exception(failure) : promise->set_value();
    };
  }
  void wait() { promise_->get_future().get(); }

 private:
  std::shared_ptr<std::promise<void>> promise_ = std::make_shared<std::promise<void>>();
};

/// A message that this rank waits for.
class Awaited {
 public:
  Awaited(Transport& path, std::size_t bytes) : paper_(path.toReceive(bytes, bytes)) {
    path.receive(paper_,
                 [done = arrived_.done(), memory = paper_.memory](
                     const std::exception_ptr& failure, std::size_t some) { done(failure, some); });
  }
  void takeInto(std::vector<std::byte>& memory) {
    arrived_.wait();
    std::memcpy(memory.data(), paper_.memory.get(), paper_.bytes);
  }

 private:
  Ended arrived_;
  Transport::Paper paper_;
};

void sendFrom(World& world, Transport& path, const std::vector<std::byte>& memory) {
  const Transport::Paper paper = path.toSend(memory.size(), memory.size(), [&] {
    world.courier().check();
    std::this_thread::yield();
  });
  std::memcpy(paper.memory.get(), memory.data(), memory.size());
  Ended sent;
  path.send(paper,
            [done = sent.done(), kept = paper.memory](const std::exception_ptr& failure,
                                                      std::size_t some) { done(failure, some); });
  sent.wait();
}

}  // namespace

double secondsOfMessage(World& world, int other, bool begins, std::size_t bytes, int times) {
  using Clock = std::chrono::steady_clock;
  Transport& path =
      bytes <= world.pathTo(other).most() ? world.pathTo(other) : world.messagesTo(other);
  std::vector<std::byte> memory(bytes);
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    Awaited answer(path, bytes);
    const auto begin = Clock::now();
    if (!begins) answer.takeInto(memory);
    sendFrom(world, path, memory);
    if (begins) answer.takeInto(memory);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best / 2;
}

}  // namespace hpl::ranks
