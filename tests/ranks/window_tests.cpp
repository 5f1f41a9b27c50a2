// SPDX-License-Identifier: Apache-2.0
// Cells that pass through memory that the ranks of a node share.
#include "hpl/ranks/window.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <thread>

#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/world.h"
#include "hpl/runtime/settings.h"
#include "program_on_ranks.h"
#include "tests/messages.h"
#include "tests/ranks/counting_fabric.h"
#include "tests/seeds.h"

namespace window_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl::ranks::Window;
using hpl::ranks::WindowBell;
using hpl::ranks::WindowLane;
using hpl_tests::contains;

namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory zeros(std::size_t bytes) {
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)));
  std::memset(memory.get(), 0, bytes);
  return memory;
}

/// A message that was sent and not yet read.
struct UnderWay {
  WindowLane::Place place;
  std::size_t bytes;
  unsigned char value;
};

bool hasBytes(const UnderWay& message) {
  return std::all_of(message.place.memory, message.place.memory + message.bytes,
                     [&](std::byte byte) { return byte == std::byte{message.value}; });
}

/// Sends and reads messages of random sizes, as early and as late as the lane allows. Returns the
/// defect.
std::string exchange(unsigned seed, std::size_t lane) {
  const Memory memory = zeros(lane);
  WindowLane sender(memory.get(), lane), receiver(memory.get(), lane);
  std::mt19937 random(seed);
  std::vector<UnderWay> underWay;
  std::optional<WindowLane::Place> blocked;
  std::size_t blockedBytes = 0, together = 0;
  unsigned char value = 0;
  for (int i = 0; i < 3000; ++i) {
    if (!blocked && random() % 2 == 0) {
      const std::size_t most = WindowLane::mostOf(lane);
      blockedBytes = 1 + random() % (random() % 4 == 0 ? most : 700);
      together = blockedBytes + random() % (most + 1 - blockedBytes);
      blocked = sender.next(blockedBytes, together);
    }
    if (blocked && sender.isFree(*blocked)) {
      const UnderWay message{receiver.next(blockedBytes, together), blockedBytes, ++value};
      receiver.expect();
      if (message.place.memory != blocked->memory) return "the ends have different places";
      if (receiver.wordOf(message.place) > message.place.number) return "it is there too early";
      std::memset(blocked->memory, value, blockedBytes);
      sender.publish(*blocked);
      if (receiver.wordOf(message.place) != message.place.number + 1) return "it is not there";
      underWay.push_back(message);
      blocked.reset();
    } else if (!underWay.empty()) {
      const std::size_t which = random() % std::min<std::size_t>(underWay.size(), 5);
      const UnderWay message = underWay[which];
      if (!hasBytes(message)) return fmt::format("message {} was overwritten", message.value);
      receiver.noteRead(message.place);
      underWay.erase(underWay.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (blocked) {
      return "nothing is under way, and yet there is no room";
    }
  }
  return sender.sent() == receiver.expected() ? "" : "counts differ";
}

/// Operations of several messages each, all of which are sent before the receiver reads one, but
/// after it has read those of the operation before. Returns the defect.
std::string exchangeOperations(unsigned seed, std::size_t lane) {
  constexpr std::size_t kAlignment = 128;
  const Memory memory = zeros(lane);
  WindowLane sender(memory.get(), lane), receiver(memory.get(), lane);
  std::mt19937 random(seed);
  for (int operation = 0; operation < 200; ++operation) {
    std::vector<std::size_t> sizes(1 + random() % hpl::memory::detail::kMostLettersTogether);
    std::size_t left = WindowLane::mostOf(lane);
    if (random() % 2 == 0) left = 1 + random() % left;
    std::size_t together = 0;
    for (std::size_t& size : sizes) {
      if (left < kAlignment) break;
      size = 1 + random() % (random() % 3 == 0 ? left : std::min<std::size_t>(left, 900));
      const std::size_t taken = (size + kAlignment - 1) / kAlignment * kAlignment;
      together += std::min(taken, left);
      left -= std::min(taken, left);
    }
    std::erase(sizes, 0);
    std::vector<WindowLane::Place> places;
    for (const std::size_t size : sizes) {
      const WindowLane::Place place = sender.next(size, together);
      if (!sender.isFree(place))
        return fmt::format("operation {} waits for its own messages", operation);
      sender.publish(place);
    }
    for (const std::size_t size : sizes) {
      places.push_back(receiver.next(size, together));
      receiver.expect();
    }
    std::shuffle(places.begin(), places.end(), random);
    for (const WindowLane::Place& place : places) receiver.noteRead(place);
  }
  return "";
}

/// Passes the window on, and counts messages with cells.
class CountingBeside final : public hpl_tests::CountingFabric {
 public:
  explicit CountingBeside(std::unique_ptr<ranks::Fabric> inner)
      : CountingFabric(std::move(inner)) {}
  std::shared_ptr<std::byte> shareOnNode(std::size_t bytes) override {
    return inner().shareOnNode(bytes);
  }
};

std::unique_ptr<ranks::Fabric> countingBeside(std::unique_ptr<ranks::Fabric> inner) {
  return std::make_unique<CountingBeside>(std::move(inner));
}
/// Without a window: what a fabric is asked that has none.
std::unique_ptr<ranks::Fabric> withoutWindow(std::unique_ptr<ranks::Fabric> inner) {
  return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
}

/// Steps with ghosts of two arrays and a host read now and then; rows of `columns` cells.
std::string program(std::size_t columns, int steps) {
  Grid a(23, columns), b(23, columns);
  setCells(a, 1);
  setCells(b, 2);
  std::string said;
  for (int step = 0; step < steps; ++step) {
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 2, AUTO_SYNC), PART1(a, 2, AUTO_SYNC));
    if (step % 9 == 0) said += std::to_string(b(11, columns / 2).value()) + " ";
    swap(a, b);
  }
  return said + std::to_string(long(sum(a))) + " " + std::to_string(a.reduce(std::bit_xor<>()));
}

}  // namespace

TEST_CASE(
    "both ends of a lane know where messages lie, and none is overwritten before it is read") {
  for (const std::size_t lane : {std::size_t{8} << 10, std::size_t{64} << 10}) {
    for (const unsigned seed : Seeds(1, 20)) {
      CAPTURE(lane);
      CAPTURE(seed);
      CHECK(exchange(seed, lane) == "");
    }
  }
}

TEST_CASE("all messages of an operation find room once those of the operation before are read") {
  for (const std::size_t lane :
       {std::size_t{8} << 10, std::size_t{1} << 20, std::size_t{8} << 20}) {
    for (const unsigned seed : Seeds(1, 20)) {
      CAPTURE(lane);
      CAPTURE(seed);
      CHECK(exchangeOperations(seed, lane) == "");
    }
  }
}

TEST_CASE("a bell that is rung at any moment wakes the one who listens") {
  using namespace std::chrono_literals;
  const Memory memory = zeros(2 * WindowBell::kBytes);
  std::atomic<int> said[2] = {0, 0};
  constexpr int kTurns = 20'000;
  const auto begin = std::chrono::steady_clock::now();
  // Each waits for the other's number. A lost ring would cost ten seconds.
  const auto play = [&](int me) {
    WindowBell own(memory.get() + me * WindowBell::kBytes);
    WindowBell other(memory.get() + (1 - me) * WindowBell::kBytes);
    for (int turn = 1; turn <= kTurns; ++turn) {
      if (me == 1 || turn > 1) {
        while (said[1 - me].load(std::memory_order_acquire) < turn - (me == 0 ? 1 : 0)) {
          own.listen();
          if (said[1 - me].load(std::memory_order_acquire) < turn - (me == 0 ? 1 : 0))
            own.sleep(10s);
          own.rise();
        }
      }
      said[me].store(turn, std::memory_order_release);
      other.ring();
    }
  };
  std::thread partner(play, 1);
  play(0);
  partner.join();
  CHECK(said[0] == kTurns);
  CHECK(said[1] == kTurns);
  CHECK(std::chrono::steady_clock::now() - begin < 9s);

  WindowBell own(memory.get()), same(memory.get());
  own.listen();
  same.ring();
  const auto before = std::chrono::steady_clock::now();
  own.sleep(10s);
  own.rise();
  CHECK(std::chrono::steady_clock::now() - before < 5s);
}

TEST_CASE("lanes of all pairs of a node lie beside each other") {
  for (const int count : {2, 3, 64}) {
    const std::size_t bytes = Window::bytesFor(count);
    CHECK(bytes <= Window::kPeerBytes + Window::kPeerAlignment + (std::size_t{1} << 30) +
                       static_cast<std::size_t>(count) * WindowBell::kBytes);
    std::vector<int> ranks;
    for (int rank = 0; rank < count; ++rank) ranks.push_back(10 + 3 * rank);
    const std::shared_ptr<std::byte> memory(
        static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        [bytes](std::byte* begin) { munmap(begin, bytes); });
    Window first(memory, ranks, ranks[0]), second(memory, ranks, ranks[1]);
    CHECK(first.to(11) == nullptr);
    CHECK(first.to(ranks[1])->next(100, 100).memory ==
          second.from(ranks[0])->next(100, 100).memory);
    CHECK(first.from(ranks[1])->next(100, 100).memory ==
          second.to(ranks[0])->next(100, 100).memory);
    CHECK(first.to(ranks[1])->next(100, 100).memory != first.from(ranks[1])->next(100, 100).memory);
  }
}

TEST_CASE("cells pass through the window with the bits of messages, of any size") {
  for (const auto& [columns, steps] :
       {std::pair<std::size_t, int>(40, 200), std::pair<std::size_t, int>(60'000, 25),
        std::pair<std::size_t, int>(300'000, 4)}) {
    CAPTURE(columns);
    const auto run = [columns = columns, steps = steps] { return program(columns, steps); };
    const std::string expected = saidOn(1, 1, run);
    CHECK(saidOn(2, 1, run) == expected);
    CHECK(saidOn(2, 2, run) == expected);
    CHECK(saidOn(3, 1, run, withoutWindow) == expected);
    CHECK(saidOn(3, 1, run) == expected);
  }
}

TEST_CASE("rows that are larger than the window's messages pass by messages") {
  const auto run = [] {
    constexpr std::size_t kColumns = 2'200'000;
    Grid a(4, kColumns), b(4, kColumns);
    setCells(a, 1);
    b = a;
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 2), PART1(a, 2));
    const auto before = hpl_tests::sent().messages.load();
    syncGhosts(b);
    memory::detail::waitForLetters();
    const bool isQuiet = getDeviceNumber() > 1 && hpl_tests::sent().messages == before;
    return fmt::format("{} {}", isQuiet ? "none" : "some", b.reduce(std::bit_xor<>()));
  };
  CHECK(saidOn(2, 1, run, countingBeside) == saidOn(1, 1, run));
}

TEST_CASE("an exchange within a node sends no message") {
  const auto count = [] {
    Grid a(40, 64), b(40, 64);
    setCells(a, 1);
    setCells(b, 2);
    const auto before = hpl_tests::sent().messages.load();
    for (int step = 0; step < 50; ++step) {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      swap(a, b);
    }
    memory::detail::waitForLetters();
    const bool isQuiet = hpl_tests::sent().messages == before;
    return fmt::format("{} by {}", isQuiet ? "none" : "some",
                       ranks::world()->pathTo(1 - ranks::world()->rank()).name());
  };
  CHECK(saidOn(2, 2, count, countingBeside) == "none by window");
  CHECK(saidOn(2, 2, count, withoutWindow) == "some by message");
}

TEST_CASE("a node without shared memory uses messages, and says so once") {
  const std::string file = fmt::format("/tmp/hpl_window_test_{}", getpid());
  const auto quiet = [&file](std::unique_ptr<ranks::Fabric> inner) {
    const int log = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, 2);
    close(log);
    return withoutWindow(std::move(inner));
  };
  CHECK(saidOn(
            3, 1, [] { return program(20, 5); }, quiet) ==
        saidOn(1, 1, [] { return program(20, 5); }));
  std::ifstream log(file);
  const std::string text((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
  std::remove(file.c_str());
  const std::string warning = "cannot share memory: cells pass between them by messages";
  const std::size_t at = text.find(warning);
  INFO(text);
  CHECK(at != std::string::npos);
  CHECK(text.find(warning, at + 1) == std::string::npos);
  CHECK(contains(text, "HPL_TRANSPORT=-window asks for that"));
}

TEST_CASE("a window that is asked for and cannot be had is an error on all ranks") {
  const auto asking = [](std::unique_ptr<ranks::Fabric> inner) {
    runtime::Settings settings = runtime::settings();
    settings.transport.window = runtime::Use::Required;
    runtime::overrideSettings(settings);
    return withoutWindow(std::move(inner));
  };
  const auto reports = hpl_tests::inWorlds(
      3, [] { return std::string("begun"); }, asking);
  for (const auto& report : reports) {
    CHECK(report.said.empty());
    CHECK(contains(report.thrown,
                   "HPL_TRANSPORT=window asks for memory that the ranks of a node "
                   "share, and on some node they cannot share any"));
  }
}

TEST_CASE("a rank that leaves is named to one that waits for it at the window") {
  const auto reports = hpl_tests::inWorlds(2, [] {
    const int rank = ranks::world()->rank();
    listDevices({2, 1, rank});
    Grid a(40, 64), b(40, 64);
    setCells(a, 1);
    setCells(b, 2);
    const auto step = [&] {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      swap(a, b);
    };
    step();
    if (rank == 1) return std::string("left");
    for (int more = 0; more < 400; ++more) step();
    return cellsOf(a);
  });
  INFO(reports[0].thrown);
  CHECK(contains(reports[0].thrown, "Rank 1"));
  CHECK(contains(reports[0].thrown, "has left the session"));
}

}  // namespace window_tests
