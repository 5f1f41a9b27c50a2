// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include "hpl/coherence/parcels.h"
#include "hpl/error.h"
#include "hpl/memory/detail/journey.h"
#include "hpl/memory/detail/session.h"
#include "hpl/memory/detail/traffic.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/relay.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

using ranks::OperationMark;

// ---- memory ----------------------------------------------------------------------------------

namespace {

// Buffers of a session that failed: MPI may read them as long as the process lives.
void keepForGood(std::vector<cl::Buffer>& buffers) {
  static auto* kept = new std::vector<cl::Buffer>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (cl::Buffer& buffer : buffers) kept->push_back(std::move(buffer));
  buffers.clear();
}

}  // namespace

LetterMemory letterMemory(std::size_t bytes) { return ranks::messageMemory(kLetterHead + bytes); }

void waitForRoom(ranks::World& world, std::size_t bytes) {
  // Limits for each neighbour, in either direction: a few operations where letters are large, and
  // more small ones, which end so fast that to wake the program for each few would cost as much.
  constexpr std::size_t kFewOfEach = 16, kMostOfEach = 64, kBytesOfEach = std::size_t{4} << 20;
  const std::size_t ofEach =
      std::clamp(kBytesOfEach / std::max<std::size_t>(bytes, 1), kFewOfEach, kMostOfEach);
  const int most = static_cast<int>(ofEach) * (world.size() - 1);
  Traffic::get().waitIfAbove(most, most / 2);
  checkRanks();
}

void waitForLetters() noexcept { Traffic::get().waitIfAbove(0, 0); }

// ---- outgoing --------------------------------------------------------------------------------

namespace {

// Both ends of a message have to come to the same path.
ranks::Transport& pathOf(ranks::World& world, int peer, const LetterKind& kind) {
  if (kind.via >= 0) return world.pathTo(kind.via);
  ranks::Transport& path = world.pathTo(peer);
  const bool fits = kind.readers == Readers::OneRank && kind.together <= path.most();
  return fits ? path : world.messagesTo(peer);
}

// Adds what begins at some byte of the cells.
void addElsewhere(std::vector<ranks::Elsewhere>& all, std::vector<ranks::Elsewhere> rows) {
  for (ranks::Elsewhere& row : rows) {
    row.offset += kLetterHead;
    all.push_back(row);
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
}

// The rank that owes something says where it is. One that does something else instead, or did, will
// never do it.
void askWhere(ranks::World& world, int peer, const OperationMark& own) {
  world.courier().ask(peer,
                      [own, peer](const std::exception_ptr& failure, const std::string& answer) {
                        if (failure != nullptr) return;
                        const ranks::Whereabouts other = ranks::whereaboutsOf(answer);
                        if (ranks::operationLog().disagreesWith(other))
                          failDiverged(own, other.mark, peer);
                      });
}

// Long enough for most computations, short enough for people.
constexpr std::chrono::milliseconds kPatience(200);

// Between two looks whether another rank has read earlier messages.
class Looks {
 public:
  Looks(ranks::World& world, int peer) : world_(world), peer_(peer) {}

  void operator()() {
    checkRanks();
    const auto late = Clock::now() - begin_;
    if (late < std::chrono::microseconds(50)) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (Clock::now() - asked_ < kPatience) return;
    asked_ = Clock::now();
    askWhere(world_, peer_, ranks::operationLog().current());
  }

 private:
  using Clock = std::chrono::steady_clock;

  ranks::World& world_;
  int peer_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point asked_ = begin_;
};

}  // namespace

std::size_t bytesTogether(std::size_t letters, std::size_t bytes) noexcept {
  if (letters > kMostLettersTogether) return std::numeric_limits<std::size_t>::max();
  return bytes + letters * (kLetterHead + coherence::kPieceAlignment);
}

bool mayBeInPlace(ranks::World& world, int peer, const LetterKind& kind) {
  return kind.readers == Readers::OneRank && !pathOf(world, peer, kind).hasPlaces();
}

LetterPaper letterTo(ranks::World& world, const std::vector<int>& peers, const LetterKind& kind) {
  ranks::Transport& path = pathOf(world, peers.front(), kind);
  const int other = kind.via >= 0 ? kind.via : peers.front();
  return {&path, path.toSend(kLetterHead + kind.bytes, kind.together, Looks(world, other))};
}

struct OutgoingLetter::State {
  State(ranks::World& owner, std::span<const int> peers, LetterPaper empty)
      : world(owner), paper(std::move(empty)) {
    journeys.reserve(peers.size());
    for (const int peer : peers)
      journeys.push_back(Journey::to(peer, paper.paper.bytes - kLetterHead));
  }

  ranks::World& world;
  LetterPaper paper;
  /// One for each receiver; under the outbox' lock while they wait.
  std::vector<Journey> journeys;
  std::atomic<int> missing{1};  // reads, and the seal
  std::atomic<cl_int> status{CL_COMPLETE};
  /// Buffers of cells in place.
  std::vector<cl::Buffer> buffers = {};
  std::vector<cl::Event> sent = {};
  /// Memory for parts of other ranks, which get it back once the letter has left.
  std::vector<LetterMemory> relayed = {};

  // On the courier's thread.
  void end(const std::exception_ptr& failure) {
    for (const cl::Event& gate : sent) runtime::settle(gate(), CL_COMPLETE);
    if (failure != nullptr) keepForGood(buffers);
    buffers.clear();
    if (failure == nullptr) relayed.clear();
  }
};

namespace {

using Outgoing = std::shared_ptr<OutgoingLetter::State>;

// A letter, and which of its receivers.
struct Copy {
  Outgoing letter;
  std::size_t which;

  Journey& journey() const { return letter->journeys[which]; }
};

void send(const Copy& copy) {
  const Outgoing& letter = copy.letter;
  // Letters for all ranks go by the messages of each.
  ranks::Transport& path = letter->journeys.size() == 1
                               ? *letter->paper.path
                               : letter->world.messagesTo(copy.journey().peer());
  copy.journey().advance(Journey::State::BeingSent);
  path.send(letter->paper.paper, [copy](const std::exception_ptr& failure, std::size_t) {
    copy.journey().advance(Journey::State::Sent);
    copy.letter->end(failure);
    Traffic::get().end();
  });
}

/// The messages to each rank in the order in which they were begun.
class Outbox {
 public:
  static Outbox& get() {
    static auto* outbox = new Outbox;
    return *outbox;
  }

  void enter(const Outgoing& letter) {
    const std::lock_guard lock(mutex_);
    for (std::size_t which = 0; which < letter->journeys.size(); ++which) {
      if (!letter->paper.path->hasPlaces())
        queues_[letter->journeys[which].peer()].push_back({letter, which});
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
    if (letter->paper.path->hasPlaces()) return send({letter, 0});
    const std::lock_guard lock(mutex_);
    for (Journey& journey : letter->journeys) journey.advance(Journey::State::Waiting);
    for (const Journey& journey : letter->journeys) sendReady(journey.peer());
  }

 private:
  void sendReady(int peer) {
    std::deque<Copy>& queue = queues_[peer];
    while (!queue.empty() && queue.front().journey().state() == Journey::State::Waiting) {
      const Copy copy = std::move(queue.front());
      queue.pop_front();
      send(copy);
    }
  }

  std::mutex mutex_;
  std::map<int, std::deque<Copy>> queues_;
};

void noteRead(cl_int status, void* data) {
  const std::unique_ptr<Outgoing> letter(static_cast<Outgoing*>(data));
  if (status < 0) (*letter)->status.store(status);
  Outbox::get().note(*letter);
}

}  // namespace

OutgoingLetter::OutgoingLetter(ranks::World& world, std::span<const int> peers, LetterPaper paper)
    : state_(std::make_shared<State>(world, peers, std::move(paper))) {
  const OperationMark mark = ranks::operationLog().current();
  std::memcpy(state_->paper.paper.memory.get(), &mark, sizeof mark);
  Outbox::get().enter(state_);
}

OutgoingLetter::~OutgoingLetter() { seal(); }

trace::MessageNumber OutgoingLetter::number() const noexcept {
  return state_->journeys.front().number();
}

std::byte* OutgoingLetter::cells() const noexcept {
  return state_->paper.paper.memory.get() + kLetterHead;
}

void OutgoingLetter::waitFor(const cl::Event& read, runtime::DeviceState& device) {
  state_->missing.fetch_add(1);
  runtime::whenEnded(read, device, noteRead, new Outgoing(state_));
}

void OutgoingLetter::takeInPlace(InPlace&& cells, std::vector<cl::Event> sent) {
  addElsewhere(state_->paper.paper.elsewhere, std::move(cells.rows));
  state_->buffers = std::move(cells.buffers);
  state_->sent = std::move(sent);
  for (const auto& [event, device] : cells.after) waitFor(event, *device);
}

void OutgoingLetter::takeFromRank(const RelayedPart& part) {
  ranks::Transport& path = state_->world.pathTo(part.rank);
  const ranks::Transport::Paper paper = path.toReceive(part.bytes, part.together);
  addElsewhere(state_->paper.paper.elsewhere, {{part.offset, {paper.memory.get(), part.bytes}}});
  state_->relayed.push_back(paper.memory);
  state_->missing.fetch_add(1);
  path.receive(paper, [letter = state_](const std::exception_ptr&, std::size_t) {
    Outbox::get().note(letter);
  });
}

void OutgoingLetter::writeMark(std::size_t offset) {
  const OperationMark mark = ranks::operationLog().current();
  std::memcpy(cells() + offset, &mark, sizeof mark);
}

void OutgoingLetter::seal() {
  if (!std::exchange(isSealed_, true)) Outbox::get().note(state_);
}

// ---- incoming --------------------------------------------------------------------------------

struct IncomingLetter::State {
  Journey journey;  // its end under the mutex
  OperationMark expected;
  std::vector<cl::Event> gates;
  ranks::World& world;
  ranks::Transport& path;
  int via = -1;
  ranks::Transport::Paper paper = {};
  std::vector<Delivery> deliveries = {};
  std::vector<cl::Buffer> buffers = {};  // of cells in place
  std::atomic<int> missing{1};           // commands that use them, and the constructor's end
  bool isReady = false;                  // under the inbox' lock
  std::mutex mutex = {};
  std::condition_variable arrived = {};
  std::exception_ptr failure = nullptr;
};

namespace {

using Incoming = std::shared_ptr<IncomingLetter::State>;

// On the courier's thread. The memory has the mark, if anything came.
void noteArrival(const Incoming& letter, std::exception_ptr failure) {
  OperationMark mark;
  if (failure == nullptr || !letter->path.hasPlaces())
    std::memcpy(&mark, letter->paper.memory.get(), sizeof mark);
  if (mark.number != 0 && !mark.matches(letter->expected)) {
    mark.what[sizeof mark.what - 1] = '\0';
    failDiverged(letter->expected, mark, letter->journey.peer());
    if (failure == nullptr)
      failure = std::make_exception_ptr(
          RankDivergenceError("ranks diverged", letter->journey.peer(), ""));
  }
  if (failure == nullptr)
    for (const Delivery& delivery : letter->deliveries)
      delivery.paper.path->send(delivery.paper.paper,
                                [](const std::exception_ptr&, std::size_t) {});
  // Also in failure: PoCL aborts over user events that fail, and the cells are not read any more.
  for (const cl::Event& gate : letter->gates) runtime::settle(gate(), CL_COMPLETE);
  if (failure != nullptr) keepForGood(letter->buffers);
  letter->buffers.clear();
  {
    const std::lock_guard lock(letter->mutex);
    letter->failure = failure;
    letter->journey.advance(Journey::State::Arrived);
    letter->arrived.notify_all();
  }
  Traffic::get().end();
}

void receive(const Incoming& letter) {
  letter->path.receive(letter->paper, [letter](std::exception_ptr failure, std::size_t) {
    noteArrival(letter, std::move(failure));
  });
}

/// Messages from each rank are awaited in the order of its sending them, also where one has to wait
/// until the cells in whose place it arrives are out of use.
class Inbox {
 public:
  static Inbox& get() {
    static auto* inbox = new Inbox;
    return *inbox;
  }

  void enter(const Incoming& letter) {
    const std::lock_guard lock(mutex_);
    queues_[letter->journey.peer()].push_back(letter);
  }

  /// One of the things that a letter waits for has happened.
  void note(const Incoming& letter) {
    if (letter->missing.fetch_sub(1) > 1) return;
    const std::lock_guard lock(mutex_);
    letter->isReady = true;
    std::deque<Incoming>& queue = queues_[letter->journey.peer()];
    for (; !queue.empty() && queue.front()->isReady; queue.pop_front()) receive(queue.front());
  }

 private:
  std::mutex mutex_;
  std::map<int, std::deque<Incoming>> queues_;
};

void noteFree(cl_int status, void* data) {
  const std::unique_ptr<Incoming> letter(static_cast<Incoming*>(data));
  if (status < 0)
    (*letter)->world.courier().fail(
        ranks::operationLog().current().what,
        fmt::format("a command that uses cells of other ranks failed with {} ({})",
                    runtime::errorName(status), status));
  Inbox::get().note(*letter);
}

}  // namespace

IncomingLetter::IncomingLetter(ranks::World& world, int peer, const LetterKind& kind,
                               std::vector<cl::Event> gates, InPlace inPlace,
                               std::vector<Delivery> deliveries)
    : state_(std::make_shared<State>(Journey::from(peer, kind.bytes),
                                     ranks::operationLog().current(), std::move(gates), world,
                                     pathOf(world, peer, kind), kind.via)) {
  Traffic::get().begin();
  state_->paper = state_->path.toReceive(kLetterHead + kind.bytes, kind.together);
  if (state_->path.hasPlaces()) {
    receive(state_);
    return;
  }
  // Tells whether anything came.
  std::memset(state_->paper.memory.get(), 0, kLetterHead);
  addElsewhere(state_->paper.elsewhere, std::move(inPlace.rows));
  for (const Delivery& delivery : deliveries) {
    const ranks::Transport::Paper& part = delivery.paper.paper;
    addElsewhere(state_->paper.elsewhere, {{delivery.offset, {part.memory.get(), part.bytes}}});
  }
  state_->deliveries = std::move(deliveries);
  state_->buffers = std::move(inPlace.buffers);
  state_->missing += static_cast<int>(inPlace.after.size());
  Inbox::get().enter(state_);
  for (const auto& [event, device] : inPlace.after)
    runtime::whenEnded(event, *device, noteFree, new Incoming(state_));
  Inbox::get().note(state_);
}

trace::MessageNumber IncomingLetter::number() const noexcept { return state_->journey.number(); }

const std::byte* IncomingLetter::cells() const noexcept {
  return state_->paper.memory.get() + kLetterHead;
}

void IncomingLetter::wait() const {
  const trace::HostScope scope("wait");
  std::unique_lock lock(state_->mutex);
  const auto isThere = [&] { return state_->journey.state() == Journey::State::Arrived; };
  while (!state_->arrived.wait_for(lock, kPatience, isThere))
    for (const int rank : {state_->journey.peer(), state_->via})
      if (rank >= 0) askWhere(state_->world, rank, state_->expected);
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

namespace {

// The memory goes back with the last of these.
void noteWritten(cl_int, void* data) {
  delete static_cast<LetterMemory*>(data);
  Traffic::get().end();
}

}  // namespace

void IncomingLetter::keepFor(const cl::Event& written, runtime::DeviceState& device) const {
  if (state_->path.hasPlaces()) {
    // Another rank waits for it.
    Traffic::get().begin();
    return runtime::whenEnded(written, device, noteWritten, new LetterMemory(state_->paper.memory));
  }
  // To ask costs about as much as to wait.
  constexpr std::size_t kMany = 16;
  std::vector<Kept>& kept = keptLetters();
  if (kept.size() >= kMany) std::erase_if(kept, hasEnded);
  kept.push_back({written, state_->paper.memory});
}

void dropKeptLetters() { keptLetters().clear(); }

}  // namespace hpl::memory::detail
