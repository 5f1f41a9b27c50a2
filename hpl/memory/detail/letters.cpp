// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <new>
#include <span>
#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/session.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/relay.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

using ranks::OperationMark;

// ---- memory ----------------------------------------------------------------------------------

namespace {

constexpr std::align_val_t kLetterAlignment{128};

/// Free memory by size. Never destroyed: messages end on other threads.
class LetterPool {
 public:
  static LetterPool& get() {
    static auto* pool = new LetterPool;
    return *pool;
  }

  LetterMemory lend(std::size_t bytes) {
    const std::size_t size = std::bit_ceil(std::max(bytes, std::size_t{4096}));
    std::byte* memory = taken(size);
    if (memory == nullptr) memory = static_cast<std::byte*>(::operator new(size, kLetterAlignment));
    return {memory, [size](std::byte* back) { get().giveBack(back, size); }};
  }

 private:
  std::byte* taken(std::size_t size) {
    const std::lock_guard lock(mutex_);
    std::vector<std::byte*>& free = free_[size];
    if (free.empty()) return nullptr;
    std::byte* memory = free.back();
    free.pop_back();
    kept_ -= size;
    return memory;
  }

  void giveBack(std::byte* memory, std::size_t size) {
    constexpr std::size_t kMostKept = std::size_t{256} << 20;
    {
      const std::lock_guard lock(mutex_);
      if (kept_ + size <= kMostKept) {
        free_[size].push_back(memory);
        kept_ += size;
        return;
      }
    }
    ::operator delete(memory, kLetterAlignment);
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;
  std::size_t kept_ = 0;
};

/// How many messages are under way.
class Traffic {
 public:
  static Traffic& get() {
    static auto* traffic = new Traffic;
    return *traffic;
  }
  void begin() {
    const std::lock_guard lock(mutex_);
    ++underWay_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    --underWay_;
    changed_.notify_all();
  }
  void waitUntilAtMost(int most) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return underWay_ <= most; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int underWay_ = 0;
};

}  // namespace

LetterMemory letterMemory(std::size_t bytes) { return LetterPool::get().lend(kLetterHead + bytes); }

void waitForRoom(ranks::World& world) {
  // A few operations of each neighbour, in either direction.
  constexpr int kMostOfEach = 16;
  Traffic::get().waitUntilAtMost(kMostOfEach * (world.size() - 1));
  checkRanks();
}

void waitForLetters() noexcept { Traffic::get().waitUntilAtMost(0); }

// ---- outgoing --------------------------------------------------------------------------------

struct OutgoingLetter::State {
  ranks::World& world;
  std::vector<int> peers;
  LetterMemory memory;
  std::size_t bytes;
  std::atomic<int> missing{1};  // reads, and the seal
  std::atomic<cl_int> status{CL_COMPLETE};
  bool isReady = false;  // under the outbox' lock

  std::span<const std::byte> message() const { return {memory.get(), kLetterHead + bytes}; }
};

namespace {

using Outgoing = std::shared_ptr<OutgoingLetter::State>;

/// The messages to each rank in the order in which they were begun.
class Outbox {
 public:
  static Outbox& get() {
    static auto* outbox = new Outbox;
    return *outbox;
  }

  void enter(const Outgoing& letter) {
    const std::lock_guard lock(mutex_);
    for (const int peer : letter->peers) {
      queues_[peer].push_back(letter);
      Traffic::get().begin();
    }
  }

  /// One of the things that a letter waits for has happened.
  void note(const Outgoing& letter) {
    if (letter->missing.fetch_sub(1) > 1) return;
    if (const cl_int status = letter->status.load(); status < 0)
      letter->world.courier().fail(ranks::operationLog().current().what,
                                   fmt::format("reading cells for other ranks failed with {} ({})",
                                               runtime::errorName(status), status));
    const std::lock_guard lock(mutex_);
    letter->isReady = true;
    for (const int peer : letter->peers) sendReady(peer);
  }

 private:
  void sendReady(int peer) {
    std::deque<Outgoing>& queue = queues_[peer];
    while (!queue.empty() && queue.front()->isReady) {
      const Outgoing letter = std::move(queue.front());
      queue.pop_front();
      letter->world.courier().send(
          peer, letter->message(),
          [letter, peer, begin = trace::messageBegin()](const std::exception_ptr&, std::size_t) {
            trace::recordMessage(peer, true, letter->bytes, begin);
            Traffic::get().end();
          });
    }
  }

  std::mutex mutex_;
  std::map<int, std::deque<Outgoing>> queues_;
};

void noteRead(cl_int status, void* data) {
  const std::unique_ptr<Outgoing> letter(static_cast<Outgoing*>(data));
  if (status < 0) (*letter)->status.store(status);
  Outbox::get().note(*letter);
}

}  // namespace

OutgoingLetter::OutgoingLetter(ranks::World& world, std::vector<int> peers, std::size_t bytes)
    : state_(std::make_shared<State>(world, std::move(peers), letterMemory(bytes), bytes)) {
  const OperationMark mark = ranks::operationLog().current();
  std::memcpy(state_->memory.get(), &mark, sizeof mark);
  Outbox::get().enter(state_);
}

OutgoingLetter::~OutgoingLetter() { seal(); }

std::byte* OutgoingLetter::cells() const noexcept { return state_->memory.get() + kLetterHead; }

void OutgoingLetter::waitFor(const cl::Event& read, runtime::DeviceState& device) {
  state_->missing.fetch_add(1);
  runtime::whenEnded(read, device, noteRead, new Outgoing(state_));
}

void OutgoingLetter::seal() {
  if (!std::exchange(isSealed_, true)) Outbox::get().note(state_);
}

// ---- incoming --------------------------------------------------------------------------------

struct IncomingLetter::State {
  LetterMemory memory;
  int peer;
  std::size_t bytes;
  OperationMark expected;
  std::vector<cl::Event> gates;
  ranks::World& world;
  std::mutex mutex;
  std::condition_variable arrived;
  bool isThere = false;
  std::exception_ptr failure;
};

namespace {

using Incoming = std::shared_ptr<IncomingLetter::State>;

// On the courier's thread.
void noteArrival(const Incoming& letter, std::exception_ptr failure) {
  OperationMark mark;
  std::memcpy(&mark, letter->memory.get(), sizeof mark);
  if (mark.number != 0 && !mark.matches(letter->expected)) {
    mark.what[sizeof mark.what - 1] = '\0';
    failDiverged(letter->expected, mark, letter->peer);
    if (failure == nullptr)
      failure = std::make_exception_ptr(RankDivergenceError("ranks diverged", letter->peer, ""));
  }
  // Also in failure: PoCL aborts over user events that fail, and nobody reads a cell any more.
  for (const cl::Event& gate : letter->gates) runtime::settle(gate(), CL_COMPLETE);
  {
    const std::lock_guard lock(letter->mutex);
    letter->failure = failure;
    letter->isThere = true;
    letter->arrived.notify_all();
  }
  Traffic::get().end();
}

// The rank that owes the message says where it is. One that does something else instead, or did,
// will never send it.
void judge(const Incoming& letter, const std::string& answer) {
  const ranks::Whereabouts other = ranks::whereaboutsOf(answer);
  if (ranks::operationLog().disagreesWith(other))
    failDiverged(letter->expected, other.mark, letter->peer);
}

}  // namespace

IncomingLetter::IncomingLetter(ranks::World& world, int peer, std::size_t bytes,
                               std::vector<cl::Event> gates)
    : state_(std::make_shared<State>(letterMemory(bytes), peer, bytes,
                                     ranks::operationLog().current(), std::move(gates), world)) {
  // Tells whether anything came.
  std::memset(state_->memory.get(), 0, kLetterHead);
  Traffic::get().begin();
  world.courier().receive(
      peer, {state_->memory.get(), kLetterHead + bytes},
      [letter = state_, begin = trace::messageBegin()](std::exception_ptr failure, std::size_t) {
        trace::recordMessage(letter->peer, false, letter->bytes, begin);
        noteArrival(letter, std::move(failure));
      });
}

const std::byte* IncomingLetter::cells() const noexcept {
  return state_->memory.get() + kLetterHead;
}

void IncomingLetter::wait() const {
  // Long enough for most computations, short enough for people.
  constexpr std::chrono::milliseconds kPatience(200);
  const trace::HostScope scope("wait");
  std::unique_lock lock(state_->mutex);
  const auto isThere = [&] { return state_->isThere; };
  while (!state_->arrived.wait_for(lock, kPatience, isThere)) {
    state_->world.courier().ask(state_->peer, [letter = state_](const std::exception_ptr& failure,
                                                                const std::string& answer) {
      if (failure == nullptr) judge(letter, answer);
    });
  }
  if (state_->failure == nullptr) return;
  lock.unlock();
  checkRanks();
  std::rethrow_exception(state_->failure);
}

namespace {

struct Kept {
  cl::Event user;
  LetterMemory memory;
};

std::vector<Kept>& keptLetters() {
  static auto* kept = new std::vector<Kept>;
  return *kept;
}

bool hasEnded(const Kept& kept) {
  cl_int status = CL_QUEUED;
  const cl_int code = clGetEventInfo(kept.user(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                     &status, nullptr);
  return code == CL_SUCCESS && status <= CL_COMPLETE;
}

}  // namespace

void IncomingLetter::keepFor(const cl::Event& written) const {
  // To ask costs about as much as to wait.
  constexpr std::size_t kMany = 16;
  std::vector<Kept>& kept = keptLetters();
  if (kept.size() >= kMany) std::erase_if(kept, hasEnded);
  kept.push_back({written, state_->memory});
}

void dropKeptLetters() { keptLetters().clear(); }

}  // namespace hpl::memory::detail
